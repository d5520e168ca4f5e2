"""What is noticed in the rows of a fit, and what is done about it."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from olinear.core import Note
from olinear.core.settings import Settings
from olinear.data.frames import Panel, find_spikes, is_new
from olinear.forecaster.choosing import MOST_LOOKBACK, default_lookback
from olinear.forecaster.limits import are_whole

SHOWN = 5
MOST_COUNT = 20  # beyond, median and mean of counts are nearly one


def without_spikes(panel: Panel) -> Panel:
    """The panel, in which cells that are no measurement are missing, with a note of them."""
    spikes = find_spikes(panel.values)
    if not spikes.any():
        return panel
    where = [
        f"{panel.values[row, column]:g} of {panel.series[column]!r} at {panel.times[row]}"
        for row, column in np.argwhere(spikes)[:SHOWN]
    ]
    more = f" and {spikes.sum() - SHOWN} more" if spikes.sum() > SHOWN else ""
    text = f"taken as missing, because they lie 10,000 deviations from all others: {', '.join(where)}{more}"
    note = Note("outlier-missing", text, _names(panel, np.asarray(spikes.any(0))))
    before = [each for each in panel.notes if each.code != "outlier-suspected" or not {*each.about} <= {*note.about}]
    return replace(panel, values=np.where(spikes, np.nan, panel.values), notes=[*before, note])


def notes_on(panel: Panel, settings: Settings, n_train: int, active: NDArray[np.bool_]) -> list[Note]:
    """What a person should know of the rows of a fit."""
    notes: list[Note] = []
    if panel.missing:
        share = panel.missing / panel.values.size
        text = f"{panel.missing} values ({share:.1%}) are missing: bridged as input, left out of the loss"
        notes.append(Note("values-missing", text))
    constant = _names(panel, ~active)
    if constant:
        text = f"{len(constant)} constant series are forecast as they are: {', '.join(constant[:SHOWN])}"
        notes.append(Note("series-constant", text, constant))
    new = _names(panel, is_new(panel.values[:n_train]) & active)
    if new:
        text = (
            f"{len(new)} series have next to no values or movement in the rows that train, and are scaled by their own "
            f"rows so far: "
            f"{', '.join(new[:SHOWN])}"
        )
        notes.append(Note("series-new", text, new))
    counts = _names(panel, _are_counts(panel.values) & active)
    if counts and settings.validation.point == "median" and settings.training.loss != "l2":
        text = (
            f"{len(counts)} series are counts ({', '.join(counts[:SHOWN])}): a forecast is their median, which sums to "
            "less than the mean where there are many zeros; point='mean' gives the mean"
        )
        notes.append(Note("series-counts", text, counts))
    season, lookback = panel.frequency.season, settings.lookback
    if lookback == MOST_LOOKBACK < season and lookback == default_lookback(settings.horizon, len(panel), season):
        text = (
            f"the lookback was cut to {lookback} steps, and the season has {season}: pass lookback={season} or more if "
            "the season matters, or rows of a longer step"
        )
        notes.append(Note("lookback-short", text))
    return notes


def with_notes(panel: Panel, notes: list[Note]) -> Panel:
    """The panel with further notes, which come in the place of those of the same codes that reading made."""
    codes = {note.code for note in notes}
    return replace(panel, notes=[*(note for note in panel.notes if note.code not in codes), *notes])


def _names(panel: Panel, chosen: NDArray[np.bool_]) -> list[str]:
    return [name for name, is_chosen in zip(panel.series, chosen, strict=True) if is_chosen]


def _are_counts(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whole numbers, none negative, and few of them different: so many items, visitors, failures."""
    return are_whole(values) & (np.fmin.reduce(values, axis=0) >= 0) & (np.nanmedian(values, axis=0) < MOST_COUNT)
