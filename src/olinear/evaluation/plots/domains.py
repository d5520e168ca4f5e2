"""Series and features side by side: windows, the same in a basis, both correlations, and the basis itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from olinear.evaluation.analysis import Decorrelation, WindowViews
from olinear.evaluation.plots.saving import require_matplotlib
from olinear.evaluation.plots.style import hide_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHADES = (0.85, 0.65, 0.45, 0.25)  # of one colour, the newest window the darkest
TITLES = (
    "windows that follow each other",
    "the sizes of their features",
    "correlation of steps",
    "Q, rows are features",
    "correlation of features",
)


@dataclass(frozen=True)
class DomainPicture:
    """A row of the picture: the name of the data, windows of one series, and the correlations of all."""

    name: str
    views: WindowViews
    found: Decorrelation


def plot_domains(pictures: Sequence[DomainPicture]) -> "Figure":
    """A row a dataset: its windows and their features, the correlations of both, and the basis between them."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13.5, 0.7 + 2.35 * len(pictures)), layout="constrained")
    axes = figure.subplots(len(pictures), 5, squeeze=False, width_ratios=(1.3, 1.3, 1, 1, 1))
    for line, picture in zip(axes, pictures, strict=True):
        views, found = picture.views, picture.found
        _draw_lines(line[0], views.windows, f"neighbours' correlation {views.likeness_of_steps:.2f}")
        _draw_lines(line[1], np.abs(views.features), f"neighbours' correlation {views.likeness_of_features:.2f}")
        _draw_matrix(line[2], found.steps, 1.0, f"mean size off the diagonal {found.of_steps:.3f}")
        _draw_matrix(line[3], found.basis, float(np.abs(found.basis).max()), f"{len(found.basis)} steps")
        _draw_matrix(line[4], found.features, 1.0, f"mean size off the diagonal {found.of_features:.3f}")
        line[0].set_ylabel(picture.name, fontsize=10, fontweight="bold", parse_math=False)
    for axis, title in zip(axes[0], TITLES, strict=True):
        axis.set_title(title, fontsize=10)
    return figure


def _draw_lines(axis: "Axes", lines: NDArray[np.floating], note: str) -> None:
    from matplotlib import colormaps

    for line, shade in zip(lines, np.interp(np.linspace(0, 1, len(lines)), np.linspace(0, 1, 4), SHADES), strict=True):
        axis.plot(line, color=colormaps["inferno"](1 - shade), lw=1.1)
    axis.set_xlabel(note, fontsize=8)
    axis.tick_params(labelsize=7)
    axis.margins(x=0.01)
    hide_frame(axis)


def _draw_matrix(axis: "Axes", matrix: NDArray[np.floating], most: float, note: str) -> None:
    image = axis.imshow(matrix, cmap="RdBu_r", vmin=-most, vmax=most, interpolation="nearest")
    axis.set_xlabel(note, fontsize=8)
    axis.tick_params(labelsize=7)
    axis.figure.colorbar(image, ax=axis, shrink=0.8).ax.tick_params(labelsize=6)
