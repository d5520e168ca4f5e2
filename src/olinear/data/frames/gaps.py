"""Missing values, bridged without a look into the future, and cells far from all others, which may be no values."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

SPIKE = 1e4  # deviations
AT_ONCE = 1000  # series
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
    """Cells of `[rows, series]` that are no measurement: 10,000 deviations of all others away, such as one of 1e20."""
    return far_cells(values, SPIKE)


def far_cells(values: ArrayLike, deviations: float) -> NDArray[np.bool_]:
    """Cells of `[rows, series]` that are so many deviations of all others away.

    The others are all but the farthest hundredth of their series (at least one cell); a series in which those do not
    move, such as one that is nearly always zero, has no such cells.
    """
    array = np.asarray(values, dtype=np.float64)
    found = np.zeros(array.shape, dtype=bool)
    count = (~np.isnan(array)).sum(0)
    for first in range(0, array.shape[1], AT_ONCE):
        chosen = first + np.flatnonzero(count[first : first + AT_ONCE] >= LEAST_KNOWN)
        if len(chosen):
            found[:, chosen] = _far(array[:, chosen], count[chosen], deviations)
    return found


def _far(array: NDArray[np.float64], count: NDArray[np.intp], deviations: float) -> NDArray[np.bool_]:
    away = np.abs(array - np.nanmedian(array, axis=0))
    ordered = np.sort(away, axis=0)  # NaN last
    others = count - np.maximum(count // 100, 1)
    series = np.arange(array.shape[1])
    last = ordered[others - 1, series]
    suspect = np.flatnonzero((last > 0) & (ordered[count - 1, series] > deviations * last))
    found = np.zeros(array.shape, dtype=bool)
    for at in suspect.tolist():
        scale = np.sqrt(np.mean(ordered[: others[at], at] ** 2))
        found[:, at] = away[:, at] > deviations * scale
    return found
