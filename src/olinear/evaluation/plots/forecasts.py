"""Forecasts with their history, intervals and actual values."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from olinear.data.frames import Panel
from olinear.evaluation.plots.saving import require_matplotlib
from olinear.evaluation.plots.style import ACTUAL, FORECAST, HISTORY, hide_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Values = NDArray[np.floating]
Bounds = Mapping[float, tuple[Values, Values]]  # level -> (low, high), each `h n`

MOST_PANELS = 6


def plot_forecast(
    history: Panel,
    forecast: Panel,
    bounds: Bounds | None = None,
    actual: Panel | None = None,
    std: Values | None = None,
    title: str = "",
) -> "Figure":
    """One panel a series (six at the most): history, forecast, shaded intervals and, if known, the actual values.

    With each series' usual standard deviation, `std`, no axis is stretched to show a movement smaller than a tenth of
    it.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    shown = min(len(forecast.series), MOST_PANELS)
    figure = Figure(figsize=(9, 1.1 + 1.45 * shown), layout="constrained")
    axes = figure.subplots(shown, 1, sharex=True, squeeze=False)[:, 0]
    for index, axis in enumerate(axes):
        _draw_series(axis, index, history, forecast, bounds or {}, actual)
        if std is not None:
            _widen(axis, 0.2 * float(std[index]))
    if history.frequency.kind != "integer":
        _date(axes[-1], forecast)
    hidden = len(forecast.series) - shown
    if hidden:
        part = f"the first {shown} of {len(forecast.series)} series"
        title = f"{title} ({part})" if title else part
    if title:
        figure.suptitle(title, fontsize=11)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9)
    return figure


def _date(axis: "Axes", panel: Panel) -> None:
    """Marks at round hours and days of the panel's own time zone."""
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    zone = getattr(panel.times, "tz", None)
    locator = AutoDateLocator(minticks=4, maxticks=9, tz=zone)
    axis.xaxis.set_major_locator(locator)
    axis.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=zone))


def _draw_series(
    axis: "Axes", index: int, history: Panel, forecast: Panel, bounds: Bounds, actual: Panel | None
) -> None:
    past, ahead = history.times, forecast.times
    if len(past):
        axis.plot(past, history.values[:, index], color=HISTORY, lw=1, label="history")
        axis.axvline(past[-1], color="#999999", lw=0.8, ls=":")
    for shade, (level, (low, high)) in enumerate(sorted(bounds.items(), reverse=True)):
        label = f"{level:g} % interval"
        alpha = 0.15 + 0.12 * shade
        if len(ahead) == 1:  # an area over one step has no width
            axis.vlines(ahead, low[:, index], high[:, index], color=FORECAST, alpha=alpha, lw=12, label=label)
        else:
            axis.fill_between(ahead, low[:, index], high[:, index], color=FORECAST, alpha=alpha, lw=0, label=label)
    if actual is not None:
        axis.plot(actual.times, actual.values[:, index], color=ACTUAL, lw=1.2, label="actual")
    marker = "o" if len(ahead) == 1 else None
    axis.plot(ahead, forecast.values[:, index], color=FORECAST, lw=1.6, marker=marker, label="forecast")
    axis.set_title(forecast.series[index], loc="left", fontsize=9, fontweight="bold", parse_math=False)
    axis.margins(x=0.01)
    axis.tick_params(labelsize=8)
    hide_frame(axis)


def _widen(axis: "Axes", smallest: float) -> None:
    low, high = axis.get_ylim()
    if high - low < smallest:
        middle = (low + high) / 2
        axis.set_ylim(middle - smallest / 2, middle + smallest / 2)
