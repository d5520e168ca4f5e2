"""The network of the paper's rows of fixed bases, which is another than OLinear."""

from typing import Any

import numpy as np
import torch
from numpy.polynomial.chebyshev import chebvander
from numpy.polynomial.laguerre import lagvander
from numpy.polynomial.legendre import legvander
from numpy.typing import NDArray
from torch import Tensor, nn

from olinear.core import ConfigError
from olinear.models.zoo.blocks.window_model import WindowModel
from olinear.nn import CrossSeriesLearner, IntraSeriesLearner, NormLin, RevIN, make_basis

POLYNOMIALS = {"chebyshev": chebvander, "legendre": legvander, "laguerre": lagvander}
BASES = ("fourier", "haar", "dmey", *POLYNOMIALS)


class SkipOLinear(WindowModel):
    """OLinear's blocks around a fixed basis of the lookback's size, and past them a skip connection to the head.

        C = RevIN(X) ⊗ φ                                    Z = Decode(LayerNorm(Blocks(Encode(C Pᵀ))))
        Ŷ = RevIN⁻¹(drop(W₂ GELU(W₁ (Z P + C))))

    What the paper calls its Fourier, wavelet and polynomial bases was measured with this network: transform and inverse
    are both `[t, t]`, the head steps from the lookback to the horizon, and there are no offsets. OLinear itself takes
    any basis (`basis=`), with a P that is orthogonal and nothing else changed.

    Args:
        n_series, lookback, horizon: n, t, h.
        basis: `fourier`, real and orthonormal; `haar` or `dmey`, wavelets of one level; `chebyshev`, `legendre` or
            `laguerre`, see `sampled_polynomials`.
        model_dim, ff_dim, embed_dim, blocks, dropout: as in `OLinear`.
    """

    basis: Tensor

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        basis: str = "fourier",
        model_dim: int = 512,
        ff_dim: int | None = None,
        embed_dim: int = 16,
        blocks: int = 2,
        dropout: float = 0.0,
    ):
        super().__init__(n_series, lookback, horizon)
        ff_dim = ff_dim or model_dim
        matrix = torch.as_tensor(fixed_matrix(basis, lookback)).to(torch.get_default_dtype())
        self.register_buffer("basis", matrix)
        self.revin = RevIN(n_series)
        self.extension = nn.Parameter(torch.randn(embed_dim))
        self.encoder = nn.Linear(embed_dim * lookback, model_dim)
        self.blocks = nn.Sequential()
        for _ in range(blocks):
            mixer = NormLin(n_series, dropout=dropout)
            self.blocks.append(CrossSeriesLearner(model_dim, mixer, dropout=dropout))
            self.blocks.append(IntraSeriesLearner(model_dim, ff_dim, dropout=dropout))
        self.norm = nn.LayerNorm(model_dim)
        self.decoder = nn.Linear(model_dim, embed_dim * lookback)
        self.head = nn.Sequential(nn.Linear(embed_dim * lookback, ff_dim), nn.GELU(), nn.Linear(ff_dim, horizon))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        x, stats = self.revin(x)  # b t n
        copies = x.mT.unsqueeze(-2) * self.extension[:, None]  # b n d t
        hidden = self.encoder((copies @ self.basis.mT).flatten(-2))  # b n m
        decoded = self.decoder(self.norm(self.blocks(hidden))).view_as(copies)  # b n d t
        y = self.head((decoded @ self.basis + copies).flatten(-2))  # b n h
        return self.revin.inverse(self.dropout(y).mT, stats)  # b h n


def fixed_matrix(basis: str, size: int) -> NDArray[np.floating[Any]]:
    """P, its rows the basis vectors."""
    if basis not in BASES:
        raise ConfigError(f"basis must be one of {', '.join(BASES)}, found {basis!r}")
    if basis in POLYNOMIALS:
        return sampled_polynomials(basis, size)
    return make_basis(basis, size, levels=None if basis == "fourier" else 1).astype(np.float64)


def sampled_polynomials(name: str, size: int) -> NDArray[np.float64]:
    """The first polynomials of a family on a uniform grid, each scaled to length one: neighbours are not orthogonal.

    Chebyshev's and Legendre's are taken over [-1, 1], Laguerre's at 0, 1, …: the paper names neither grid nor scale.
    """
    grid = np.arange(size, dtype=np.float64) if name == "laguerre" else np.linspace(-1, 1, size)
    rows = POLYNOMIALS[name](grid, size - 1).T
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float64)
