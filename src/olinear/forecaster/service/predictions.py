"""From a model folder, and new rows if there are any, to a forecast."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from olinear.core import Note
from olinear.core.runtime import Waiting
from olinear.data.frames import split_names
from olinear.forecaster.forecaster import Forecaster
from olinear.forecaster.limits import check_levels
from olinear.forecaster.prediction import Prediction

USUAL = (80.0, 95.0)


@dataclass(frozen=True)
class PredictRequest:
    """A forecast to make.

    Args:
        model: a model folder, or a forecaster.
        data: new rows, as a file, `-` or a frame; None goes on from the rows it was fitted on.
        levels: per cent of the intervals; 80 and 95 if left out, as far as data support them. None are given, with a
            note, where the model has none.
        horizon: fewer steps than trained, or with `recursive` more.
        recursive: let forecasts feed on forecasts.
        series: names of those that are wanted in the answer, if not all.
        progress: draw a line on a terminal where it takes long.
    """

    model: Path | Forecaster
    data: Any = None
    levels: Sequence[float] | None = None
    horizon: int | None = None
    recursive: bool = False
    series: Sequence[str] | None = None
    progress: bool = False


@dataclass(frozen=True)
class PredictResult:
    """The forecast, and what a person should know of it."""

    prediction: Prediction
    notes: list[str]


def predict(request: PredictRequest) -> PredictResult:
    """Forecast what follows, in original units."""
    with Waiting("loading the model", request.progress):
        forecaster = open_model(request.model)
    levels, notes = keep_levels(request.levels, forecaster)
    trained, steps = forecaster.fitted.settings.horizon, request.horizon
    if levels and request.recursive and isinstance(steps, int) and steps > trained:
        text = f"no intervals beyond the trained horizon of {trained} steps, and so none at all"
        notes.append(Note("intervals-beyond-horizon", text))
        levels = []
    given = [request.series] if isinstance(request.series, str) else request.series
    series = split_names(given, forecaster.fitted.panel.series)
    prediction = forecaster.predict_panel(
        request.data, levels=levels, horizon=steps, recursive=request.recursive, series=series or None
    )
    read = prediction.history.notes if request.data is not None else []
    return PredictResult(prediction, [*notes, *read, *prediction.notes])


def open_model(model: Path | Forecaster) -> Forecaster:
    """The forecaster of a folder, or the one given."""
    return model if isinstance(model, Forecaster) else Forecaster.load(model)


def keep_levels(levels: Sequence[float] | None, forecaster: Forecaster) -> tuple[list[float], list[str]]:
    """The levels asked for, or the usual ones that the data support; none and a note, if the model has no intervals."""
    wanted = list(USUAL) if levels is None else check_levels(levels)
    if not forecaster.has_intervals:
        return [], [Note("intervals-none", forecaster.fitted.why_no_intervals)] if wanted else []
    intervals = forecaster.fitted.intervals
    if levels is not None or intervals is None or intervals.highest >= max(USUAL):
        return wanted, []
    kept = [level for level in wanted if level <= intervals.highest]
    left = ", ".join(f"{level:g} %" for level in wanted if level not in kept)
    text = (
        f"no interval of {left}: {intervals.evidence} values of calibration support levels up to {intervals.highest} %"
    )
    return kept, [Note("intervals-too-high", text)]
