"""What looks doubtful in the values of a panel: marks for missing values, outliers, series that stand still or end."""

import numpy as np
from numpy.typing import NDArray

from olinear.core import Note
from olinear.data.frames.gaps import far_cells
from olinear.data.frames.panel import Panel, Values, listed
from olinear.data.frames.scaling import CONSTANT, LEAST_SHARE

NINES = [sign * nines for sign in (-1, 1) for nines in (99, 999, 9999, 99999, 999999, 99.9, 999.9, 999.99, 9999.9)]
SENTINELS = np.array([*NINES, -1, -9, -7777, -8888, -32768, 32767, 65535, 9.96921e36, 1e20, -1e20, 1e30, -1e30])
EXACT = 2.0**53  # beyond, whole numbers differ by more than 1
TINY = 1e-150  # squares of what is smaller leave the range of doubles
OUTLIER = 50.0  # deviations of all others
STALE = 0.05  # of the rows: a series that ends so long before the others has stopped
STALE_ROWS = 3


def doubts(panel: Panel) -> list[Note]:
    """Notes on the values; none of them changes anything."""
    values, names, notes = panel.values, np.array(panel.series, dtype=object), list[Note]()
    known = ~np.isnan(values)
    count = known.sum(0)
    marks = _sentinels(values, count)
    for at, mark in marks.items():
        text = (
            f"{names[at]!r} has {mark:g} far from its other values, {int((values[:, at] == mark).sum())} times: pass "
            f"na='{mark:g}' if it stands for a missing value"
        )
        notes.append(Note("sentinel-suspected", text, [names[at]]))
    far = far_cells(values, OUTLIER)
    far[:, list(marks)] = False
    if far.any():
        row, at = np.argwhere(far)[0]
        concerned = names[far.any(0)].tolist()
        text = f"values far from all others in {listed(concerned)}, such as {values[row, at]:g} at {panel.times[row]}"
        notes.append(Note("outlier-suspected", text, concerned))
    lowest = np.nanmin(values, axis=0, initial=np.inf, where=known)
    highest = np.nanmax(values, axis=0, initial=-np.inf, where=known)
    magnitude = np.maximum(abs(lowest), abs(highest))
    still = (count > 1) & (highest - lowest <= CONSTANT * magnitude)
    _add(notes, "series-constant", "the values of {} never change", names[still])
    short = (count > 0) & (count < LEAST_SHARE * len(panel))
    _add(notes, "series-short", "{} have values in less than a tenth of the rows", names[short])
    since = np.where(count > 0, known[::-1].argmax(0), 0)
    _add(notes, "series-stale", "{} end before the other series do", names[_stopped(since, len(panel))])
    whole = (count > 0) & (magnitude > EXACT) & (np.floor(values) == values).all(0, where=known)
    _add(notes, "number-precision", "whole numbers above 2^53 in {} can have lost their last digits", names[whole])
    tiny = (magnitude > 0) & (magnitude < TINY) & ~still
    _add(notes, "number-precision", "values of {} are so small that their squares are 0: multiply them", names[tiny])
    return notes


def _add(notes: list[Note], code: str, text: str, names: "NDArray[np.object_]") -> None:
    if len(names):
        notes.append(Note(code, text.format(listed(names.tolist())), names.tolist()))


def _stopped(since: NDArray[np.intp], rows: int) -> NDArray[np.bool_]:
    """Series without a value for some rows at the end, in which others have them."""
    return (since - since.min() > max(STALE * rows, STALE_ROWS)) if len(since) else since > 0


def _sentinels(values: Values, count: NDArray[np.intp]) -> dict[int, float]:
    """Of each series its lowest or highest value, if that is a usual mark and farther away than the others spread."""
    found: dict[int, float] = {}
    for highest in (False, True):
        with np.errstate(invalid="ignore"):
            end = np.fmax.reduce(values, axis=0) if highest else np.fmin.reduce(values, axis=0)
            at = np.flatnonzero(np.isin(end, SENTINELS) & (count > 2))
        for series in at.tolist():
            others = values[:, series][(values[:, series] != end[series]) & ~np.isnan(values[:, series])]
            if len(others) >= 2:
                low, high = float(others.min()), float(others.max())
                gap = end[series] - high if highest else low - end[series]
                if gap > max(high - low, CONSTANT) and (abs(end[series]) > 50 or gap > 10 * (high - low)):
                    found[series] = float(end[series])
    return found
