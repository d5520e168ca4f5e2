"""Where a training loop takes its batches from."""

from collections.abc import Iterator
from typing import Protocol, Self

import torch
from torch import Tensor

from olinear.core import Batch


class Source(Protocol):
    """Numbered windows; `olinear.data.windows.Windows` is one, a mixture of datasets another."""

    def __len__(self) -> int: ...

    def batches(self, size: int, order: Tensor | None = None) -> Iterator[Batch]:
        """The windows numbered in `order`, or all in time, `size` at a time; the last batch may be smaller."""
        ...

    def to(self, device: torch.device) -> Self:
        """The same windows on another device."""
        ...

    def checksum(self, before: int = 0) -> int:
        """A number that shows whether a resumed run reads the data it was begun with; it goes on from another."""
        ...

    def is_finite(self) -> bool:
        """Whether every value that a model may see is a finite number, and every target finite or missing."""
        ...
