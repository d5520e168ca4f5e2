"""Norms beside RevIN and LayerNorm."""

from typing import Literal

from torch import Tensor, nn

from olinear.core import DataError
from olinear.nn import RevIN, WindowStats


class UnbiasedNorm(RevIN):
    """RevIN with the unbiased variance s², which divides by one less than the number of values.

        z = (x - mean) / √(s² + ε),     or  (x - mean) / (s + ε)

    Args:
        n_series, affine, eps: as in RevIN.
        eps_on: what ε is added to, the `variance` or the `deviation`.
    """

    def __init__(
        self,
        n_series: int,
        *,
        affine: bool = True,
        eps: float = 1e-5,
        eps_on: Literal["variance", "deviation"] = "variance",
    ):
        super().__init__(n_series, affine=affine, eps=eps)
        self.eps_on = eps_on

    def standardise(self, x: Tensor) -> tuple[Tensor, WindowStats]:  # b t n
        z, (mean, biased) = super().standardise(x)
        count = x.isnan().logical_not().sum(1, keepdim=True)
        variance = (z * biased).detach().square().sum(1, keepdim=True) / (count - 1).clamp(min=1)
        deviation = (variance + self.eps).sqrt() if self.eps_on == "variance" else variance.sqrt() + self.eps
        return z * (biased / deviation), WindowStats(mean, deviation)


class TokenBatchNorm(nn.BatchNorm1d):
    """BatchNorm of the last axis over all others, LayerNorm's opponent: `... m -> ... m`."""

    def forward(self, x: Tensor) -> Tensor:  # ... m
        tokens = x.reshape(-1, x.shape[-1])
        if self.training and len(tokens) < 2:
            raise DataError("BatchNorm cannot train on a single token: pass more windows a batch, or norm='layer'")
        return super().forward(tokens).view_as(x)
