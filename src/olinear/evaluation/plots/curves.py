"""Curves in small panels: shares of the variance, and costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from olinear.evaluation.analysis import Spectrum
from olinear.evaluation.plots.saving import require_matplotlib
from olinear.evaluation.plots.style import ACTUAL, FORECAST, HISTORY, hide_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (FORECAST, ACTUAL, HISTORY, "#2ca02c", "#ff7f0e", "#9467bd", "#8c564b")
STYLES: dict[str, dict[str, Any]] = {
    "line": {"lw": 1.5},
    "dashed": {"lw": 1.2, "ls": "--"},
    "marks": {"ls": "none", "marker": "o", "ms": 4},
}
MOST_COLUMNS = 4


@dataclass(frozen=True)
class Curve:
    """A line through points, or marks alone; in the colour of another curve, if that is named."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    kind: Literal["line", "dashed", "marks"] = "line"
    like: str = ""


@dataclass(frozen=True)
class CurvePanel:
    """Curves on two axes, which may be logarithmic."""

    title: str
    curves: Sequence[Curve]
    x_label: str = ""
    y_label: str = ""
    log: tuple[bool, bool] = (False, False)
    limits: tuple[float | None, float | None] = (None, None)  # of the vertical axis


def plot_curves(panels: Sequence[CurvePanel]) -> "Figure":
    """A panel beside the other, curves of one name in one colour, one legend for all."""
    require_matplotlib()
    from matplotlib.figure import Figure

    columns = min(len(panels), MOST_COLUMNS)
    lines = -(-len(panels) // columns)
    figure = Figure(figsize=(0.4 + (3.1 if columns > 2 else 4.6) * columns, 0.7 + 2.9 * lines), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    named = {curve.name: curve.like or curve.name for panel in panels for curve in panel.curves}
    colours = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(dict.fromkeys(named.values()))}
    handles: dict[str, Any] = {}
    for axis, panel in zip(axes, panels, strict=False):
        for curve in panel.curves:
            (handle,) = axis.plot(curve.x, curve.y, color=colours[named[curve.name]], **STYLES[curve.kind])
            handles.setdefault(curve.name, handle)
        _dress(axis, panel)
    for axis in axes[len(panels) :]:
        axis.remove()
    if len(named) > 1:
        place: dict[str, Any] = {"loc": "outside lower center", "ncols": min(len(named), 5), "frameon": False}
        figure.legend(handles.values(), handles.keys(), fontsize=9, **place)
    return figure


def plot_compaction(found: Mapping[str, Mapping[str, Spectrum]]) -> "Figure":
    """What share of the variance the first features of each basis hold, a panel a dataset."""
    panels = []
    for name, spectra in found.items():
        curves = [
            Curve(basis, np.arange(1, len(spectrum) + 1).tolist(), (100 * spectrum.shares).tolist())
            for basis, spectrum in spectra.items()
        ]
        labels = {"x_label": "features", "y_label": "per cent of the variance"}
        panels.append(CurvePanel(name, curves, **labels, log=(True, False), limits=(0, 102)))
    return plot_curves(panels)


def _dress(axis: "Axes", panel: CurvePanel) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    for side, log, steps in (("x", panel.log[0], (1.0, 2.0, 5.0)), ("y", panel.log[1], (1.0,))):
        if log:
            axis.set(**{f"{side}scale": "log"})
            marks = getattr(axis, f"{side}axis")
            marks.set_major_locator(LogLocator(subs=steps))
            marks.set_major_formatter(lambda value, place: f"{value:g}")
            marks.set_minor_formatter(NullFormatter())
    axis.set_ylim(*panel.limits)
    axis.set_title(panel.title, fontsize=10, parse_math=False)
    axis.set_xlabel(panel.x_label, fontsize=9)
    axis.set_ylabel(panel.y_label, fontsize=9)
    axis.tick_params(labelsize=8)
    hide_frame(axis)
