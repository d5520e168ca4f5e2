"""How much of the space of tokens a mixing matrix keeps: its rank, and how widely its rows look."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from olinear.core import DataError

NEGLIGIBLE = 0.01  # of the largest singular value


def numerical_rank(matrix: ArrayLike, tolerance: float = NEGLIGIBLE) -> NDArray[np.int64]:
    """How many singular values are above a share of the largest, of each matrix `... k l`."""
    sizes = _singular_values(matrix)
    largest = sizes.max(-1, keepdims=True)
    return np.asarray(((sizes > tolerance * largest) & (largest > 0)).sum(-1))


def effective_rank(matrix: ArrayLike) -> NDArray[np.float64]:
    """The rank without a threshold, of each matrix `... k l`: the exponential of the entropy of its singular values.

    exp(-Σ p_i log p_i),  p_i = σ_i / Σ σ;  1 for a product of two vectors, k for an orthogonal matrix.

    O. Roy, M. Vetterli: The effective rank. EUSIPCO 2007.
    """
    sizes = _singular_values(matrix)
    total = sizes.sum(-1, keepdims=True)
    shares = np.divide(sizes, total, out=np.zeros_like(sizes), where=total > 0)
    return np.where(total[..., 0] > 0, np.exp(_entropy(shares)), 0.0)


def row_entropy(matrix: ArrayLike) -> NDArray[np.float64]:
    """How widely the rows of each matrix `... k l` look, on average: 1 at all alike, 0 at one.

        mean over rows of -Σ a_j log a_j / log l

    A row's weights are non-negative; they are divided by their sum.
    """
    weights = np.asarray(matrix, dtype=np.float64)
    if (weights < 0).any():
        raise DataError("the entropy of a row needs weights that are not negative")
    if weights.shape[-1] == 1:
        return np.zeros(weights.shape[:-2])
    total = weights.sum(-1, keepdims=True)
    shares = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return np.asarray(_entropy(shares).mean(-1) / np.log(weights.shape[-1]))


@dataclass(frozen=True)
class MixingSummary:
    """Some matrices of one size, by their means: how many, their size, ranks and entropy, NaN if one has negatives."""

    matrices: int
    size: int
    rank: float
    effective_rank: float
    entropy: float


def summarise_mixing(matrices: ArrayLike | Sequence[ArrayLike]) -> MixingSummary:
    """One matrix, or `... k l` of them."""
    given = np.asarray(matrices, dtype=np.float64)
    given = given.reshape(-1, *given.shape[-2:])
    entropy = float("nan") if (given < 0).any() else float(row_entropy(given).mean())
    ranks = float(numerical_rank(given).mean()), float(effective_rank(given).mean())
    return MixingSummary(len(given), min(given.shape[-2:]), *ranks, entropy)


def _singular_values(matrix: ArrayLike) -> NDArray[np.float64]:
    return np.linalg.svd(np.asarray(matrix, dtype=np.float64), compute_uv=False)


def _entropy(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(-1))
