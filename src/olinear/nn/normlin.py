"""NormLin: a linear layer across series whose weight matrix is positive and row-normalised."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial

import torch
import torch.nn.functional as F
from numpy.typing import ArrayLike
from torch import Tensor, nn

from olinear.core import ConfigError, DataError
from olinear.core.runtime import to_bfloat16
from olinear.nn.functional import Norm, Transform, row_normalise
from olinear.nn.products import multiply


class SeriesMixer(nn.Module):
    """A layer that multiplies the axis of series by a matrix A: `... n m -> ... n m`.

    `operator()` draws A (with its dropout, in training) and gives it as a function of `n k`; folding multiplies
    around it.
    """

    def operator(self) -> Callable[[Tensor], Tensor]:
        raise NotImplementedError

    def matrix(self, length: int | None = None) -> Tensor:
        """A without dropout, `[n, n]`: what each takes from each; of the first `length` alone, where A is causal."""
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:  # ... n m
        return self.operator()(x)


class NormLin(SeriesMixer):
    """The normalised linear layer (Section 4.3, Equation 3; variants: appendix on the NormLin design).

        NormLin(x) = drop(A) x,     A = RowNorm_L1(Softplus(W)),     W = I + N(0, 1) at the start

    It mixes the second-to-last axis: `... n m -> ... n m`. A causal one masks **before** it normalises, with
    A = RowNorm_L1(tril(Softplus(W))), where the paper's text allows both readings: rows still sum to one, and those of
    the first tokens stay the same whatever follows, so the leading part of A mixes a context of less than n tokens.

    Args:
        size: n.
        model_dim: of the mixers' one signature (`MixerFactory`); A does not depend on it.
        transform: what makes W positive: softplus, softmax, sigmoid, relu, or identity (which does not).
        norm: `l1` or `l2`, by rows.
        causal: no token takes from a later one, for a decoder over time.
        dropout: falls on the entries of A.
        fixed: a matrix `[n, n]` in the place of W, transformed once and never trained. OLinear-C is
            `fixed=series_correlation(train), transform="softmax"`.
    """

    weight: nn.Parameter
    fixed: Tensor | None

    def __init__(
        self,
        size: int,
        model_dim: int | None = None,
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

    def matrix(self, length: int | None = None) -> Tensor:
        """A, or the `[length, length]` one of a shorter context, which only a causal NormLin has."""
        length = self.size if length is None else length
        if length != self.size:
            _check_length(length, self.size, causal=self.causal)
        if self.fixed is not None:
            return self.fixed[:length, :length]
        return row_normalise(self.weight[:length, :length], self.transform, self.norm, self.causal)

    def operator(self) -> Callable[[Tensor], Tensor]:
        return partial(multiply, self._drop(self.matrix()))

    def forward(self, x: Tensor) -> Tensor:  # ... n m
        return self._drop(self.matrix(x.shape[-2])) @ x

    def _drop(self, matrix: Tensor) -> Tensor:
        return F.dropout(matrix, self.dropout, self.training)

    def extra_repr(self) -> str:
        kind = "learnt" if self.fixed is None else "fixed"
        return f"{self.size}, {kind}, {self.transform}, {self.norm}, causal={self.causal}, dropout={self.dropout}"


class LowRankNormLin(SeriesMixer):
    """NormLin for many series: time and memory O(n r), A never formed (after Section 4.3).

        A = diag(s) + diag(1 - s) diag(1 / (U Vᵀ 1)) U Vᵀ,     U = Softplus(·), V = Softplus(·) [n, r],  s = σ(·) [n]

    The rows of A are positive and sum to one, as NormLin's. The learnt share s of the diagonal is what a low rank
    cannot express: how much each series keeps of itself.

    Args:
        size, model_dim: n and, unused, m, as in `NormLin`.
        rank: r.
        dropout: falls on the factors, before the normalisation.
    """

    def __init__(
        self, size: int, model_dim: int | None = None, *, rank: int, dropout: float = 0.0, causal: bool = False
    ):
        super().__init__()
        if causal:
            raise ConfigError("a causal NormLin needs its whole matrix: leave rank out")
        if not 1 <= rank <= size:
            raise ConfigError(f"rank must lie between 1 and the number of series, {size}, found {rank}")
        self.size, self.rank, self.dropout = size, rank, dropout
        self.left = nn.Parameter(torch.randn(size, rank))
        self.right = nn.Parameter(torch.randn(size, rank))
        self.share = nn.Parameter(torch.zeros(size))

    def factors(self, *, drop: bool) -> tuple[Tensor, Tensor, Tensor]:
        """s `[n, 1]`, the left factor with `1 - s` and the normalisation in it, and V: A = diag(s) + left Vᵀ."""
        left = F.dropout(F.softplus(self.left), self.dropout, drop)
        right = F.dropout(F.softplus(self.right), self.dropout, drop)
        share = torch.sigmoid(self.share)[:, None]
        with exactly(left):
            sums = (left @ right.sum(0))[:, None]
        return share, (1 - share) * left / sums.clamp(min=torch.finfo(sums.dtype).tiny), right

    def operator(self) -> Callable[[Tensor], Tensor]:
        share, left, right = self.factors(drop=self.training)
        return lambda x: share * x + multiply(left, multiply(right.mT, x))

    def matrix(self, length: int | None = None) -> Tensor:
        if length not in (None, self.size):
            _check_length(length, self.size, causal=False)
        share, left, right = self.factors(drop=False)
        return torch.diag(share[:, 0]) + left @ right.mT

    def extra_repr(self) -> str:
        return f"{self.size}, rank={self.rank}, dropout={self.dropout}"


class SeriesLinear(nn.Linear):
    """A plain linear layer across series, NormLin's opponent in the ablation: `... n m -> ... n m`.

        SeriesLinear(x) = W x + b

    Args:
        size: n.
        model_dim, dropout: of the mixers' one signature; a matrix that is not normalised drops nothing.
    """

    def __init__(self, size: int, model_dim: int | None = None, *, dropout: float = 0.0):
        super().__init__(size, size)

    def forward(self, x: Tensor) -> Tensor:  # ... n m
        return super().forward(x.mT).mT


def exactly(x: Tensor) -> AbstractContextManager[object]:
    """Around a product that stays in float32 whatever the others are computed in: sums of rows."""
    return to_bfloat16(x.device, False)


def _check_length(length: int, size: int, *, causal: bool) -> None:
    """Refuse a number of tokens that a matrix of `size` cannot mix."""
    if not causal:
        raise DataError(f"NormLin must have {size} tokens, found {length}: only a causal one takes less")
    if not 1 <= length <= size:
        raise DataError(f"a causal NormLin of {size} must have 1 to {size} tokens, found {length}")
