"""The series as they came: gaps, outliers, and those that never move or have stopped."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from olinear.data.frames import Panel
from olinear.evaluation.analysis.describing import SeriesSummary, describe_series, find_outliers
from olinear.evaluation.plots.lettering import Lettering
from olinear.evaluation.plots.saving import require_matplotlib
from olinear.evaluation.plots.style import FORECAST, HISTORY, LARGEST, date_axis, entitle, hide_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Values = NDArray[np.float64]
MOST_PANELS = 12
ONE_COLUMN = 4  # series that stand one above the other; more stand in two columns
BINS = 1000  # stretches of rows that a panel is as wide as: of each the lowest and the highest value are drawn
LONGEST = {1: 60, 2: 28}  # of a name, in columns of a terminal, with so many panels side by side
GAP = "#f2c14e"


def plot_series(panel: Panel, title: str = "", *, most: int | None = None) -> "Figure":
    """One panel a series (the first twelve, or as many as `most`, up to 60), with gaps shaded and outliers marked.

    An axis shows what is usual: an outlier stands at its edge. What never moves, or has no value at the end, is said
    next to its name.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    shown = min(len(panel.series), most or MOST_PANELS, LARGEST)
    columns = 1 if shown <= ONE_COLUMN else 2
    rows = -(-shown // columns)
    lettering = Lettering.of([*panel.series[:shown], title])
    figure = Figure(figsize=(10, 1.0 + 1.5 * rows), layout="constrained")
    grid = figure.subplots(rows, columns, sharex=True, squeeze=False)
    axes = list(grid.T.ravel())  # the series run down, column by column
    summaries = describe_series(panel.values[:, :shown], panel.series[:shown])
    for place, (axis, summary) in enumerate(zip(axes, summaries, strict=False)):
        style: dict[str, Any] = {"fontsize": 9, "fontweight": "bold", "family": lettering.family}
        axis.set_title(lettering.write(place, LONGEST[columns]), loc="left", parse_math=False, **style)
        values = panel.values[:, place]
        far = find_outliers(values)
        axis.set_title(_remark(summary, values[far]), loc="right", fontsize=8, color=FORECAST)
        _draw(axis, panel, values, far)
    for axis in axes[shown:]:
        axis.remove()
    for column in range(columns):
        bottom = axes[min(shown, rows * (column + 1)) - 1]
        bottom.tick_params(labelbottom=True)
        date_axis(bottom, panel)
    entitle(figure, lettering, title, shown, len(panel.series))
    _put_legend(figure, axes[:shown])
    lettering.put_note(figure, range(shown))
    return figure


def _remark(summary: SeriesSummary, outliers: Values) -> str:
    """What a person should see at once."""
    remarks = []
    if np.isnan(summary.mean):
        remarks.append("no value at all")
    elif summary.constant:
        remarks.append(f"constant at {summary.mean:.4g}")
    if len(outliers):
        count = "1 outlier" if len(outliers) == 1 else f"{len(outliers)} outliers"
        remarks.append(f"{count} ({outliers[np.abs(outliers).argmax()]:.4g})")
    if summary.stale and not np.isnan(summary.mean):
        remarks.append(
            f"no value in the last {summary.stale} rows" if summary.stale > 1 else "no value in the last row"
        )
    return ", ".join(remarks)


def _draw(axis: "Axes", panel: Panel, values: Values, far: NDArray[np.bool_]) -> None:
    usual = np.where(far, np.nan, values)
    rows = _thinned(usual)
    axis.plot(panel.times[rows], usual[rows], color=HISTORY, lw=0.8)
    alone = _alone(usual)[rows]
    if alone.any():
        axis.plot(panel.times[rows][alone], usual[rows][alone], ".", color=HISTORY, ms=3)
    for first, last in _gaps(np.isnan(values)):
        axis.axvspan(panel.times[first], panel.times[last], color=GAP, alpha=0.45, lw=0.8, label="no value")
    if far.any():
        _mark(axis, panel, values, far)
    axis.margins(x=0.01)
    axis.tick_params(labelsize=8)
    hide_frame(axis)


def _thinned(values: Values) -> NDArray[np.intp]:
    """The rows to draw: all, or of each of a thousand stretches the lowest, the highest and an empty one."""
    if len(values) <= 2 * BINS:
        return np.arange(len(values))
    rows: set[int] = set()
    for stretch in np.array_split(np.arange(len(values)), BINS):
        part = values[stretch]
        empty = np.isnan(part)
        if empty.any():
            rows.add(int(stretch[empty.argmax()]))
        if not empty.all():
            rows |= {int(stretch[np.nanargmin(part)]), int(stretch[np.nanargmax(part)])}
    return np.array(sorted(rows), dtype=np.intp)


def _alone(values: Values) -> NDArray[np.bool_]:
    """Values without a neighbour, of which a line shows nothing."""
    empty = np.concatenate([[True], np.isnan(values), [True]])
    return ~empty[1:-1] & empty[:-2] & empty[2:]


def _gaps(missing: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last row of each stretch without a value, from the value before it to the value after it.

    Of many rows, gaps that a reader could not tell apart are one.
    """
    step = max(len(missing) // BINS, 1)
    rows = np.flatnonzero(missing)
    if not len(rows):
        return []
    breaks = np.flatnonzero(np.diff(rows) > step) + 1
    ends = [(part[0], part[-1]) for part in np.split(rows, breaks)]
    last = len(missing) - 1
    return [(max(int(first) - 1, 0), min(int(end) + 1, last)) for first, end in ends]


def _mark(axis: "Axes", panel: Panel, values: Values, far: NDArray[np.bool_]) -> None:
    """Outliers at the edge they lie beyond."""
    middle = np.nanmedian(values)
    for above, marker, edge in ((True, "^", 1.0), (False, "v", 0.0)):
        rows = np.flatnonzero(far & ((values > middle) == above))
        if not len(rows):
            continue
        style: dict[str, Any] = {"transform": axis.get_xaxis_transform(), "clip_on": False, "zorder": 3}
        drawn = rows[:: max(len(rows) // BINS, 1)]
        heights = np.full(len(drawn), edge)
        axis.plot(panel.times[drawn], heights, marker, color=FORECAST, ms=5, label="outlier", **style)


def _put_legend(figure: "Figure", axes: "list[Axes]") -> None:
    """What the marks mean, if there are any."""
    found: dict[str, Any] = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if found:
        place: dict[str, Any] = {"loc": "outside lower center", "ncols": len(found), "frameon": False}
        figure.legend(found.values(), found.keys(), fontsize=9, **place)
