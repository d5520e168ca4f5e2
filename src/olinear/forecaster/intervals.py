"""Split-conformal intervals: how wrong the model was on rows it did not learn from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from olinear.core import Batch, ConfigError
from olinear.core.runtime import on_same_device
from olinear.data.windows import Windows
from olinear.models import answer, windows_at_once

PREDICTED = 1  # windows that `predict` has at a time, where that matters
# A lookback without movement still has a scale: a tenth of the series' training deviation.
LEAST_DEVIATION = 0.1


@dataclass(frozen=True)
class Intervals:
    """For each level 1 … 99 %, step and series: the quantile of |actual - forecast| / scale over calibration windows.

    The scale is the lookback's own deviation, so quiet times get narrow intervals and wild ones wide. If windows were
    exchangeable, `forecast ± quantile · scale` would hold a new value with at least the level's probability; time
    series nearly are, so coverage is to be checked by `backtest`. Both sides are alike on purpose: the calibration
    rows may all lean to one side, and the future need not.
    """

    quantiles: NDArray[np.float32]  # level h n
    windows: int

    @classmethod
    @torch.no_grad()
    def calibrate(cls, model: nn.Module, windows: Windows, batch_size: int = 128) -> Self:
        """From the windows of rows the model was not trained on."""
        batches = on_same_device(model.eval(), windows).batches(windows_at_once(model, batch_size, PREDICTED))
        scores = [_scores(model, batch).cpu() for batch in batches]
        ordered = np.sort(torch.cat(scores).numpy(), axis=0)  # w h n, missing ones (NaN) last
        count = (~np.isnan(ordered)).sum(0)  # h n
        levels = (np.arange(1, 100) / 100)[:, None, None]
        # The ceil((count + 1) · level)-th smallest; where that is beyond the last, the largest seen.
        rank = np.clip(np.ceil((count + 1) * levels - 1e-9).astype(int), 1, np.maximum(count, 1))
        quantiles = np.take_along_axis(ordered, rank - 1, axis=0)
        widest = np.fmax(quantiles, 0.0).max((1, 2), keepdims=True)
        quantiles = np.where(count > 0, quantiles, widest)  # no target at all: as wide as the widest of the others
        return cls(quantiles.astype(np.float32), len(ordered))

    def half_widths(self, level: float, scale: NDArray[np.floating]) -> NDArray[np.float64]:
        """Half of each interval, `... h n`, for `scale [..., n]`; the level in per cent."""
        check_level(level)
        quantile = self.quantiles[int(np.ceil(level)) - 1].astype(np.float64)
        return quantile * np.asarray(scale, dtype=np.float64)[..., None, :]


def _scores(model: nn.Module, batch: Batch) -> Tensor:  # b h n
    """|actual - forecast| / scale."""
    error = batch.targets - answer(model, batch).point
    return error.abs() / lookback_scale(batch.past)[:, None]


def check_level(level: float) -> None:
    """Refuse a level that no interval can have."""
    if not 1 <= level <= 99:
        raise ConfigError(f"a level must lie between 1 and 99 per cent, found {level:g}")


def bound_columns(bounds: Mapping[float, tuple[Any, Any]]) -> dict[str, Any]:
    """The bounds of each level by the suffix of their columns: `-lo-80` and `-hi-80`."""
    columns: dict[str, Any] = {}
    for level, (low, high) in bounds.items():
        columns |= {f"-lo-{level:g}": low, f"-hi-{level:g}": high}
    return columns


def lookback_scale(x: Tensor) -> Tensor:
    """The deviation of each series over its lookback on the standardised scale, `b t n -> b n`, never near 0."""
    return x.std(1, correction=0).clamp(min=LEAST_DEVIATION)
