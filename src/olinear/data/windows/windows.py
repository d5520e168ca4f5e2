"""All windows of one array, cut by index: no copy of the data, no Python call for each window."""

import zlib
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from olinear.core import Batch, DataError


class Windows:
    """The (lookback, horizon) windows of `values` that begin at the rows `starts`.

    Args:
        values: `[rows, series]`, kept as one contiguous float tensor and shared, not copied, where it is one.
        lookback, horizon: t and h.
        starts: first rows of the windows; all there are, by default.
        targets: what the horizon is cut from, `values` by default; NaN where a value is missing and must not count.
    """

    def __init__(
        self,
        values: ArrayLike | Tensor,
        lookback: int,
        horizon: int,
        starts: range | None = None,
        targets: ArrayLike | Tensor | None = None,
    ):
        tensor = _as_rows("values", values)
        if min(lookback, horizon) < 1:
            raise DataError(f"lookback and horizon must be at least 1, found {lookback} and {horizon}")
        rows = len(tensor)
        starts = range(rows - lookback - horizon + 1) if starts is None else starts
        if not starts or min(starts) < 0 or max(starts) + lookback + horizon > rows:
            raise DataError(
                f"lookback {lookback} and horizon {horizon} need {lookback + horizon} rows, found {rows}: pass more "
                "rows, or a shorter lookback or horizon"
            )
        self.values = tensor
        self.targets = tensor if targets is None else _as_rows("targets", targets)
        if self.targets.shape != tensor.shape:
            raise DataError(
                f"targets must have the shape of values, {tuple(tensor.shape)}, found {tuple(self.targets.shape)}"
            )
        self.lookback, self.horizon, self.starts = lookback, horizon, starts
        self._pieces = _pieces(tensor, lookback + horizon)

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def n_series(self) -> int:
        return self.values.shape[1]

    @property
    def values_of_one(self) -> int:
        """How many values a lookback has."""
        return self.lookback * self.n_series

    def __reduce__(self) -> tuple[Any, ...]:
        """On the way to another process: the rows once, and not the windows that lie over them."""
        targets = None if self.targets is self.values else self.targets
        return type(self), (self.values, self.lookback, self.horizon, self.starts, targets)

    def to(self, device: torch.device) -> Self:
        """The same windows of the same rows on another device."""
        targets = None if self.targets is self.values else self.targets.to(device)
        return type(self)(self.values.to(device), self.lookback, self.horizon, self.starts, targets)

    def checksum(self, before: int = 0) -> int:
        """A number that changes with the rows and with the windows, going on from that of other windows."""
        for part in (self.values, self.targets):
            before = zlib.crc32(part.cpu().numpy().tobytes(), before)
        return zlib.crc32(repr((self.starts, self.lookback, self.horizon)).encode(), before)

    def is_finite(self) -> bool:
        """Whether every value is a finite number, and every target finite or missing."""
        return bool(self.values.isfinite().all()) and not self.targets.isinf().any()

    def batch(self, index: Tensor) -> Batch:
        """Windows number `index [b]`."""
        return self._cut(self._first_rows(index))

    def batches(self, size: int, order: Tensor | None = None) -> Iterator[Batch]:
        """Every window once, `size` at a time, in `order` or in time; the last batch may be smaller."""
        order = torch.arange(len(self)) if order is None else order
        parts = self._first_rows(order).split(size) if len(order) else ()  # nothing would split into one empty part
        return map(self._cut, parts)

    def _first_rows(self, index: Tensor) -> Tensor:
        return self.starts.start + index.to(self.values.device) * self.starts.step

    def _cut(self, first: Tensor) -> Batch:
        """The windows that begin at the rows `first [b]`."""
        length = self.lookback + self.horizon
        if self.targets is self.values:
            both = self._pieces.index_select(0, first).view(-1, length, self.n_series)  # b t+h n
            x, y = both.split((self.lookback, self.horizon), 1)
            return Batch(x, y)
        x = _pieces(self.values, self.lookback).index_select(0, first)  # b t·n
        y = _pieces(self.targets, self.horizon).index_select(0, first + self.lookback)  # b h·n
        return Batch(x.view(-1, self.lookback, self.n_series), y.view(-1, self.horizon, self.n_series))


def _as_rows(name: str, values: ArrayLike | Tensor) -> Tensor:
    if not isinstance(values, Tensor):
        values = np.require(values, requirements="W")  # torch warns of arrays it may not write to
    tensor = torch.as_tensor(values)
    if tensor.ndim != 2:
        raise DataError(f"{name} must have shape (rows, series), found {tuple(tensor.shape)}")
    return tensor.contiguous() if tensor.is_floating_point() else tensor.to(torch.get_default_dtype())


def _pieces(values: Tensor, length: int) -> Tensor:
    """Every `length` rows that follow each other, side by side as they lie in memory: a matrix whose rows overlap.

    Windows are then gathered piece by piece instead of row by row.
    """
    rows, n = values.shape
    return values.as_strided((rows - length + 1, length * n), (n, 1))
