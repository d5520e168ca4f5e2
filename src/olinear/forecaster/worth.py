"""What forecasts are worth: their error next to naive forecasts, in a unit that all series share."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from olinear.core import Note
from olinear.data.frames import FrameStyle, Panel
from olinear.forecaster.backtesting import Backtest, run_backtest
from olinear.forecaster.fitted import Fitted

METRIC, LEVEL = "mase", 80
MOST_CELLS = 2**22  # forecast to be scored; of more windows than that, some are left out evenly
MOST_LISTED = 20  # series

Scores = NDArray[np.float64]


def find_worth(judged: Fitted, panel: Panel, rows: int) -> dict[str, Any]:
    """The worth of forecasts from every origin whose targets are the last `rows` of a panel, which no choice saw."""
    count = rows - judged.settings.horizon + 1
    most = max(MOST_CELLS // (judged.settings.horizon * len(panel.series)), 1)
    stride = -(-count // most)
    told = judged.intervals is not None and judged.intervals.highest >= LEVEL
    plain = replace(panel, style=FrameStyle(layout="long"))  # the cheapest for many series
    result = run_backtest(judged, plain, -(-count // stride), stride, [LEVEL] if told else [])
    first, last = str(panel.times[-rows]), str(panel.times[-1])
    return {"rows": rows, "windows": result.windows, "first": first, "last": last} | summarise(result, panel.series)


def summarise(result: Backtest, series: list[str]) -> dict[str, Any]:
    """A backtest in a few numbers: how much better than the best naive forecast, all together and series by series.

    The measure is MASE: the mean absolute error over how far a series moves from one season to the next in the rows
    before the first origin, so that series of any unit count alike. Each series is compared with the naive forecast
    that is best for it. `better` is the share by which our error is smaller, or below zero the share by which theirs
    is; what cannot be scored is None.
    """
    table = nw.from_native(result.metrics, eager_only=True)
    names = table["forecaster"].to_list()[:: len(series) + 1]
    shape = len(names), len(series) + 1
    scores = np.array(table[METRIC].to_list(), dtype=np.float64).reshape(shape)
    inside = np.full(shape[1], np.nan)
    if f"coverage_{LEVEL}" in table.columns:
        inside = np.array(table[f"coverage_{LEVEL}"].to_list(), dtype=np.float64).reshape(shape)[0]
    compared = [_compare(names, *pair) for pair in zip(scores.T, inside, strict=True)]
    each = [{"series": name} | own for name, own in zip(series, compared[1:], strict=True)]
    scored = sorted((own for own in each if own["better"] is not None), key=lambda own: own["better"])
    return {
        "metric": METRIC,
        **compared[0],
        "naive": {name: _number(score) for name, score in zip(names[1:], scores[1:, 0], strict=True)},
        "series_scored": len(scored),
        "series_better": sum(own["better"] > 0 for own in scored),
        "by_series": scored[:MOST_LISTED],  # the worst first
    }


def _compare(names: list[str], scores: Scores, inside: float) -> dict[str, Any]:
    """The score of the first forecaster next to the best of the others."""
    found: dict[str, Any] = {"score": _number(scores[0]), "best_naive": None, "naive_score": None, "better": None}
    if np.isfinite(scores).all():
        best = int(scores[1:].argmin()) + 1
        found |= {"best_naive": names[best], "naive_score": _number(scores[best])}
        found["better"] = _number((scores[best] - scores[0]) / (max(scores[best], scores[0]) or 1.0))
    return found | {f"coverage_{LEVEL}": _number(inside)}


def _number(value: float) -> float | None:
    return round(float(value), 6) if np.isfinite(value) else None


def note_on(worth: Mapping[str, Any]) -> Note | None:
    """A warning where forecasts are no better than naive ones, or could not be compared with them."""
    if worth["better"] is None:
        return Note("worth-not-scored", f"nothing of the newest {worth['rows']} rows could be scored next to naive forecasts")
    if worth["better"] > 0:
        return None
    return Note(
        "worth-no-better",
        f"these forecasts are no better than a naive one: on the newest {worth['rows']} rows, which no choice saw, the "
        f"MASE is {worth['score']:.3g}, and that of the {worth['best_naive']} {worth['naive_score']:.3g}",
        [own["series"] for own in worth["by_series"] if own["better"] <= 0],
    )


def describe_worth(worth: Mapping[str, Any]) -> list[str]:
    """It in one or two lines for a person; none where nothing could be scored."""
    if worth["better"] is None:
        return []
    amount, inside = abs(worth["better"]), worth[f"coverage_{LEVEL}"]
    best = f"the best naive forecast, {worth['best_naive']}"
    line = f"{amount:.1%} better than {best}" if worth["better"] > 0 else f"{best}, is {amount:.1%} better"
    held = "" if inside is None else f"; the {LEVEL} % interval holds {inside:.1%}"
    lines = [f"{line} (MASE {worth['score']:.3g} against {worth['naive_score']:.3g}){held}"]
    if worth["series_scored"] > 1:
        worse = [own["series"] for own in worth["by_series"] if own["better"] <= 0]
        many = worth["series_scored"] - worth["series_better"]
        shown = ", ".join(worse[:5]) + (f" and {many - 5} more" if many > 5 else "")
        lines.append(
            f"{worth['series_better']} of {worth['series_scored']} series are better than their own best naive forecast"
            + (f"; not: {shown}" if many else "")
        )
    return lines
