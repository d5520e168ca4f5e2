"""Bridging missing values, so that a window can be read through them."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def bridge_gaps(values: ArrayLike) -> NDArray[np.float64]:
    """`[rows, series]` with each gap bridged by a straight line, and the ends held; an empty series becomes 0."""
    filled = np.array(values, dtype=np.float64)
    rows = np.arange(len(filled))
    for series in filled.T:
        missing = np.isnan(series)
        if missing.all():
            series[:] = 0.0
        elif missing.any():
            series[missing] = np.interp(rows[missing], rows[~missing], series[~missing])
    return filled
