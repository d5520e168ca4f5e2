"""How a row of weights answers a change of what it is made from: the paper's Appendix B in closed form."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Values = NDArray[np.float64]


def softmax_jacobian(scores: ArrayLike) -> Values:
    """∂c/∂a of a row of attention, c = Softmax(a): `... n -> ... n n`.

    ∂c/∂a = Diag(c) - c cᵀ
    """
    a = np.asarray(scores, dtype=np.float64)
    powers = np.exp(a - a.max(-1, keepdims=True))
    c = powers / powers.sum(-1, keepdims=True)
    return _diagonal(c) - c[..., :, None] * c[..., None, :]


def normlin_jacobian(weights: ArrayLike) -> Values:
    """∂c/∂a of a row of NormLin, c = b / |b|₁ with b = Softplus(a): `... n -> ... n n`.

    ∂c/∂a = (Diag(b̃) - (b / |b|₁) b̃ᵀ) / |b|₁,     b̃ = Sigmoid(a)
    """
    a = np.asarray(weights, dtype=np.float64)
    b = np.logaddexp(0.0, a)
    slope = np.exp(-np.logaddexp(0.0, -a))
    total = b.sum(-1, keepdims=True)
    return (_diagonal(slope) - (b / total)[..., :, None] * slope[..., None, :]) / total[..., None]


def diagonal_share(jacobian: ArrayLike) -> float:
    """The absolute values on the diagonal over all of them.

    It is one half for every map onto rows that sum to one in which a larger entry makes all others smaller: a column
    sums to zero, and its diagonal entry alone is positive. So it cannot tell softmax from NormLin.
    """
    sizes = np.abs(np.asarray(jacobian, dtype=np.float64))
    return float(np.trace(sizes, axis1=-2, axis2=-1).sum() / sizes.sum())


@dataclass(frozen=True)
class Gradients:
    """The diagonals of some Jacobians of n x n, times n, so that rows of any length compare.

    Args:
        mean, median: of the entries; a flat softmax has nearly 1.
        spread: (Σ d)² / (n Σ d²), the share of the entries that carry the gradient: 1 if all are equal.
        share: the diagonal's part of all absolute values.
    """

    mean: float
    median: float
    spread: float
    share: float


@dataclass(frozen=True)
class GradientComparison:
    """Both maps at the same rows; `larger` is the share of diagonal entries that NormLin has larger."""

    softmax: Gradients
    normlin: Gradients
    larger: float


def compare_gradients(rows: ArrayLike) -> GradientComparison:
    """Softmax against NormLin at each of the rows `[k, n]`, each taken as scores and as weights."""
    given = np.atleast_2d(np.asarray(rows, dtype=np.float64))
    both = softmax_jacobian(given), normlin_jacobian(given)
    softmax, normlin = (np.diagonal(each, axis1=-2, axis2=-1) for each in both)
    return GradientComparison(_gradients(both[0]), _gradients(both[1]), float((normlin > softmax).mean()))


def _gradients(jacobians: Values) -> Gradients:
    diagonal = np.diagonal(jacobians, axis1=-2, axis2=-1)  # k n
    n = diagonal.shape[-1]
    squares = n * (diagonal**2).sum(-1)
    spread = np.divide(diagonal.sum(-1) ** 2, squares, out=np.zeros_like(squares), where=squares > 0)
    return Gradients(
        mean=n * float(diagonal.mean()),
        median=n * float(np.median(diagonal)),
        spread=float(spread.mean()),
        share=diagonal_share(jacobians),
    )


def _diagonal(values: Values) -> Values:
    return values[..., None] * np.eye(values.shape[-1])
