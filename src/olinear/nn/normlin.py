"""NormLin: a linear layer across series whose weight matrix is positive and row-normalised."""

import torch
import torch.nn.functional as F
from numpy.typing import ArrayLike
from torch import Tensor, nn

from olinear.errors import DataError
from olinear.nn.functional import Norm, Transform, row_normalise


class NormLin(nn.Module):
    """The normalised linear layer (Section 4.3, Equation 3; variants: appendix on the NormLin design).

        NormLin(x) = drop(A) x,     A = RowNorm_L1(Softplus(W)),     W = I + N(0, 1) at the start

    It mixes the second-to-last axis: `... n m -> ... n m`.

    Args:
        size: n.
        transform: what makes W positive: softplus, softmax, sigmoid, relu, or identity (which does not).
        norm: `l1` or `l2`, by rows.
        causal: zero the upper triangle before the normalisation, for a decoder over time.
        dropout: falls on the entries of A.
        fixed: a matrix `[n, n]` in the place of W, transformed once and never trained. OLinear-C is
            `fixed=series_correlation(train), transform="softmax"`.
    """

    weight: nn.Parameter
    fixed: Tensor | None

    def __init__(
        self,
        size: int,
        *,
        transform: Transform = "softplus",
        norm: Norm = "l1",
        causal: bool = False,
        dropout: float = 0.0,
        fixed: ArrayLike | Tensor | None = None,
    ):
        super().__init__()
        self.size, self.transform, self.norm, self.causal = size, transform, norm, causal
        self.dropout = dropout
        start = torch.eye(size) + torch.randn(size, size) if fixed is None else torch.as_tensor(fixed)
        if start.shape != (size, size):
            raise DataError(f"fixed must have shape ({size}, {size}), found {tuple(start.shape)}")
        matrix = row_normalise(start.to(torch.get_default_dtype()), transform, norm, causal).contiguous()
        self.register_parameter("weight", nn.Parameter(start) if fixed is None else None)
        self.register_buffer("fixed", None if fixed is None else matrix)

    def matrix(self) -> Tensor:
        """A, `[n, n]`: what each series takes from each."""
        if self.fixed is not None:
            return self.fixed
        return row_normalise(self.weight, self.transform, self.norm, self.causal)

    def forward(self, x: Tensor) -> Tensor:  # ... n m
        return F.dropout(self.matrix(), self.dropout, self.training) @ x

    def extra_repr(self) -> str:
        kind = "learnt" if self.fixed is None else "fixed"
        return f"{self.size}, {kind}, {self.transform}, {self.norm}, causal={self.causal}, dropout={self.dropout}"


class SeriesLinear(nn.Linear):
    """A plain linear layer across series, NormLin's opponent in the ablation: `... n m -> ... n m`.

    SeriesLinear(x) = W x + b
    """

    def __init__(self, size: int, *, dropout: float = 0.0):
        super().__init__(size, size)

    def forward(self, x: Tensor) -> Tensor:  # ... n m
        return super().forward(x.mT).mT
