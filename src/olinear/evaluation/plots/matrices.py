"""Matrices side by side: a row a dataset, a column a kind."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from olinear.evaluation.plots.lettering import Lettering
from olinear.evaluation.plots.saving import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_LABELS = 12  # series whose names still fit beside a matrix of a grid
LONGEST = 16  # of a label, in columns of a terminal


@dataclass(frozen=True)
class MatrixPanel:
    """A matrix, what stands above it and what beneath.

    Args:
        kind: `weights` are dark at 0 and have a scale of their own; `correlation` goes from -1 to 1 through white;
            `signed` is that with a scale of its own.
        most: where the scale ends, if not at the largest entry: what is beyond has the last colour.
    """

    matrix: NDArray[np.floating]
    title: str = ""
    note: str = ""
    kind: Literal["weights", "correlation", "signed"] = "weights"
    most: float | None = None


def plot_matrices(
    rows: Sequence[Sequence[MatrixPanel]], names: Sequence[str] = (), title: str = "", labels: Sequence[str] = ()
) -> "Figure":
    """A grid of matrices.

    Args:
        rows: of panels; they may have different lengths.
        names: of the rows, written to their left.
        labels: of the series, written on both sides of each matrix of so many if there are few.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    columns = max(map(len, rows))
    width, height = (3.9, 4.1) if 0 < len(labels) <= MOST_LABELS else (2.45, 2.35)  # room for names, or none
    figure = Figure(figsize=(0.5 + width * columns, 0.4 + height * len(rows)), layout="constrained")
    axes = figure.subplots(len(rows), columns, squeeze=False)
    for row, (line, panels) in enumerate(zip(axes, rows, strict=True)):
        for axis, panel in zip(line, panels, strict=False):
            _draw(axis, panel)
            _label(axis, labels if len(labels) == len(panel.matrix) else ())
        for axis in line[len(panels) :]:
            axis.remove()
        if row < len(names):
            line[0].set_ylabel(names[row], fontsize=10, fontweight="bold", parse_math=False)
    if title:
        figure.suptitle(title, fontsize=11)
    return figure


def _draw(axis: "Axes", panel: MatrixPanel) -> None:
    largest = 1.0 if panel.kind == "correlation" else float(np.abs(panel.matrix).max()) or 1.0
    most = panel.most or largest
    style: dict[str, Any] = {"cmap": "viridis", "vmin": 0.0, "vmax": most}
    if panel.kind != "weights":
        style = {"cmap": "RdBu_r", "vmin": -most, "vmax": most}
    image = axis.imshow(panel.matrix, interpolation="nearest", aspect="auto", **style)
    axis.set_box_aspect(1)
    axis.set_title(panel.title, fontsize=9)
    axis.set_xlabel(panel.note, fontsize=8)
    axis.tick_params(labelsize=7)
    axis.figure.colorbar(image, ax=axis, shrink=0.75).ax.tick_params(labelsize=6)


def _label(axis: "Axes", labels: Sequence[str]) -> None:
    """Names of few series; else whole numbers as marks."""
    if labels and len(labels) <= MOST_LABELS:
        lettering, places = Lettering.of(labels), range(len(labels))
        style: dict[str, Any] = {"fontsize": 7, "parse_math": False, "family": lettering.family}
        written = [lettering.write(place, LONGEST) for place in places]
        axis.set_xticks(places, written, rotation=90, **style)
        axis.set_yticks(places, written, **style)
        return
    from matplotlib.ticker import MaxNLocator

    for side in (axis.xaxis, axis.yaxis):
        side.set_major_locator(MaxNLocator(4, integer=True))
