"""Split-conformal intervals: how wrong the model was on rows it did not learn from."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from olinear.errors import ConfigError
from olinear.windows import Windows

# A lookback without movement still has a scale: a tenth of the series' training deviation.
LEAST_DEVIATION = 0.1


@dataclass(frozen=True)
class Intervals:
    """For each level 1 … 99 %, step and series: the quantile of |residual| / scale over the calibration windows.

    The scale is the lookback's own deviation, so quiet times get narrow intervals and wild ones wide. By exchange-
    ability of windows, `forecast ± quantile · scale` holds a new value with at least the level's probability; time
    series are only nearly exchangeable, so coverage is to be checked by `backtest`.
    """

    quantiles: NDArray[np.float32]  # 99 h n
    windows: int

    @classmethod
    @torch.no_grad()
    def calibrate(cls, model: nn.Module, windows: Windows, batch_size: int = 128) -> Self:
        """From the windows of rows the model was not trained on."""
        model.eval()
        scores = []
        for x, y in windows.batches(batch_size):
            scores.append(((model(x) - y).abs() / lookback_scale(x)[:, None]).cpu())
        scaled = torch.cat(scores).numpy()  # w h n
        present = ~np.isnan(scaled)
        ordered = np.sort(np.where(present, scaled, np.inf), axis=0)
        count = present.sum(0)  # h n
        levels = np.arange(1, 100) / 100
        # The ceil((count + 1) · level)-th smallest; beyond the last, the largest seen.
        rank = np.ceil((count[None] + 1) * levels[:, None, None]).astype(int)
        rank = np.clip(rank, 1, np.maximum(count, 1)[None]) - 1
        quantiles = np.take_along_axis(ordered, rank, axis=0)
        worst = np.where(np.isfinite(quantiles), quantiles, -np.inf).max()
        quantiles = np.where(np.isfinite(quantiles), quantiles, max(worst, 0.0))  # a series without any target
        return cls(quantiles.astype(np.float32), len(scaled))

    def half_widths(self, level: float, scale: NDArray[np.floating]) -> NDArray[np.float64]:
        """Half the interval for `scale [n]` at a level in per cent: `h n`."""
        if not 1 <= level <= 99:
            raise ConfigError(f"a level must lie between 1 and 99 per cent, found {level:g}")
        quantile = self.quantiles[int(np.ceil(level)) - 1].astype(np.float64)
        return quantile * np.asarray(scale, dtype=np.float64)


def lookback_scale(x: Tensor) -> Tensor:
    """The deviation of each series over its lookback on the standardised scale, `b t n -> b n`, never near 0."""
    return x.std(1, correction=0).clamp(min=LEAST_DEVIATION)
