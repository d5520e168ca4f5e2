"""Forecasts of test windows that the benchmark kept, drawn."""

from pathlib import Path
from statistics import fmean

import numpy as np

from olinear.bench.figures.looking import Show
from olinear.bench.figures.registry import FigureRow, Places, save_small
from olinear.bench.show.report_forecasts import Forecasts, Window
from olinear.bench.spec.identity import FIRST_SEED
from olinear.bench.spec.task import published
from olinear.core import DataError
from olinear.evaluation.plots import Curve, CurvePanel, plot_curves
from olinear.models import MAIN

MOST = 12  # datasets in the picture; the numbers are of all


def forecasts(folder: Path, places: Places, show: Show) -> list[FigureRow]:
    """The middle one of each dataset's three windows; errors of all three, next to those of the last value."""
    rows, panels = list[FigureRow](), {}
    for found in read_kept(places.results):
        name = str(found.key)
        naive = [each.model_copy(update={"forecast": [each.history[-1]] * len(each.actual)}) for each in found.windows]
        rows += [
            FigureRow(name, "MSE of the kept windows", fmean(map(_error, found.windows))),
            FigureRow(name, "MSE of the kept windows, last value", fmean(map(_error, naive))),
        ]
        panels[found.dataset] = _panel(name, found.windows[len(found.windows) // 2])
    if not panels:
        raise DataError(f"{places.results / 'forecasts'} has no forecasts: make some with `olinear bench run`")
    save_small(plot_curves(list(panels.values())[:MOST]), folder / "forecasts.png")
    return rows


def read_kept(results: Path) -> list[Forecasts]:
    """OLinear's, of its main variant and first seed, in the order of the published tables."""
    order = {key: place for place, key in enumerate(published())}
    files = (Forecasts.model_validate_json(path.read_bytes()) for path in (results / "forecasts").glob("*.json"))
    kept = [
        each
        for each in files
        if (each.model, each.variant, each.seed) == (MAIN, "main", FIRST_SEED) and each.key in order and each.windows
    ]
    return sorted(kept, key=lambda each: order[each.key])


def _panel(name: str, window: Window) -> CurvePanel:
    past, ahead = len(window.history), len(window.actual)
    steps = list(range(1 - past, ahead + 1))
    join = window.history[-1:]  # so that what follows begins where the history ends
    curves = [
        Curve("forecast", steps[past - 1 :], [*join, *window.forecast]),
        Curve("actual", steps[past - 1 :], [*join, *window.actual]),
        Curve("history", steps[:past], window.history),
    ]
    return CurvePanel(name, curves, "steps from the last known one")


def _error(window: Window) -> float:
    return float(np.mean((np.array(window.forecast) - np.array(window.actual)) ** 2))
