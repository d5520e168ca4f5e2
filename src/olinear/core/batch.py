"""What a model is given.

    windows, a mask or a mixture of datasets  ->  Batch  ->  model  ->  Output  ->  loss, metrics, frames

`olinear.models.answer` is the one place where a model meets a batch.
"""

from dataclasses import dataclass, fields, replace
from typing import Self

import torch
from torch import Tensor

from olinear.core.errors import DataError


@dataclass(frozen=True)
class Batch:
    """Some windows, everything on one device; NaN where a value is unknown."""

    past: Tensor  # b t n
    future: Tensor | None = None  # b h n, the targets
    past_covariates: Tensor | None = None  # b t p
    known_covariates: Tensor | None = None  # b t+h k
    static: Tensor | None = None  # n s

    def __len__(self) -> int:
        return len(self.past)

    @property
    def targets(self) -> Tensor:
        """The future, where there is one."""
        if self.future is None:
            raise DataError("this batch has no targets: cut it from rows that reach over the horizon")
        return self.future

    @property
    def pair(self) -> tuple[Tensor, Tensor]:
        """The past `b t n` and the targets `b h n`."""
        return self.past, self.targets

    def to(self, device: torch.device) -> Self:
        """The same windows on another device."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{name: part.to(device) for name, part in given.items() if part is not None})
