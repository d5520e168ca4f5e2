"""FITS: the lookback's low frequencies, stretched to those of lookback and horizon."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core import ConfigError
from olinear.models.zoo.blocks.norms import UnbiasedNorm
from olinear.models.zoo.blocks.spectra import as_complex
from olinear.models.zoo.blocks.window_model import WindowModel


class FITS(WindowModel):
    """One complex linear layer from the lookback's low frequencies to those of lookback and horizon together.

    Z. Xu, A. Zeng, Q. Xu: FITS: Modeling Time Series with 10k Parameters. ICLR 2024.

        X = first c values of rFFT(IN(x)),     [x̂, ŷ] = IN⁻¹((t + h) / t · irFFT([W X + b, 0, …, 0]))

    IN divides by the unbiased deviation. W maps c frequencies to ⌊c (t + h) / t⌋, as many as fill the same band of the
    longer window, and the factor makes up for the inverse transform's division by t + h instead of t. The forecast is
    the last h steps, so a loss sees only them, which is the authors' best setting on ETTh1; `extend` gives all t + h
    steps for a loss that also asks for the lookback back.

    With 7 series, 96 → 96: 3,280 complex parameters, stored as 6,560 real ones. Simplified: where c (t + h) / t exceeds
    the frequencies of the longer window (c is all of the lookback's), W stops at the last. Not checked: which c made
    the published results with a lookback of 96; the authors publish none, and the default is what their rule gives, 40
    of 49.

    Args:
        n_series, lookback, horizon: n, t, h.
        cut: c; unless given, (⌊t / period⌋ + 1) · order + 10, or all ⌊t/2⌋ + 1 frequencies if these are fewer.
        order: harmonics of the period that are kept.
        period: in steps, 24 for a day of hours.
    """

    permutes_series = True

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        cut: int | None = None,
        order: int = 6,
        period: int = 24,
    ):
        super().__init__(n_series, lookback, horizon)
        self.length = lookback + horizon
        self.cut = _low_frequencies(lookback, order, period) if cut is None else cut
        if not 1 <= self.cut <= lookback // 2 + 1:
            raise ConfigError(
                f"cut must lie between 1 and the {lookback // 2 + 1} frequencies of a lookback of {lookback}, "
                f"found {self.cut}"
            )
        self.norm = UnbiasedNorm(n_series, affine=False)
        self.stretch = ComplexLinear(self.cut, min(self.cut * self.length // lookback, self.length // 2 + 1))

    def forward(self, x: Tensor) -> Tensor:  # b t n
        return self.extend(x)[:, -self.horizon :]  # b h n

    def extend(self, x: Tensor) -> Tensor:  # b t n
        """The lookback as the model sees it, and the forecast after it: `b t+h n`."""
        lookback = x.shape[1]
        x, stats = self.norm(x)
        low = torch.fft.rfft(x.mT)[..., : self.cut]  # b n c
        spectrum = self.stretch(low)  # b n c(t+h)/t
        y = torch.fft.irfft(spectrum, n=self.length) * (self.length / lookback)  # b n t+h: zeros for the higher ones
        return self.norm.inverse(y.mT, stats)


class ComplexLinear(nn.Module):
    """A linear layer for complex numbers: `... i -> ... o`.

        y = W z + b

    Starts as `nn.Linear` does, in the real parts: weights and biases from U(±1/√i). The imaginary parts start at 0.

    Args:
        in_dim, out_dim: i and o.
    """

    def __init__(self, in_dim: int, out_dim: int):
        super().__init__()
        bound = in_dim**-0.5
        self.weight, self.bias = nn.Parameter(torch.zeros(out_dim, in_dim, 2)), nn.Parameter(torch.zeros(out_dim, 2))
        for parameter in (self.weight, self.bias):
            nn.init.uniform_(parameter.data[..., 0], -bound, bound)

    def forward(self, z: Tensor) -> Tensor:  # ... i
        return F.linear(z, as_complex(self.weight), as_complex(self.bias))

    def extra_repr(self) -> str:
        return "{1}, {0}".format(*self.weight.shape)


def _low_frequencies(lookback: int, order: int, period: int) -> int:
    if order < 1 or period < 1:
        raise ConfigError(f"order and period must be at least 1, found {order} and {period}")
    return min((lookback // period + 1) * order + 10, lookback // 2 + 1)
