"""Colours, and what every axis has in common."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HISTORY, FORECAST, ACTUAL = "#4d4d4d", "#c8102e", "#1f77b4"


def hide_frame(axis: "Axes") -> None:
    """Leave the two axes, without the box around them."""
    axis.spines[["top", "right"]].set_visible(False)
