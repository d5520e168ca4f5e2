"""Colours, and what every axis has in common."""

from typing import TYPE_CHECKING

from olinear.core import Note
from olinear.data.frames import Panel
from olinear.evaluation.plots.lettering import Lettering, add_note

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LARGEST = 60  # panels of a picture that can still be drawn and read
HISTORY, FORECAST, ACTUAL = "#4d4d4d", "#c8102e", "#1f77b4"


def hide_frame(axis: "Axes") -> None:
    """Leave the two axes, without the box around them."""
    axis.spines[["top", "right"]].set_visible(False)


def date_axis(axis: "Axes", panel: Panel) -> None:
    """Marks at round hours and days of the panel's own time zone; whole numbers stay whole numbers."""
    if panel.frequency.kind == "integer":
        return
    from matplotlib.dates import AutoDateLocator, ConciseDateFormatter

    zone = getattr(panel.times, "tz", None)
    locator = AutoDateLocator(minticks=4, maxticks=9, tz=zone)
    axis.xaxis.set_major_locator(locator)
    axis.xaxis.set_major_formatter(ConciseDateFormatter(locator, tz=zone))
    axis.xaxis.get_offset_text().set_fontsize(8)


def entitle(figure: "Figure", lettering: Lettering, title: str, shown: int, count: int) -> None:
    """The title, with what was left out of so many series."""
    if shown < count:
        part = f"the first {shown} of {count} series"
        title = f"{title} ({part})" if title else part
        add_note(figure, Note("plot-first-series", f"the picture shows {part}: series= chooses which"))
    if title:
        figure.suptitle(lettering.title(title), fontsize=11, family=lettering.family, parse_math=False)
