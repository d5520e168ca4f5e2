"""DLinear: season and trend apart."""

from typing import Literal

from torch import Tensor, nn

from olinear.core import ConfigError
from olinear.models.zoo.blocks.averages import decompose
from olinear.models.zoo.blocks.layers import time_linear
from olinear.models.zoo.blocks.window_model import WindowModel


class DLinear(WindowModel):
    """A moving average splits season and trend; one linear layer along time forecasts each.

    A. Zeng, M. Chen, L. Zhang, Q. Xu: Are Transformers Effective for Time Series Forecasting? AAAI 2023.

        T = MA(x),     ŷ = W_s (x - T) + b_s + W_t T + b_t

    Nothing is normalised, dropped or bent. Nothing was simplified. Not checked: with which of the two starts, and with
    which learning rate, the published results were made; the paper's authors' own code starts as PyTorch does,
    Time-Series-Library with 1/t.

    Args:
        n_series, lookback, horizon: n, t, h.
        window: of the moving average, whose ends repeat the first and last value.
        individual: two layers for each series instead of two for all.
        init: of both weights: `uniform`, PyTorch's U(±1/√t), or `mean`, all 1/t. Biases are uniform.
    """

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        window: int = 25,
        individual: bool = False,
        init: Literal["uniform", "mean"] = "uniform",
    ):
        super().__init__(n_series, lookback, horizon)
        if window < 1:
            raise ConfigError(f"window must be at least 1, found {window}")
        if init not in ("uniform", "mean"):
            raise ConfigError(f"init must be 'uniform' or 'mean', found {init!r}")
        self.window, self.permutes_series = window, not individual
        self.season = time_linear(n_series, lookback, horizon, individual=individual)
        self.trend = time_linear(n_series, lookback, horizon, individual=individual)
        if init == "mean":
            for layer in (self.season, self.trend):
                nn.init.constant_(layer.get_parameter("weight"), 1 / lookback)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        season, trend = decompose(x.mT, self.window)  # b n t
        return (self.season(season) + self.trend(trend)).mT  # b h n
