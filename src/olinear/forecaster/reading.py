"""From a user's rows to the panel of a forecaster: the first ones, and further ones on the grid of those."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from olinear.core import DataError, Note
from olinear.core.settings import ReadingSettings
from olinear.data.frames import Frequency, Panel, read_panel
from olinear.forecaster.fitted import Fitted
from olinear.forecaster.noticing import without_spikes

SETTINGS = tuple(name for name in ReadingSettings.model_fields if name != "missing")
FEW = 9  # steps that tell how far apart rows are


def read_first(data: Any, given: Mapping[str, Any], like: Panel | None) -> Panel:
    """Rows to fit on, by the settings given; on the grid and in the style of an earlier fit, if there was one."""
    settings = _of_reading(given)
    if like is None:
        return read_panel(data, **settings)
    return read_panel(data, like=replace(like.style, left_out=()), **settings | _step_of(like))


def read_more(fitted: Fitted, data: Any, given: Mapping[str, Any]) -> Panel:
    """Rows to forecast from: on the grid of the fit, with its series in its order, read as its rows were."""
    frequency, series = fitted.panel.frequency, fitted.panel.series
    settings = _of_reading(given) | _step_of(fitted.panel)
    panel = read_panel(data, like=fitted.panel.style, known=series, **settings).pick(series)
    if panel.frequency.counts != frequency.counts:
        here, there = ("whole numbers", "dates") if panel.frequency.counts else ("dates", "whole numbers")
        raise DataError(
            f"these times are {here}, those of the fit were {there}: pass rows that are timed as those were"
        )
    zoned = getattr(panel.times, "tz", None) is not None
    if not frequency.counts and zoned != (fitted.last_time.tzinfo is not None):  # type: ignore[union-attr]
        here, there = ("a", "none") if zoned else ("no", "one")
        raise DataError(
            f"these times have {here} time zone, those of the fit had {there}: convert them first, or fit with tz="
        )
    if fitted.settings.reading.missing == "error":
        panel.refuse_gaps()
    if frequency.kind == "rows":
        panel = replace(panel, notes=[*panel.notes, *_of_other_steps(panel.times, frequency)])
    return without_spikes(replace(panel, frequency=frequency))


def _of_other_steps(times: pd.Index, frequency: Frequency) -> list[Note]:
    """A note where rows without a grid usually lie much closer or wider than those of the fit."""
    here = np.diff(times.to_numpy()).astype(np.float64)
    there = np.diff(frequency.after(times[-1], FEW).to_numpy().astype(times.to_numpy().dtype)).astype(np.float64)
    if not len(here) or 0.5 <= np.median(here) / np.median(there) <= 2:
        return []
    return [
        Note(
            "rows-other-step",
            f"rows are not as far apart as in the fit; its step {frequency.step!r} dates the forecast",
        )
    ]


def _step_of(panel: Panel) -> dict[str, Any]:
    return {"freq": "rows" if panel.frequency.kind == "rows" else panel.frequency.step}


def _of_reading(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: given.get(name) for name in SETTINGS}
