"""Windows of several datasets as one source: of single series, as many from each."""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from olinear.core import Batch, DataError
from olinear.data.windows.windows import Windows


@dataclass(frozen=True)
class _Part:
    """Where one dataset lies in the row of all values, and its windows."""

    first: int
    rows: int
    n_series: int
    starts: range

    def __len__(self) -> int:
        return len(self.starts) * self.n_series


class Mixture:
    """Windows of single series, `b t 1`, as many of each dataset: one with fewer of them gives them more often.

    Numbers go round the datasets, so that any stretch of them is balanced too. What a dataset's windows lack (NaN in
    their targets) is unknown in past and future alike.

    Args:
        parts: the windows of each dataset, with one lookback and horizon.
        each: how many of each, spread evenly; as many as the largest has, if left out.
    """

    def __init__(self, parts: Sequence[Windows], each: int | None = None):
        sizes = {(part.lookback, part.horizon) for part in parts}
        if len(sizes) != 1:
            raise DataError(f"a mixture needs datasets with one lookback and horizon, found {sorted(sizes) or 'none'}")
        self.lookback, self.horizon = sizes.pop()
        self.parts: list[_Part] = []
        columns, first = [], 0
        for part in parts:
            self.parts.append(_Part(first, len(part.targets), part.n_series, part.starts))
            columns.append(part.targets.mT.flatten())
            first += part.targets.numel()
        self.values = torch.cat(columns)
        self.each = max(map(len, self.parts)) if each is None else each

    def __len__(self) -> int:
        return self.each * len(self.parts)

    def to(self, device: torch.device) -> Self:
        """The same windows on another device."""
        moved = object.__new__(type(self))
        moved.__dict__ = self.__dict__ | {"values": self.values.to(device)}
        return moved

    def checksum(self, before: int = 0) -> int:
        """A number that changes with the values and with the windows, going on from that of other windows."""
        before = zlib.crc32(self.values.cpu().numpy().tobytes(), before)
        return zlib.crc32(repr((self.parts, self.lookback, self.horizon, self.each)).encode(), before)

    def is_finite(self) -> bool:
        """Whether every value is a finite number or missing."""
        return not bool(self.values.isinf().any())

    def places(self, order: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Of the windows numbered in `order`: the dataset, the series in it, and the first row."""
        part, number = order % len(self.parts), order // len(self.parts)
        sizes, series, steps, starts = self._table()
        window = number * sizes[part] // self.each
        return part, window % series[part], starts[part] + window // series[part] * steps[part]

    def batches(self, size: int, order: Tensor | None = None) -> Iterator[Batch]:
        """The windows numbered in `order`, or all, `size` at a time; the last batch may be smaller."""
        order = torch.arange(len(self)) if order is None else order
        return map(self._cut, order.split(size) if len(order) else ())

    def _cut(self, order: Tensor) -> Batch:
        part, series, start = self.places(order)
        firsts, rows = (torch.tensor([getattr(each, name) for each in self.parts]) for name in ("first", "rows"))
        at = (firsts[part] + series * rows[part] + start).to(self.values.device)
        length = self.lookback + self.horizon
        both = self.values.unfold(0, length, 1).index_select(0, at)[..., None]  # b t+h 1
        past, future = both.split((self.lookback, self.horizon), 1)
        return Batch(past, future)

    def _table(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Of each dataset: windows, series, step and first of the starts."""
        rows = [(len(each), each.n_series, each.starts.step, each.starts.start) for each in self.parts]
        sizes, series, steps, starts = torch.tensor(rows).unbind(1)
        return sizes, series, steps, starts
