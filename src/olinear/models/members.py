"""Several models of one kind as one: the mean of their forecasts."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from olinear.core import Batch, Point, Traits
from olinear.models.building import traits_of


class Members(nn.Module):
    """The mean of what its members forecast, `b t n -> b h n`.

    Args:
        members: models of the same shapes, which differ in their weights.
    """

    def __init__(self, members: Sequence[nn.Module]):
        super().__init__()
        self.members = nn.ModuleList(members)

    @property
    def traits(self) -> Traits:
        """A mean of points is a point; else that of its members."""
        return replace(traits_of(self.members[0]), outputs=frozenset({"point"}))

    @property
    def input_transform(self) -> Any:
        """The basis that all of them have, where they have one."""
        return self.members[0].input_transform

    @property
    def output_transform(self) -> Any:
        return self.members[0].output_transform

    def forward(self, given: Any) -> Any:
        """Of what its members take: a tensor `b t n`, or a `Batch`, for which the answer is a `Point`."""
        answers = [member(given) for member in self.members]
        if isinstance(given, Batch):
            return Point(_mean([answer.point for answer in answers]))
        return _mean(answers)

    def compact(self) -> "Members":
        """Each in its form for inference."""
        return Members([member.compact() for member in self.members])  # type: ignore[operator]


def _mean(points: Sequence[Tensor]) -> Tensor:
    return torch.stack([point.float() if point.dtype == torch.bfloat16 else point for point in points]).mean(0)
