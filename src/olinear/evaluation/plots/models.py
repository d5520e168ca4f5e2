"""What a model has learnt: the spectrum of its basis, and what each series takes from each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from olinear.evaluation.plots.saving import require_matplotlib
from olinear.evaluation.plots.style import FORECAST, hide_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Values = NDArray[np.floating]
MOST_BLOCKS = 3
MOST_LABELS = 25


def plot_model(mixing: Sequence[Values], series: list[str], spectrum: Sequence[float]) -> "Figure":
    """The spectrum of the basis, and for each block what each series takes from each."""
    require_matplotlib()
    from matplotlib.figure import Figure

    shown = mixing[:MOST_BLOCKS]
    count = max(len(shown) + bool(spectrum), 1)
    figure = Figure(figsize=(4.6 * count, 4.3), layout="constrained")
    axes: list[Any] = list(figure.subplots(1, count, squeeze=False)[0])
    if spectrum:
        _draw_spectrum(axes.pop(0), spectrum)
    for block, (axis, matrix) in enumerate(zip(axes, shown, strict=False), start=1):
        image = axis.imshow(matrix, cmap="viridis", vmin=0)
        axis.set_title(f"NormLin of block {block}: row takes from column", fontsize=10)
        if len(series) <= MOST_LABELS:
            axis.set_xticks(range(len(series)), series, rotation=90, fontsize=7, parse_math=False)
            axis.set_yticks(range(len(series)), series, fontsize=7, parse_math=False)
        figure.colorbar(image, ax=axis, shrink=0.8)
    return figure


def _draw_spectrum(axis: "Axes", spectrum: Sequence[float]) -> None:
    share = np.cumsum(spectrum) / np.sum(spectrum)
    axis.plot(np.arange(1, len(share) + 1), 100 * share, color=FORECAST)
    axis.set_title("share of the variance in the first features", fontsize=10)
    axis.set_xlabel("features of OrthoTrans")
    axis.set_ylabel("per cent")
    axis.set_ylim(0, 102)
    hide_frame(axis)
