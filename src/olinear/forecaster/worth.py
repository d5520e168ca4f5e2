"""What forecasts are worth: their error next to naive forecasts, in a unit that all series share."""

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from olinear.core import Note

METRIC, LEVEL = "standardised_mae", 80
COVERAGE = f"coverage_{LEVEL}"
MOST_LISTED = 20  # series

Scores = NDArray[np.float64]


def summarise(metrics: Any, most: int | None = MOST_LISTED) -> dict[str, Any]:
    """The metrics of a backtest in a few numbers: how much better than the best naive forecast, together and by series.

    The measure is the standardised MAE: each series' mean absolute error over its deviation in training, so that
    series of any unit count alike. (MASE is not taken: a series that rests nearly always moves next to nothing from one
    season to the next, and divided by that its errors would rule the mean.) Each series is compared with the naive
    forecast that is best for it. `better` is the share by which our error is smaller, or below zero the share by which
    theirs is; what cannot be scored, or has no error at all, is None. `by_series` has the worst first, `most` of them.
    """
    table = nw.from_native(metrics, eager_only=True)
    names = list(dict.fromkeys(table["forecaster"].to_list()))
    series = table["series"].to_list()[1 : len(table) // len(names)]
    shape = len(names), len(series) + 1
    scores = np.array(table[METRIC].to_list(), dtype=np.float64).reshape(shape)
    inside = np.full(shape[1], np.nan)
    if COVERAGE in table.columns:
        inside = np.array(table[COVERAGE].to_list(), dtype=np.float64).reshape(shape)[0]
    compared = [_compare(names, *pair) for pair in zip(scores.T, inside, strict=True)]
    each = [{"series": name} | own for name, own in zip(series, compared[1:], strict=True)]
    each.sort(key=lambda own: np.inf if own["better"] is None else own["better"])
    shares = [own["better"] for own in each if own["better"] is not None]
    return {
        "metric": METRIC,
        **compared[0],
        "naive": {name: _number(score) for name, score in zip(names[1:], scores[1:, 0], strict=True)},
        "series_scored": len(shares),
        "series_better": sum(share > 0 for share in shares),
        "by_series": each[:most],
    }


def _compare(names: list[str], scores: Scores, inside: float) -> dict[str, Any]:
    """The score of the first forecaster next to the best of the others."""
    found: dict[str, Any] = {"score": _number(scores[0]), "best_naive": None, "naive_score": None, "better": None}
    if np.isfinite(scores).all():
        best = int(scores[1:].argmin()) + 1
        found |= {"best_naive": names[best], "naive_score": _number(scores[best])}
        larger = max(scores[best], scores[0])
        found["better"] = _number((scores[best] - scores[0]) / larger) if larger > 0 else None
    return found | {COVERAGE: _number(inside)}


def _number(value: float) -> float | None:
    return round(float(value), 6) if np.isfinite(value) else None


def note_on(worth: Mapping[str, Any]) -> Note | None:
    """A warning where forecasts are no better than naive ones, or could not be compared with them."""
    if worth["better"] is None:
        return Note(
            "worth-not-scored", f"nothing of the newest {worth['rows']} rows could be scored next to naive forecasts"
        )
    if worth["better"] > 0:
        return None
    return Note(
        "worth-no-better",
        f"these forecasts are no better than a naive one: on the newest {worth['rows']} rows, which no choice saw, the "
        f"standardised MAE is {worth['score']:.3g}, and that of the {worth['best_naive']} {worth['naive_score']:.3g}",
        _no_better(worth),
    )


def _no_better(worth: Mapping[str, Any]) -> list[str]:
    """The names of the series that a naive forecast serves as well, as far as they are listed."""
    return [own["series"] for own in worth["by_series"] if own["better"] is not None and own["better"] <= 0]


def describe_worth(worth: Mapping[str, Any]) -> list[str]:
    """It in one or two lines for a person; none where nothing could be scored."""
    if worth["better"] is None:
        return []
    amount, inside = abs(worth["better"]), worth[COVERAGE]
    best = f"the best naive forecast, {worth['best_naive']}"
    line = f"{amount:.1%} better than {best}" if worth["better"] > 0 else f"{best}, is {amount:.1%} better"
    held = "" if inside is None else f"; the {LEVEL} % interval holds {inside:.1%}"
    lines = [f"{line} (standardised MAE {worth['score']:.3g} against {worth['naive_score']:.3g}){held}"]
    if worth["series_scored"] > 1:
        worse = _no_better(worth)
        many = worth["series_scored"] - worth["series_better"]
        shown = ", ".join(worse[:5]) + (f" and {many - 5} more" if many > 5 else "")
        lines.append(
            f"{worth['series_better']} of {worth['series_scored']} series are better than their own best naive forecast"
            + (f"; not: {shown}" if many else "")
        )
    return lines
