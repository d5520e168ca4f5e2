"""What the commands share: options, output for people and for machines."""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olinear.cli.errors import in_options, visible
from olinear.core import ConfigError, Note

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PIPED = 10_000  # columns of a table that no terminal shows
LEAST = 12  # columns for a name, however narrow the terminal
GUTTER = 2  # columns between two columns of a table

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Plot = Annotated[str | None, typer.Option(metavar="FILE", help="Draw a picture: .png, .svg or .pdf.")]
Names = Annotated[
    list[str] | None,
    typer.Option("--series", metavar="NAME", help="These alone; may be repeated, or have commas between names."),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="AMOUNT",
        help="How much to take, such as 2GB, 500MB or 50% of what is free.",
        show_default="a quarter of what is free",
    ),
]


def check_picture(path: str | None) -> None:
    """Refuse a picture that could not be drawn or written, before any work is done for it."""
    if path is None:
        return
    from olinear.data.frames import check_writable
    from olinear.evaluation.plots import check_ending, require_matplotlib

    if path in ("", "-"):
        raise ConfigError("a picture needs a file: --plot forecast.png")
    require_matplotlib()
    check_ending(path)
    check_writable(path)


def check_data_folder(folder: Path | None, option: str = "--data") -> None:
    """Refuse a folder of data that is none."""
    if folder is not None and not folder.expanduser().is_dir():
        raise ConfigError(f"{option} must be a folder, found {folder}: check the spelling")


def refuse_given(context: typer.Context, names: Sequence[str], why: str) -> None:
    """Refuse options that would be ignored, if they were given on the command line."""
    for name in names:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise ConfigError(f"--{name.replace('_', '-')} {why}")


def print_message(text: str = "") -> None:
    """Print a message for a person on standard error; standard output stays for data."""
    typer.echo(text, err=True)


def print_notes(notes: Sequence[str]) -> None:
    """Notes for a person, in the command's own words."""
    for note in notes:
        print_message(f"note: {visible(in_options(str(note)))}")


class NotesOnce:
    """Prints notes when they come up, and no note twice."""

    def __init__(self) -> None:
        self.printed: set[str] = set()

    def __call__(self, note: str) -> None:
        print_notes([note])
        self.printed.add(note)

    def rest(self, notes: Sequence[str]) -> None:
        """Print those that have not been printed."""
        print_notes([note for note in notes if note not in self.printed])


def print_json(data: Any) -> None:
    """Strict JSON: what is not a number is null."""
    typer.echo(json.dumps(_plain(data), indent=2, default=str))


def _plain(data: Any) -> Any:
    if isinstance(data, Note):
        return data.as_object()
    if isinstance(data, dict):
        return {str(key): _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None) -> None:
    """A table for a terminal: text to the left, numbers to the right with four digits, and none of them cut.

    Where it is wider than the terminal, names are folded, and columns that still find no room follow as a second table,
    below the first and with the same names. In a pipe a row is one line.
    """
    if title:
        typer.echo(title)
    width = _width()
    numeric = [bool(rows) and all(isinstance(row[each], int | float) for row in rows) for each in range(len(columns))]
    cells = [[_cell(value) for value in row] for row in rows]
    wide = [max(map(_cells, [name, *(row[each] for row in cells)])) for each, name in enumerate(columns)]
    first, *others = [room if numeric[each] else min(room, max(width // 3, LEAST)) for each, room in enumerate(wide)]
    for number, part in enumerate(_blocks(others, width - first)):
        if number:
            typer.echo()
        places = [0, *(place + 1 for place in part)]
        _draw_table(
            [(columns[place], "right" if numeric[place] else "left", numeric[place]) for place in places],
            [[row[place] for place in places] for row in cells],
            width,
        )


def print_wide(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table whose last column is as long as it must be: folded on a terminal, one line a row in a pipe."""
    _draw_table([(name, "left", name != columns[-1]) for name in columns], rows, _width())


def _width() -> int:
    """Columns of the terminal; a line in a pipe has no end."""
    from rich.console import Console

    console = Console()
    return console.width if console.is_terminal else PIPED


def _cells(text: str) -> int:
    from rich.cells import cell_len

    return cell_len(text)


def _blocks(widths: Sequence[int], room: int) -> list[list[int]]:
    """Columns in the order they have, in as few tables as such a room allows, at least one column in each."""
    blocks: list[list[int]] = [[]]
    left = room
    for place, width in enumerate(widths):
        if blocks[-1] and width + GUTTER > left:
            blocks.append([])
            left = room
        blocks[-1].append(place)
        left -= width + GUTTER
    return blocks


def _draw_table(columns: Sequence[tuple[str, Any, bool]], rows: Sequence[Sequence[str]], width: int) -> None:
    """Columns are (name, side, whether each cell stays on one line)."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=any(name for name, *_ in columns))
    for name, side, whole in columns:
        table.add_column(Text(name), justify=side, no_wrap=whole, overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))  # Text: a name may hold [brackets]
    console = Console(width=width)
    with console.capture() as drawn:
        console.print(table)
    for line in drawn.get().splitlines():
        typer.echo(line.rstrip())


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    return visible(str(value))


def parse_levels(text: str) -> list[float]:
    """`80,95` as numbers."""
    from olinear.forecaster import check_levels

    try:
        levels = [float(part) for part in text.replace(" ", "").split(",") if part]
    except ValueError as error:
        raise ConfigError(f"levels must be numbers such as 80,95, found {text!r}") from error
    return check_levels(levels)


def draw(make: Callable[[], "Figure"], path: str) -> None:
    """Make a picture and write it, with its notes."""
    from olinear.core.runtime import Waiting
    from olinear.evaluation.plots import figure_notes, save_figure

    with Waiting("drawing"):
        figure = make()
        save_figure(figure, path)
    print_notes(figure_notes(figure))
    print_message(f"drawn to {path}")
