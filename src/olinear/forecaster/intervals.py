"""Split-conformal intervals: how wrong the model was on rows it did not learn from."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from torch import nn

from olinear.data.windows import Windows
from olinear.forecaster.calibration import (
    ANCHORS,
    LEAST_DEVIATION,
    MOST_STALE,
    PREDICTED,
    StaleScores,
    fresh_scores,
    lookback_scale,
    stale_scores,
)
from olinear.forecaster.limits import check_level
from olinear.forecaster.quantiles import between, conformal, curve_of, has_quantile, normal, pooled

__all__ = ["LEAST_DEVIATION", "PREDICTED", "Intervals", "bound_columns", "check_level", "lookback_scale"]

EVERY = tuple(range(1, 100))
# What is kept of the distribution of each step and series, by its size; the rest is read from each series' own curve.
KEPT = (EVERY, (10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99), (50, 80, 90, 95), (80, 95))
MOST_BYTES = 4_000_000
PREFIX = "intervals."
INDEPENDENT = 10  # series, at the most, that count as one stretch of rows each


@dataclass(frozen=True)
class Intervals:
    """For levels 1 … 99 %, step and series: the quantile of |actual - forecast| / scale over calibration windows.

    The scale is the lookback's own deviation, so quiet times get narrow intervals and wild ones wide. If windows were
    exchangeable, `forecast ± quantile · scale` would hold a new value with at least the level's probability; time
    series nearly are, so coverage is to be checked by `backtest`. Both sides are alike on purpose: the calibration
    rows may all lean to one side, and the future need not.

    Args:
        quantiles: `q h n`, at `levels`.
        windows: calibrated on.
        levels: per cent; all of them where that is little, a few where there are thousands of series.
        curve: `c n`, the distribution of each series over its steps, for levels between those.
        stale: the same for series without recent values; None for models of earlier versions.
        evidence: values they were calibrated on; None for models of earlier versions.
        shift: `n`, the mean of (actual - forecast) / scale: from a forecast that is a median to one that is a mean.
    """

    quantiles: NDArray[np.floating]
    windows: int
    levels: tuple[int, ...] = EVERY
    curve: NDArray[np.floating] | None = None
    stale: StaleScores | None = None
    evidence: int | None = None
    shift: NDArray[np.float32] | None = None

    @classmethod
    def calibrate(cls, model: nn.Module, windows: Windows, batch_size: int = 128) -> Self:
        """From the windows of rows the model was not trained on."""
        scores = fresh_scores(model, windows, batch_size)
        shift = _mean_of(scores)
        np.abs(scores, out=scores)
        count = (~np.isnan(scores)).sum(0)  # h n
        blocks = max((len(windows) + windows.horizon - 1) // windows.horizon, 1)
        series = int((count > 0).any(0).sum())
        enough = has_quantile(count, EVERY[-1]).all()
        few = None if enough else pooled(scores, EVERY, blocks * min(series, INDEPENDENT))
        wanted = _kept(scores.shape[1] * scores.shape[2])
        levels = sorted({*wanted, *KEPT[1]})
        quantiles = conformal(scores, levels)
        widest = np.fmax(quantiles, 0.0).max((1, 2), keepdims=True)
        quantiles = np.where(count > 0, quantiles, widest)  # no target at all: as wide as the widest of the others
        if few is not None:
            for index, level in enumerate(levels):
                own = has_quantile(count, level) | (count == 0)
                quantiles[index] = np.where(own, quantiles[index], np.maximum(quantiles[index], few[level - 1]))
            quantiles = np.maximum.accumulate(quantiles, axis=0)
        curve = None if wanted == EVERY else curve_of(quantiles, levels).astype(np.float16)
        kept = quantiles[[levels.index(level) for level in wanted]]
        kept = kept.astype(np.float32 if wanted == EVERY else np.float16)
        evidence = (len(windows) + windows.horizon - 1) * series
        return cls(kept, len(windows), wanted, curve, None, evidence, shift)

    def with_stale(self, model: nn.Module, windows: Windows, n_train: int, most: int = MOST_STALE) -> Self:
        """Calibrated for series without recent values too, on at most `most` windows for each age of the last value.

        The first `n_train` rows show how far values lie from their mean, where no more is known of a series.
        """
        fresh = np.stack([self.at(level) for level in ANCHORS])
        training = windows.targets[:n_train].cpu().numpy()
        return replace(self, stale=stale_scores(model, windows, fresh, training, most, 128))

    @property
    def highest(self) -> int:
        """The highest level that the calibration supports: among 12 values, none is beyond 92 per cent."""
        return 99 if self.evidence is None else min(99, 100 * self.evidence // (self.evidence + 1))

    def at(self, level: float) -> NDArray[np.floating]:
        """The quantiles `h n` of a level in per cent."""
        return between(self.quantiles, self.levels, self._curve, float(np.ceil(level)))

    @property
    def _curve(self) -> NDArray[np.floating]:
        return curve_of(self.quantiles, EVERY) if self.curve is None else self.curve

    def half_widths(
        self,
        level: float,
        scale: NDArray[np.floating],
        stale: NDArray[np.int64] | None = None,
        lookback: int = 1,
    ) -> NDArray[np.float64]:
        """Half of each interval, `... h n`, for `scale` and `stale`, the age of the last value, `[..., n]`."""
        check_level(level)
        scale = np.asarray(scale, dtype=np.float64)
        half = self.at(level) * scale[..., None, :]
        if stale is not None and (stale > 0).any():
            place = np.nonzero(stale)  # pairs of a lookback and a series
            found = self._of_stale(level, stale[place], place[-1], lookback)  # p h
            np.moveaxis(half, -2, -1)[place] = found * scale[place][:, None]
        return half

    def _of_stale(
        self, level: float, stale: NDArray[np.int64], series: NDArray[np.intp], lookback: int
    ) -> NDArray[np.floating]:
        if self.stale is None:
            # Models of earlier versions: drawn to the difference of two values of a normal series.
            unknown = np.minimum(stale / lookback, 1.0)
            return np.maximum(self.at(level).T[series], normal(level) * np.sqrt(2 * unknown)[:, None])
        fresh = np.stack([self.at(anchor).T[series] for anchor in ANCHORS])  # q p h
        anchors = self.stale.at(stale, series, fresh)
        curve = self._curve[:, series, None]  # c p 1
        return between(anchors, ANCHORS, curve, float(np.ceil(level)))

    def tensors(self) -> dict[str, NDArray[Any]]:
        """What a model folder holds of it."""
        found: dict[str, NDArray[Any]] = {"quantiles": self.quantiles}
        if self.curve is not None:
            found |= {"levels": np.array(self.levels), "curve": self.curve}
        if self.evidence is not None:
            found["evidence"] = np.array([self.evidence])
        if self.shift is not None:
            found["shift"] = self.shift
        if self.stale is not None:
            ages = np.array(self.stale.ages, dtype=np.int64)
            found |= {"ages": ages, "stale": self.stale.quantiles, "spread": self.stale.spread}
        return {f"{PREFIX}{name}": array for name, array in found.items()}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, NDArray[Any]], windows: int, horizon: int, series: int) -> Self:
        """What `tensors` gave, or those of a folder of an earlier version; a ValueError names what does not fit."""
        given = {name.removeprefix(PREFIX): array for name, array in tensors.items() if name.startswith(PREFIX)}
        levels = tuple(int(level) for level in given["levels"]) if "levels" in given else EVERY
        shapes: dict[str, tuple[int, ...]] = {
            "quantiles": (len(levels), horizon, series),
            "evidence": (1,),
            "shift": (series,),
        }
        shapes["curve"] = (len(KEPT[1]), series)
        ages = tuple(int(age) for age in given.get("ages", ()))
        shapes |= {"stale": (len(ages), len(ANCHORS), min(horizon, 4), series), "spread": (len(ANCHORS), series)}
        for name, shape in shapes.items():
            if name in given and given[name].shape != shape:
                raise ValueError(f"{PREFIX}{name} must have shape {shape}, found {given[name].shape}")
        if levels not in KEPT or ("curve" in given) != (levels != EVERY) or list(ages) != sorted(set(ages)):
            raise ValueError(f"{PREFIX}levels and {PREFIX}ages must rise as they were saved")
        stale = StaleScores(ages, given["stale"], given["spread"]) if "stale" in given else None
        evidence = int(given["evidence"][0]) if "evidence" in given else None
        return cls(given["quantiles"], windows, levels, given.get("curve"), stale, evidence, given.get("shift"))


def _mean_of(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Over windows and steps, `w h n -> n`; 0 without any."""
    present = ~np.isnan(scores)
    total = np.where(present, scores, 0).sum((0, 1), dtype=np.float64)
    return (total / np.maximum(present.sum((0, 1)), 1)).astype(np.float32)


def _kept(cells: int) -> tuple[int, ...]:
    """The levels to keep for so many steps and series: all as 32-bit numbers, or a few as 16-bit ones."""
    if len(EVERY) * cells * 4 <= MOST_BYTES:
        return EVERY
    return next((levels for levels in KEPT[1:] if len(levels) * cells * 2 <= MOST_BYTES), KEPT[-1])


def bound_columns(bounds: Mapping[float, tuple[Any, Any]]) -> dict[str, Any]:
    """The bounds of each level by the suffix of their columns: `-lo-80` and `-hi-80`."""
    columns: dict[str, Any] = {}
    for level, (low, high) in bounds.items():
        columns |= {f"-lo-{level:g}": low, f"-hi-{level:g}": high}
    return columns
