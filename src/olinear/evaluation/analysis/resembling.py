"""Whether what series take from each other follows how they correlate, and how likely chance is to look so."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from olinear.core import DataError

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Likeness:
    """Two matrices over the same series.

    Args:
        correlation: Pearson's, of their entries off the diagonal.
        chance: the mean of the same with the series of one of them exchanged at random, and `deviation` how it varies.
        p_value: the share of such exchanges that come as high.
        with_diagonal: the correlation of all entries, which a diagonal that both have makes high.
    """

    correlation: float
    chance: float
    deviation: float
    p_value: float
    with_diagonal: float


def softmax_rows(matrix: ArrayLike) -> Values:
    """The softmax of each row, as the paper shows a correlation matrix next to weights."""
    values = np.asarray(matrix, dtype=np.float64)
    powers = np.exp(values - values.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def likeness(mixing: ArrayLike, correlation: ArrayLike, exchanges: int = 999, seed: int = 0) -> Likeness:
    """How alike a mixing matrix and a (softmax of a) correlation matrix are, both `[n, n]` (Mantel's test).

    It is the correlation of the entries **off the diagonal**, since both have a large diagonal whatever was learnt, and
    a correlation rather than a cosine, since of matrices whose entries are all positive any two have a cosine near one.
    The entries of a matrix over series do not vary independently, so chance is what comes of exchanging whole series.
    """
    a, b = (np.asarray(each, dtype=np.float64) for each in (mixing, correlation))
    if a.shape != b.shape or a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise DataError(f"both matrices must have shape (series, series), found {a.shape} and {b.shape}")
    n = len(a)
    if n < 3:
        raise DataError(f"a likeness needs at least 3 series, found {n}")
    off = ~np.eye(n, dtype=bool)
    found = _pearson(a[off], b[off])
    draws = np.random.default_rng(seed)
    orders = (draws.permutation(n) for _ in range(exchanges))
    by_chance = np.array([_pearson(a[off], b[np.ix_(order, order)][off]) for order in orders])
    p_value = (1 + int((by_chance >= found - 1e-12).sum())) / (1 + exchanges)
    return Likeness(found, float(by_chance.mean()), float(by_chance.std()), p_value, _pearson(a.ravel(), b.ravel()))


def _pearson(a: Values, b: Values) -> float:
    """0 where one does not vary."""
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a * a).sum() * (b * b).sum()))
    return float((a * b).sum()) / size if size > 0 else 0.0
