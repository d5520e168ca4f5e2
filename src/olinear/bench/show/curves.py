"""Curves as a table, in words and as a picture."""

import math
from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

from olinear.bench.read.curves import Curve, Kind
from olinear.bench.show.scores import seeds_in_words
from olinear.bench.show.tables import Column, ResultTable
from olinear.evaluation.plots import FORECAST, HISTORY, require_matplotlib
from olinear.models import MAIN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ABOUT: dict[Kind, str] = {
    "lookback": "lookback",
    "share": "share of the training rows",
    "lr": "learning rate",
    "blocks": "blocks",
    "width": "width of the model",
    "embed": "embedding size",
}
LOGARITHMIC = ("lr", "width", "embed")
ACROSS = 3  # panels side by side
OTHERS = ("#1f77b4", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf")


def curve_table(curves: Sequence[Curve], kind: Kind, metric: str) -> ResultTable:
    """A row a point; the least error of a curve is bold."""
    columns = [Column("dataset", False), Column("lookback"), Column("horizons", False), Column("model", False)]
    columns += [Column(kind, False), Column(metric), Column("seeds")]
    table = ResultTable(columns, [])
    for curve in curves:
        least = min(point.error for point in curve.points)
        for point in curve.points:
            if point.error == least:
                table.bold.add((len(table.cells), 5))
            over = ",".join(map(str, curve.horizons))
            place = [curve.dataset, curve.lookback, over, curve.model]
            table.cells.append([*place, f"{point.x:g}", point.error, point.seeds])
    return table


def curve_lines(curves: Sequence[Curve]) -> list[str]:
    """What a point is."""
    seeds = [point.seeds for curve in curves for point in curve.points]
    return [
        f"Each point is the mean over {seeds_in_words(min(seeds), max(seeds))} and the horizons named. The paper draws "
        "such curves and prints no numbers."
    ]


def draw_curves(curves: Sequence[Curve], kind: Kind, metric: str) -> "Figure":
    """A panel a dataset, a line a model; less data is to the right, as in the paper."""
    require_matplotlib()
    from matplotlib.figure import Figure

    places = list(dict.fromkeys(curve.place for curve in curves))
    models = list(dict.fromkeys(curve.model for curve in curves))
    colours = dict(zip((name for name in models if name != MAIN), cycle(OTHERS), strict=False)) | {MAIN: FORECAST}
    across = min(len(places), ACROSS)
    down = math.ceil(len(places) / across)
    figure = Figure(figsize=(3.6 * across + 1.2, 2.9 * down + 0.6), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).flatten()
    for axis, place in zip(panels, places, strict=False):
        for curve in (curve for curve in curves if curve.place == place):
            style: dict[str, Any] = {"color": colours[curve.model], "lw": 1.8 if curve.model == MAIN else 1.1}
            axis.plot(*zip(*((x, error) for x, error, _ in curve.points), strict=True), "o-", ms=4, **style)
        _dress(axis, place, kind, metric, sorted({point.x for curve in curves for point in curve.points}))
    for axis in panels[len(places) :]:
        axis.set_visible(False)
    handles = [panels[0].plot([], [], "o-", color=colours[model], ms=4)[0] for model in models]
    figure.legend(handles, models, loc="outside lower center", ncols=min(len(models), 6), frameon=False, fontsize=9)
    return figure


def _dress(axis: "Axes", place: str, kind: Kind, metric: str, ticks: Sequence[float]) -> None:
    if kind in LOGARITHMIC:
        axis.set_xscale("log")
    axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks], fontsize=8, rotation=45 if len(ticks) > 5 else 0)
    axis.minorticks_off()
    if kind == "share":
        axis.invert_xaxis()
    axis.grid(color="#eeeeee")
    axis.set_axisbelow(True)
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_title(place.replace("->", " → "), loc="left", fontsize=10, color=HISTORY)
    axis.set_xlabel(ABOUT[kind], fontsize=9)
    axis.set_ylabel(metric, fontsize=9)
