"""Forecasts with their history, intervals and actual values."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from olinear.data.frames import Panel
from olinear.evaluation.plots.lettering import Lettering
from olinear.evaluation.plots.saving import require_matplotlib
from olinear.evaluation.plots.style import ACTUAL, FORECAST, HISTORY, LARGEST, date_axis, entitle, hide_frame

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
    *,
    most: int | None = None,
) -> "Figure":
    """One panel a series: history, forecast, shaded intervals and the actual values, if known.

    The first six, or as many as `most`, up to 60.

    With each series' usual standard deviation, `std`, no axis is stretched to show a movement smaller than a tenth of
    it.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    shown = min(len(forecast.series), most or MOST_PANELS, LARGEST)
    lettering = Lettering.of([*forecast.series[:shown], title])
    figure = Figure(figsize=(9, 1.1 + 1.45 * shown), layout="constrained")
    axes = figure.subplots(shown, 1, sharex=True, squeeze=False)[:, 0]
    for index, axis in enumerate(axes):
        _draw_series(axis, index, history, forecast, bounds or {}, actual)
        style: dict[str, Any] = {"fontsize": 9, "fontweight": "bold", "family": lettering.family}
        axis.set_title(lettering.write(index), loc="left", parse_math=False, **style)
        if std is not None:
            _widen(axis, 0.2 * float(std[index]))
    date_axis(axes[-1], forecast)
    entitle(figure, lettering, title, shown, len(forecast.series))
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9)
    lettering.put_note(figure, range(shown))
    return figure


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
    axis.margins(x=0.01)
    axis.tick_params(labelsize=8)
    hide_frame(axis)


def _widen(axis: "Axes", smallest: float) -> None:
    low, high = axis.get_ylim()
    if high - low < smallest:
        middle = (low + high) / 2
        axis.set_ylim(middle - smallest / 2, middle + smallest / 2)
