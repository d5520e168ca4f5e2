"""Each series in a few numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class SeriesSummary:
    """One series; its missing values are counted and left out of the rest, NaN if there is no other."""

    series: str
    missing: int
    mean: float
    std: float
    min: float
    max: float


def describe_series(values: ArrayLike, names: Sequence[str]) -> list[SeriesSummary]:
    """Every column of `[rows, series]`; `std` is the biased one, of the values as a whole."""
    rows = np.asarray(values, dtype=np.float64)
    return [_describe(name, column) for name, column in zip(names, rows.T, strict=True)]


def _describe(name: str, column: np.ndarray) -> SeriesSummary:
    known = column[~np.isnan(column)]
    missing = len(column) - len(known)
    if not len(known):
        return SeriesSummary(name, missing, *(float("nan"),) * 4)
    with np.errstate(all="ignore"):  # values near the largest there are
        numbers = (float(part) for part in (known.mean(), known.std(), known.min(), known.max()))
        return SeriesSummary(name, missing, *numbers)
