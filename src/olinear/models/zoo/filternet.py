"""FilterNet: a filter over the spectrum along series, made from that spectrum."""

import torch
from torch import Tensor, nn

from olinear.models.zoo.blocks.layers import Dropout
from olinear.models.zoo.blocks.spectra import as_complex, check_threshold, complex_normal, complex_relu, complex_shrink
from olinear.models.zoo.blocks.window_model import WindowModel
from olinear.nn import RevIN


class FilterNet(WindowModel):
    """A filter made from the spectrum along series mixes them; an MLP without a residual reads each.

    K. Yi, J. Fei, Q. Zhang, H. He, S. Hao, D. Lian, W. Fan: FilterNet: Harnessing Frequency Filters for Time Series
    Forecasting. NeurIPS 2024. This is its TexFilter, whose filter depends on the window.

        E = LayerNorm(W_e RevIN(x) + b_e),     F = drop(LayerNorm(Filter(E)))
        ŷ = RevIN⁻¹(W_h (W₂ LeakyReLU(W₁ F + b₁) + b₂) + b_h)

    The Fourier transform runs along the series, after time has become e features, so the order of the series counts
    and neighbours in it share frequencies.

    With 7 series, 96 → 96: 59,374 parameters, 92,270 with `hidden_dim=256`; the authors' release has 12,416 more, in a
    convolution that nothing uses. Not checked: the setting behind the published ETT results. The authors give none for
    this filter there, and the defaults are those of their Weather runs.

    Args:
        n_series, lookback, horizon: n, t, h.
        embed_dim: e.
        hidden_dim: between W₁ and W₂.
        dropout: of the filtered features.
        threshold: what the filter is shrunk by.
    """

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        embed_dim: int = 128,
        hidden_dim: int = 128,
        dropout: float = 0.0,
        threshold: float = 0.01,
    ):
        super().__init__(n_series, lookback, horizon)
        self.norm = RevIN(n_series)
        self.embed = nn.Sequential(nn.Linear(lookback, embed_dim), nn.LayerNorm(embed_dim))
        self.filter = TextureFilter(embed_dim, threshold=threshold)
        self.filter_norm, self.dropout = nn.LayerNorm(embed_dim), Dropout(dropout)
        self.mlp = nn.Sequential(nn.Linear(embed_dim, hidden_dim), nn.LeakyReLU(), nn.Linear(hidden_dim, embed_dim))
        self.head = nn.Linear(embed_dim, horizon)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        x, stats = self.norm(x)
        embedded = self.embed(x.mT).to(x.dtype)  # b n e: there is no Fourier transform of bfloat16
        filtered = self.dropout(self.filter_norm(self.filter(embedded)))
        y = self.head(self.mlp(filtered))  # b n h
        return self.norm.inverse(y.mT, stats)  # b h n


class TextureFilter(nn.Module):
    """Multiplies a spectrum by a filter that two complex scalings make of it: `... n e -> ... n e`.

        Z = rFFT(x),     G = shrink(w₂ ReLU(w₁ Z + b₁) + b₂),     y = irFFT(Z G)

    Every product is one of numbers; ReLU and shrinkage act on real and imaginary parts alone; the transforms, along n,
    are orthonormal.

    Args:
        embed_dim: e.
        threshold: of the shrinkage.
    """

    def __init__(self, embed_dim: int, *, threshold: float = 0.01):
        super().__init__()
        check_threshold(threshold)
        self.threshold = threshold
        self.first, self.second = ComplexScale(embed_dim), ComplexScale(embed_dim)

    def forward(self, x: Tensor) -> Tensor:  # ... n e
        z = torch.fft.rfft(x, dim=-2, norm="ortho")  # ... n/2+1 e
        gain = complex_shrink(self.second(complex_relu(self.first(z))), self.threshold)
        return torch.fft.irfft(z * gain, n=x.shape[-2], dim=-2, norm="ortho")


class ComplexScale(nn.Module):
    """A complex factor and summand for each feature, w z + b, both from 0.02 N(0, 1): `... e -> ... e`."""

    def __init__(self, dim: int):
        super().__init__()
        self.weight, self.bias = complex_normal(dim), complex_normal(dim)

    def forward(self, z: Tensor) -> Tensor:  # ... e
        return z * as_complex(self.weight) + as_complex(self.bias)
