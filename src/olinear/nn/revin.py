"""RevIN: each window is normalised by its own statistics and the forecast put back on its scale."""

from typing import NamedTuple

import torch
from torch import Tensor, nn


class WindowStats(NamedTuple):
    """Mean and deviation of each series over its lookback, `b 1 n`."""

    mean: Tensor
    deviation: Tensor


class RevIN(nn.Module):
    """Reversible instance normalisation (Section 4.1).

        z = w (x - mean(x)) / √(var(x) + ε) + b,      x̂ = (ŷ - b) / (w + ε²) · √(var(x) + ε) + mean(x)

    The module keeps no statistics between calls: `z, stats = revin(x)`, then `revin.inverse(y, stats)`. The
    statistics are constants to the gradient. A missing value (NaN) is left out of them and becomes the mean;
    a lookback without any value has mean 0 and variance 0.

    Args:
        n_series: n.
        affine: learn the weight w and bias b of each series; otherwise 1 and 0.
        eps: ε.
    """

    def __init__(self, n_series: int, *, affine: bool = True, eps: float = 1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(n_series)) if affine else None
        self.bias = nn.Parameter(torch.zeros(n_series)) if affine else None

    def forward(self, x: Tensor) -> tuple[Tensor, WindowStats]:  # b t n
        z, stats = self.standardise(x)
        if self.weight is not None and self.bias is not None:
            z = z * self.weight + self.bias
        return z, stats

    def inverse(self, y: Tensor, stats: WindowStats) -> Tensor:  # b h n
        scale, shift = stats.deviation, stats.mean  # b 1 n: both affine steps are one, on the smaller tensors
        if self.weight is not None and self.bias is not None:
            scale = scale / (self.weight + self.eps**2)
            shift = shift - self.bias * scale
        return torch.addcmul(shift, y, scale)

    def standardise(self, x: Tensor) -> tuple[Tensor, WindowStats]:  # b t n
        """The window without its mean and (biased) deviation over the values present, and these."""
        known = x.detach()
        if known.device.type == "cpu" and not torch.compiler.is_compiling():
            mean = known.mean(1, keepdim=True)
            if mean.isfinite().all():  # nothing is missing: the same to the last bit, in half the passes
                centred = x - mean
                deviation = (centred.detach().square().mean(1, keepdim=True) + self.eps).sqrt()
                return centred / deviation, WindowStats(mean, deviation)
        count = known.isnan().logical_not_().sum(1, keepdim=True).clamp_(min=1)
        mean = known.nansum(1, keepdim=True) / count
        centred = (x - mean).nan_to_num(0.0)
        deviation = (centred.detach().square().sum(1, keepdim=True) / count + self.eps).sqrt()
        return centred / deviation, WindowStats(mean, deviation)
