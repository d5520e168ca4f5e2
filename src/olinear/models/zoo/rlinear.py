"""RLinear: one linear layer between RevIN and its inverse."""

from torch import Tensor

from olinear.models.zoo.blocks.layers import Dropout, time_linear
from olinear.models.zoo.blocks.window_model import WindowModel
from olinear.nn import RevIN


class RLinear(WindowModel):
    """One linear layer along time, between RevIN and its inverse.

    Z. Li, S. Qi, Y. Li, Z. Xu: Revisiting Long-term Time Series Forecasting: An Investigation on Linear Mapping.
    arXiv:2305.10721, 2023.

        ŷ = RevIN⁻¹(W drop(RevIN(x)) + b)

    Nothing was simplified. RevIN is the model here; in the authors' release it is an option, off unless asked for. Not
    checked: the setting of the published results, whose lookback is 96 where the authors' is 336.

    Args:
        n_series, lookback, horizon: n, t, h.
        dropout: falls on the normalised lookback, not on the forecast.
        individual: a layer for each series instead of one for all.
        affine: RevIN's learnt weight and bias, one of each a series.
    """

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        dropout: float = 0.1,
        individual: bool = False,
        affine: bool = True,
    ):
        super().__init__(n_series, lookback, horizon)
        self.permutes_series = not (individual or affine)
        self.norm = RevIN(n_series, affine=affine)
        self.dropout = Dropout(dropout)
        self.linear = time_linear(n_series, lookback, horizon, individual=individual)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        x, stats = self.norm(x)
        y = self.linear(self.dropout(x).mT)  # b n h
        return self.norm.inverse(y.mT, stats)  # b h n
