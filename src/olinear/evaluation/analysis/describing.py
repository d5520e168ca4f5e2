"""Each series in a few numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

FAR = 30  # times the usual distance from the median: beyond 20 standard deviations, if values are Gaussian


@dataclass(frozen=True)
class SeriesSummary:
    """One series; its missing values are counted and left out of the rest, NaN if there is no other.

    Args:
        series: its name.
        mean, std, min, max: of its values.
        missing: how many values are missing.
        stale: rows at the end without a value.
        constant: whether it never moves.
        outliers: values far from all others, such as −9999 or 1e20.
    """

    series: str
    mean: float
    std: float
    min: float
    max: float
    missing: int
    stale: int
    constant: bool
    outliers: int


def describe_series(values: ArrayLike, names: Sequence[str]) -> list[SeriesSummary]:
    """Every column of `[rows, series]`; `std` is the biased one, of the values as a whole."""
    rows = np.asarray(values, dtype=np.float64)
    return [_describe(name, column) for name, column in zip(names, rows.T, strict=True)]


def find_outliers(column: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which values of one series are far from its others: 30 times as far from the median as the others usually are.

    What is usual is the median distance of the values that are not the median itself, so that neither a series that is
    mostly zero nor one that is −9999 wherever it was not measured hides what is far.
    """
    found = np.zeros(len(column), dtype=bool)
    known = np.flatnonzero(~np.isnan(column))
    if len(known):
        away = np.abs(column[known] - np.median(column[known]))
        moved = away[away > 0]
        if len(moved) > 1:
            found[known] = away > FAR * np.median(moved)
    return found


def _describe(name: str, column: NDArray[np.float64]) -> SeriesSummary:
    present = ~np.isnan(column)
    known = column[present]
    missing = len(column) - len(known)
    if not len(known):
        return SeriesSummary(name, *(float("nan"),) * 4, missing, missing, False, 0)
    stale = int(present[::-1].argmax())
    with np.errstate(all="ignore"):  # values near the largest there are
        mean, std, low, high = (float(part) for part in (known.mean(), known.std(), known.min(), known.max()))
        outliers = int(find_outliers(column).sum())
    return SeriesSummary(name, mean, std, low, high, missing, stale, low == high, outliers)
