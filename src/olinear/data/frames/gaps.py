"""Bridging missing values, so that a window can be read through them without a look into the future."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

SPIKE = 1e4  # deviations
LEAST_KNOWN = 20  # cells that a series must have before one of them is called a spike


def bridge_gaps(values: ArrayLike) -> NDArray[np.float64]:
    """`[rows, series]` without NaN: the last value is carried forward, rows before the first take the first.

    Carrying forward never uses a later row, so a window that ends inside a gap sees nothing of what comes after
    it. An empty series becomes 0.
    """
    array = np.asarray(values, dtype=np.float64)
    present = ~np.isnan(array)
    if present.all():
        return array.copy()
    rows = np.arange(len(array))[:, None]
    source = np.maximum.accumulate(np.where(present, rows, -1), axis=0)  # the last row with a value, -1 before it
    source = np.where(source < 0, present.argmax(0), source)
    return np.nan_to_num(np.take_along_axis(array, source, axis=0), nan=0.0, posinf=np.inf, neginf=-np.inf)


def hide_first_targets(values: ArrayLike, horizon: int) -> NDArray[np.float64]:
    """The values as targets: a series that begins late loses its first `horizon` ones.

    Rows before its beginning are bridged with its first value; a window that sees only those must not be asked
    for that value.
    """
    targets = np.array(values, dtype=np.float64)
    first = (~np.isnan(targets)).argmax(0)
    for series, row in enumerate(first):
        if row > 0:
            targets[row : row + horizon, series] = np.nan
    return targets


def find_spikes(values: ArrayLike) -> NDArray[np.bool_]:
    """Cells of `[rows, series]` that are no measurement: 10,000 deviations of all others away, such as one of 1e20.

    The others are all but the farthest hundredth of their series (at least one cell); a series in which those do not
    move, such as one that is nearly always zero, has no spikes.
    """
    array = np.asarray(values, dtype=np.float64)
    found = np.zeros(array.shape, dtype=bool)
    for series, column in enumerate(array.T):
        known = np.flatnonzero(~np.isnan(column))
        if len(known) < LEAST_KNOWN:
            continue
        cells = column[known]
        away = np.abs(cells - np.median(cells))
        others = np.sort(away)[: len(away) - max(len(away) // 100, 1)]
        if away.max() > SPIKE * others[-1] > 0:
            scale = np.sqrt(np.mean(others**2))
            found[known[away > SPIKE * scale], series] = True
    return found
