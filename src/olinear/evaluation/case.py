"""What a metric sees: one batch with its forecast, the rows before it, and which intervals are asked for."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from olinear.core import Batch, ConfigError, DataError, Output

DECILES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
LEAST_VARIATION = 1e-5  # a target that moves less within its window has no scale of its own
NEGLIGIBLE = 1e-9  # of a series' mean size: what moves less is constant but for rounding


class Ratio(NamedTuple):
    """Two sums in the making: a score is sum(above) / sum(below), over everything but the series, the last axis."""

    above: Tensor  # ... n
    below: Tensor  # ... n, numbers or what counts (True) and what is left out (False)


@dataclass(frozen=True)
class SeasonalScale:
    """How far each series moves from one season to the next, in the rows before the forecast.

        absolute = mean |y_t - y_(t-m)|          squared = mean (y_t - y_(t-m))²

    Pairs with a missing value are left out. NaN for a series that is constant but for rounding, or has no such pair.
    """

    absolute: Tensor  # ... n
    squared: Tensor  # ... n

    @classmethod
    def of(cls, rows: ArrayLike | Tensor, season: int = 1) -> Self:
        """From rows `... t n`, such as the training rows or the lookbacks of a batch; `season` is m."""
        if season < 1:
            raise ConfigError(f"season must be at least 1, found {season}")
        values = rows if isinstance(rows, Tensor) else torch.tensor(np.asarray(rows, dtype=np.float64))
        if values.ndim < 2:
            raise DataError(f"rows must have shape (rows, series), found {tuple(values.shape)}")
        pairs = max(values.shape[-2] - season, 0)
        moves = values[..., season:, :] - values[..., :pairs, :]
        absolute = moves.abs().nanmean(-2)
        moving = absolute > NEGLIGIBLE * values.abs().nanmean(-2)
        squared = moves.square().nanmean(-2)
        return cls(*(torch.where(moving, part, torch.nan) for part in (absolute, squared)))


@dataclass(frozen=True)
class Context:
    """What scores depend on besides forecasts and targets.

    Args:
        levels: per cent of the intervals whose coverage and width are wanted.
        quantiles: levels between 0 and 1 of the quantiles that are scored.
        season: m, the steps between the values that the past is scaled by.
        scale: of each series, from the training rows or all rows before the first forecast; if left out, each window is
            scaled by its own lookback.
    """

    levels: tuple[float, ...] = ()
    quantiles: tuple[float, ...] = DECILES
    season: int = 1
    scale: SeasonalScale | None = None


@dataclass(frozen=True)
class Case:
    """One batch, its forecast and the context, with what several metrics need, computed once."""

    output: Output
    batch: Batch
    context: Context = Context()

    @cached_property
    def forecast(self) -> Tensor:  # b h n
        return self.output.point

    @property
    def target(self) -> Tensor:  # b h n
        return self.batch.targets

    @cached_property
    def error(self) -> Tensor:  # b h n
        return self.forecast - self.target

    @cached_property
    def present(self) -> Tensor:  # b h n
        """Where there is a target."""
        return ~self.target.isnan()

    @cached_property
    def moves(self) -> Tensor:  # b h n
        """The targets minus their mean over the horizon."""
        return self.target - self.target.mean(1, keepdim=True)

    @cached_property
    def scale(self) -> SeasonalScale:
        """Of each series or, from the lookbacks, of each window and series, with one place for the horizon."""
        given = self.context.scale
        found = SeasonalScale.of(self.batch.past, self.context.season) if given is None else given
        return SeasonalScale(*(part.to(self.error).unsqueeze(-2) for part in (found.absolute, found.squared)))

    @cached_property
    def pinball(self) -> Tensor:  # b h n
        """Twice the mean over the quantile levels τ of max(τ (y - q_τ), (τ - 1) (y - q_τ))."""
        total = torch.zeros_like(self.target)
        for level, quantile in zip(self.context.quantiles, self.output.quantile(self.context.quantiles), strict=True):
            short = self.target - quantile
            total += torch.maximum(level * short, (level - 1) * short)
        return total * (2 / len(self.context.quantiles))

    def interval(self, level: float) -> tuple[Tensor, Tensor]:  # b h n each
        """The bounds of the central interval of a level in per cent."""
        low, high = self.output.quantile(tails(level))
        return low, high

    def mean(self, values: Tensor, counts: Tensor | None = None) -> Ratio:
        """The mean of values `... n` where they count: where there is a target, unless said otherwise."""
        counted = self.present if counts is None else counts
        return Ratio(torch.where(counted, values, 0.0), counted)

    def mean_ratio(self, above: Tensor, below: Tensor) -> Ratio:
        """The mean of ratios `b n`, where the lower part is large enough (a missing one is not)."""
        return self.mean(above / below, below >= LEAST_VARIATION)


def tails(level: float) -> tuple[float, float]:
    """The quantile levels that bound the central interval of a level in per cent."""
    if not 0 < level < 100:
        raise ConfigError(f"the level of an interval lies between 0 and 100 per cent, found {level:g}")
    return (100 - level) / 200, (100 + level) / 200
