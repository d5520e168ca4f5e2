"""FreTS: an MLP on the spectrum of each series."""

from functools import partial
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core import ConfigError
from olinear.models.zoo.blocks.spectra import as_complex, check_threshold, complex_normal, complex_relu
from olinear.models.zoo.blocks.window_model import WindowModel

Weights = Literal["diagonal", "full"]


class FreTS(WindowModel):
    """Each value becomes a vector, a one-layer MLP works on its spectrum along time, two layers read all steps.

    K. Yi, Q. Zhang, W. Fan, S. Wang, P. Wang, H. He, N. An, D. Lian, L. Cao, Z. Niu: Frequency-domain MLPs are More
    Effective Learners in Time Series Forecasting. NeurIPS 2023.

        X = x φᵀ,     Y = X + irFFT(MLP(rFFT(X))),     ŷ = W₂ LeakyReLU(W₁ vec(Y) + b₁) + b₂

    The window is not normalised. Along series there is an MLP too, before that along time, if asked for: in the
    authors' release its switch never turned it on, though its parameters were built and counted.

    In that release the MLP's two e × e matrices act through their diagonals alone, so that each feature has a gain of
    its own and features never meet; the paper's text has the whole matrices. Both forms hold e² numbers, of which the
    diagonal one uses e: the parameters, and how they start, are the same.

    With 7 series, 96 → 96: 3,203,808 parameters; 3,236,832 with `mix_series=True`, which is what the release counts;
    419,248 with that and `embed_dim=16`, printed as 0.42 M in the paper's table of costs. Nothing was simplified. Not
    checked: settings other than the authors' defaults, which are those here.

    Args:
        n_series, lookback, horizon: n, t, h.
        embed_dim: e, the length of φ.
        hidden_dim: of the two layers at the end.
        weights: of the MLP: `diagonal` (the release) or `full` (the paper's text).
        mix_series: the MLP along series, whose order then counts.
        threshold: what the MLP's results are shrunk by.
    """

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        embed_dim: int = 128,
        hidden_dim: int = 256,
        weights: Weights = "diagonal",
        mix_series: bool = False,
        threshold: float = 0.01,
    ):
        super().__init__(n_series, lookback, horizon)
        self.permutes_series = not mix_series
        self.embedding = nn.Parameter(torch.randn(embed_dim))
        mlp = partial(FrequencyMLP, embed_dim, weights=weights, threshold=threshold)
        self.series_mlp = mlp() if mix_series else nn.Identity()
        self.time_mlp = mlp()
        self.head = nn.Sequential(
            nn.Linear(lookback * embed_dim, hidden_dim), nn.LeakyReLU(), nn.Linear(hidden_dim, horizon)
        )

    def forward(self, x: Tensor) -> Tensor:  # b t n
        if isinstance(self.series_mlp, FrequencyMLP):
            mixed = self.series_mlp.of_outer(x, self.embedding)  # b t n e: along n
            changes = self.time_mlp(mixed.transpose(1, 2))  # b n t e: along t
        else:
            changes = self.time_mlp.of_outer(x.mT, self.embedding)  # b n t e
        features = x.mT[..., None] * self.embedding + changes
        return self.head(features.flatten(2)).mT  # b h n


class FrequencyMLP(nn.Module):
    """One complex layer between a Fourier transform along the last axis but one and its inverse: `... k e -> ... k e`.

        y = irFFT(shrink(ReLU(W rFFT(x) + b)))

    The transforms are orthonormal; ReLU and shrinkage act on real and imaginary parts alone. Starts from 0.02 N(0, 1).

    Args:
        embed_dim: e.
        weights: `full` W, or only its `diagonal`.
        threshold: of the shrinkage.
    """

    def __init__(self, embed_dim: int, *, weights: Weights = "diagonal", threshold: float = 0.01):
        super().__init__()
        if weights not in ("diagonal", "full"):
            raise ConfigError(f"weights must be 'diagonal' or 'full', found {weights!r}")
        check_threshold(threshold)
        self.diagonal, self.threshold = weights == "diagonal", threshold
        self.weight, self.bias = complex_normal(embed_dim, embed_dim), complex_normal(embed_dim)

    def forward(self, x: Tensor) -> Tensor:  # ... k e
        z, weight = torch.fft.rfft(x, dim=-2, norm="ortho"), as_complex(self.weight)  # ... k/2+1 e
        return self._activate(z * weight.diagonal() if self.diagonal else F.linear(z, weight), x.shape[-2])

    def of_outer(self, x: Tensor, vector: Tensor) -> Tensor:  # ... k, e
        """The same of x φᵀ, whose spectrum is that of x times φ: one Fourier transform in the place of e."""
        z, weight = torch.fft.rfft(x, norm="ortho"), as_complex(self.weight)  # ... k/2+1
        gain = weight.diagonal() * vector if self.diagonal else weight @ vector.to(weight.dtype)  # e
        return self._activate(z[..., None] * gain, x.shape[-1])  # ... k e

    def _activate(self, z: Tensor, length: int) -> Tensor:  # ... k/2+1 e
        shift = as_complex(self.bias - self.threshold)  # of both parts: what ReLU leaves is shrunk by as much
        return torch.fft.irfft(complex_relu(z + shift), n=length, dim=-2, norm="ortho")
