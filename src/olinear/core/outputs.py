"""What a model answers, whatever its kind: a point, quantiles, or samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from olinear.core.errors import ConfigError


@runtime_checkable
class Output(Protocol):
    """A model's answer, whatever its kind."""

    @property
    def point(self) -> Tensor: ...  # b h n

    def quantile(self, levels: Sequence[float]) -> Tensor: ...  # q b h n


@dataclass(frozen=True)
class Point:
    """One number a step and series; it has no quantiles."""

    point: Tensor  # b h n

    def quantile(self, levels: Sequence[float]) -> Tensor:
        raise ConfigError("a point forecast has no quantiles: calibrate intervals, or use a model that gives quantiles")


@dataclass(frozen=True)
class Quantiles:
    """Quantiles at rising levels between 0 and 1; between two of them the line that joins them."""

    values: Tensor  # q b h n, rising along q
    levels: tuple[float, ...]

    def __post_init__(self) -> None:
        _check_levels(self.levels)
        if list(self.levels) != sorted(set(self.levels)) or len(self.levels) != len(self.values):
            raise ConfigError(f"{len(self.values)} quantiles need as many rising levels, found {self.levels}")

    @property
    def point(self) -> Tensor:  # b h n
        """The median."""
        return self.quantile([0.5])[0]

    def quantile(self, levels: Sequence[float]) -> Tensor:  # q b h n
        """Beyond the outermost levels, which say nothing of what lies there, an error."""
        _check_levels(levels)
        least, most = self.levels[0], self.levels[-1]
        if not all(least <= level <= most for level in levels):
            raise ConfigError(f"quantiles are known from {least:g} to {most:g}, asked for {list(levels)}")
        known = torch.tensor(self.levels, dtype=torch.float64)
        wanted = torch.tensor(list(levels), dtype=torch.float64)
        above = torch.searchsorted(known, wanted).clamp(max=len(known) - 1)
        below = (above - 1).clamp(min=0)
        gap = (known[above] - known[below]).clamp(min=1e-12)
        share = ((wanted - known[below]) / gap).clamp(0, 1).to(self.values)
        low, high = self.values[below], self.values[above]
        return torch.where(share.view(-1, 1, 1, 1) == 1, high, low.lerp(high, share.view(-1, 1, 1, 1)))


@dataclass(frozen=True)
class Samples:
    """Paths drawn from the forecast's distribution."""

    paths: Tensor  # s b h n

    @property
    def point(self) -> Tensor:  # b h n
        """The median path's value at each step."""
        return self.quantile([0.5])[0]

    def quantile(self, levels: Sequence[float]) -> Tensor:  # q b h n
        _check_levels(levels)
        return torch.quantile(self.paths, torch.tensor(list(levels)).to(self.paths), dim=0)


def _check_levels(levels: Sequence[float]) -> None:
    for level in levels:
        if not 0 < level < 1:
            raise ConfigError(f"the level of a quantile lies between 0 and 1, found {level}")
