"""All windows of one array, cut by index: no copy of the data, no Python call for each window."""

from collections.abc import Iterator
from typing import Self

import torch
from numpy.typing import ArrayLike
from torch import Tensor

from olinear.errors import DataError


class Windows:
    """The (lookback, horizon) windows of `values` that begin at the rows `starts`.

    Args:
        values: `[rows, series]`, kept as one contiguous float tensor and shared, not copied, where it is one.
        lookback, horizon: t and h.
        starts: first rows of the windows; all there are, by default.
    """

    def __init__(self, values: ArrayLike | Tensor, lookback: int, horizon: int, starts: range | None = None):
        tensor = torch.as_tensor(values)
        if not tensor.is_floating_point():
            tensor = tensor.to(torch.get_default_dtype())
        if tensor.ndim != 2:
            raise DataError(f"values must have shape (rows, series), found {tuple(tensor.shape)}")
        if min(lookback, horizon) < 1:
            raise DataError(f"lookback and horizon must be at least 1, found {lookback} and {horizon}")
        rows = len(tensor)
        starts = range(rows - lookback - horizon + 1) if starts is None else starts
        if not starts or starts[0] < 0 or starts[-1] + lookback + horizon > rows:
            raise DataError(
                f"lookback {lookback} and horizon {horizon} need {lookback + horizon} rows, found {rows}: pass more "
                "rows, or a shorter lookback or horizon"
            )
        self.values = tensor.contiguous()
        self.lookback, self.horizon, self.starts = lookback, horizon, starts
        self._offsets = torch.arange(lookback + horizon, device=tensor.device)

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def n_series(self) -> int:
        return self.values.shape[1]

    def to(self, device: torch.device) -> Self:
        """The same windows of the same rows on another device."""
        return type(self)(self.values.to(device), self.lookback, self.horizon, self.starts)

    def batch(self, index: Tensor) -> tuple[Tensor, Tensor]:
        """Windows number `index [b]` as `(b t n, b h n)`."""
        first = self.starts.start + index.to(self.values.device) * self.starts.step
        rows = (first[:, None] + self._offsets).flatten()
        both = self.values.index_select(0, rows).view(len(index), -1, self.n_series)  # b t+h n
        return both[:, : self.lookback], both[:, self.lookback :]

    def batches(self, size: int, order: Tensor | None = None) -> Iterator[tuple[Tensor, Tensor]]:
        """Every window once, `size` at a time, in `order` or in time; the last batch may be smaller."""
        order = torch.arange(len(self)) if order is None else order
        for index in order.split(size):
            yield self.batch(index)
