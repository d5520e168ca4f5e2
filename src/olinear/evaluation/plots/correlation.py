"""Correlations before and after OrthoTrans."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from olinear.evaluation.plots.saving import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Values = NDArray[np.floating]


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
