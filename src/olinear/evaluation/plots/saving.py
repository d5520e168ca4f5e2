"""Writing a picture, whole or not at all, and what is needed to draw one."""

from pathlib import Path
from typing import TYPE_CHECKING

from olinear.core import MissingDependencyError, OutputError
from olinear.core.runtime import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def save_figure(figure: "Figure", path: str | Path, dpi: int = 130) -> None:
    """Write the picture, with so many pixels an inch; its kind follows from the ending."""
    target = Path(path)
    kind = check_ending(target)
    try:
        with replacing(target) as part:
            figure.savefig(part, dpi=dpi, format=kind)
    except ValueError as error:
        raise OutputError(f"{path} cannot be written: {error}: use an ending such as .png, .svg or .pdf") from error


def check_ending(path: str | Path) -> str:
    """The kind of a picture by its ending; PNG without one."""
    from matplotlib.backend_bases import FigureCanvasBase

    kind = Path(path).suffix.removeprefix(".").lower() or "png"
    if kind not in FigureCanvasBase.get_supported_filetypes():
        hint = "use an ending such as .png, .svg or .pdf"
        raise OutputError(f"{path} cannot be written: no picture ends in .{kind}: {hint}")
    return kind


def require_matplotlib() -> None:
    """Name what to install if matplotlib is not here."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError("pictures need matplotlib: pip install 'olinear[plot]'") from error
