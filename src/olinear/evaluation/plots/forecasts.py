"""Pictures for people: forecasts with their intervals, correlations, and what a model has learnt."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from olinear.core import MissingDependencyError, OutputError
from olinear.core.runtime import replacing
from olinear.data.frames import Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Values = NDArray[np.floating]
Bounds = Mapping[float, tuple[Values, Values]]  # level -> (low, high), each `h n`

HISTORY, FORECAST, ACTUAL = "#4d4d4d", "#c8102e", "#1f77b4"
MOST_PANELS = 6
MOST_LABELS = 25


def plot_forecast(
    history: Panel,
    forecast: Panel,
    bounds: Bounds | None = None,
    actual: Panel | None = None,
    deviation: Values | None = None,
    title: str = "",
) -> "Figure":
    """One panel a series (six at the most): history, forecast, shaded intervals and, if known, what came.

    With each series' usual `deviation`, no axis is stretched to show a movement smaller than a tenth of it.
    """
    require_matplotlib()
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
    from matplotlib.figure import Figure

    shown = min(len(forecast.series), MOST_PANELS)
    figure = Figure(figsize=(9, 1.1 + 1.45 * shown), layout="constrained")
    axes = figure.subplots(shown, 1, sharex=True, squeeze=False)[:, 0]
    for index, axis in enumerate(axes):
        _draw_series(axis, index, history, forecast, bounds or {}, actual)
        if deviation is not None:
            _widen(axis, 0.2 * float(deviation[index]))
    if history.frequency.kind != "integer":
        locator = AutoDateLocator(minticks=4, maxticks=9, tz=getattr(forecast.times, "tz", None))
        axes[-1].xaxis.set_major_locator(locator)
        axes[-1].xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=getattr(forecast.times, "tz", None)))
    hidden = len(forecast.series) - shown
    if hidden:
        part = f"the first {shown} of {len(forecast.series)} series"
        title = f"{title} ({part})" if title else part
    if title:
        figure.suptitle(title, fontsize=11)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, fontsize=9)
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
    axis.set_title(forecast.series[index], loc="left", fontsize=9, fontweight="bold", parse_math=False)
    axis.margins(x=0.01)
    axis.tick_params(labelsize=8)
    axis.spines[["top", "right"]].set_visible(False)


def _widen(axis: "Axes", least: float) -> None:
    low, high = axis.get_ylim()
    if high - low < least:
        middle = (low + high) / 2
        axis.set_ylim(middle - least / 2, middle + least / 2)


def plot_correlation(before: Values, after: Values, unit: str = "step") -> "Figure":
    """The temporal correlation matrix as it is and after OrthoTrans, side by side on one colour scale."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.2), layout="constrained")
    axes = figure.subplots(1, 2)
    image: Any = None
    for axis, matrix, title, label in (
        (axes[0], before, "time steps: correlated", unit),
        (axes[1], after, "after OrthoTrans: features nearly uncorrelated", "feature"),
    ):
        image = axis.imshow(matrix, cmap="RdBu_r", vmin=-1, vmax=1)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel(label)
        axis.set_ylabel(label)
    figure.colorbar(image, ax=axes, label="correlation", shrink=0.85)
    return figure


def plot_model(mixing: list[Values], series: list[str], spectrum: list[float]) -> "Figure":
    """The spectrum of the basis, and for each block what each series takes from each."""
    require_matplotlib()
    from matplotlib.figure import Figure

    shown = mixing[:3]
    count = max(len(shown) + bool(spectrum), 1)
    figure = Figure(figsize=(4.6 * count, 4.3), layout="constrained")
    axes: list[Any] = list(figure.subplots(1, count, squeeze=False)[0])
    if spectrum:
        axis = axes.pop(0)
        share = np.cumsum(spectrum) / np.sum(spectrum)
        axis.plot(np.arange(1, len(share) + 1), 100 * share, color=FORECAST)
        axis.set_title("share of the variance in the first features", fontsize=10)
        axis.set_xlabel("features of OrthoTrans")
        axis.set_ylabel("per cent")
        axis.set_ylim(0, 102)
        axis.spines[["top", "right"]].set_visible(False)
    for block, (axis, matrix) in enumerate(zip(axes, shown, strict=False), start=1):
        image = axis.imshow(matrix, cmap="viridis", vmin=0)
        axis.set_title(f"NormLin of block {block}: row takes from column", fontsize=10)
        if len(series) <= MOST_LABELS:
            axis.set_xticks(range(len(series)), series, rotation=90, fontsize=7, parse_math=False)
            axis.set_yticks(range(len(series)), series, fontsize=7, parse_math=False)
        figure.colorbar(image, ax=axis, shrink=0.8)
    return figure


def save_figure(figure: "Figure", path: str | Path) -> None:
    """Write the picture; its kind follows from the ending."""
    target = Path(path)
    try:
        with replacing(target) as part:
            figure.savefig(part, dpi=130, format=target.suffix.removeprefix(".") or "png")
    except ValueError as error:
        raise OutputError(f"{path} cannot be written: {error}: use an ending such as .png, .svg or .pdf") from error


def require_matplotlib() -> None:
    """Say what to install if matplotlib is not here."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError("pictures need matplotlib: pip install 'olinear[plot]'") from error
