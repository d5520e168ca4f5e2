"""What a model has learnt: the spectrum of its basis, and what each series takes from each."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from olinear.evaluation.analysis.spectra import Spectrum
from olinear.evaluation.plots.lettering import Lettering
from olinear.evaluation.plots.saving import require_matplotlib
from olinear.evaluation.plots.style import FORECAST, hide_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Values = NDArray[np.floating]
MOST_BLOCKS = 3
MOST_LABELS = 25
LONGEST = 24  # of a label, in columns of a terminal


def plot_model(mixing: Sequence[Values], series: list[str], spectrum: Sequence[float]) -> "Figure":
    """The spectrum of the basis, and for each block what each series takes from each."""
    require_matplotlib()
    from matplotlib.figure import Figure

    shown = mixing[:MOST_BLOCKS]
    count = max(len(shown) + bool(spectrum), 1)
    figure = Figure(figsize=(4.6 * count, 4.3), layout="constrained")
    axes: list[Any] = list(figure.subplots(1, count, squeeze=False)[0])
    lettering, places = Lettering.of(series if len(series) <= MOST_LABELS else []), range(len(series))
    if spectrum:
        _draw_spectrum(axes.pop(0), spectrum)
    for block, (axis, matrix) in enumerate(zip(axes, shown, strict=False), start=1):
        image = axis.imshow(matrix, cmap="viridis", vmin=0)
        axis.set_title(f"NormLin of block {block}: row takes from column", fontsize=10)
        if len(series) <= MOST_LABELS:
            style: dict[str, Any] = {"fontsize": 7, "parse_math": False, "family": lettering.family}
            labels = [lettering.write(place, LONGEST) for place in places]
            axis.set_xticks(places, labels, rotation=90, **style)
            axis.set_yticks(places, labels, **style)
        figure.colorbar(image, ax=axis, shrink=0.8)
    if shown and len(series) <= MOST_LABELS:
        lettering.put_note(figure, places)
    return figure


def _draw_spectrum(axis: "Axes", spectrum: Sequence[float]) -> None:
    shares = Spectrum(spectrum).shares
    axis.plot(np.arange(1, len(shares) + 1), 100 * shares, color=FORECAST)
    axis.set_title("share of the variance in the first features", fontsize=10)
    axis.set_xlabel("features of OrthoTrans")
    axis.set_ylabel("per cent")
    axis.set_ylim(0, 102)
    hide_frame(axis)
