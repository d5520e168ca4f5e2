"""What the commands share: options, output for people and for machines."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from olinear.cli.errors import in_options
from olinear.core import ConfigError, Note

Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Plot = Annotated[str | None, typer.Option(metavar="FILE", help="Draw a picture: .png, .svg or .pdf.")]

Memory = Annotated[
    str | None,
    typer.Option(
        metavar="AMOUNT",
        help="How much to take, such as 2GB, 500MB or 50% of what is free.",
        show_default="a quarter of what is free",
    ),
]


def check_picture(path: str | None) -> None:
    """Refuse a picture that could not be written, before any work is done for it."""
    from olinear.data.frames import check_writable

    if path == "-":
        raise ConfigError("a picture needs a file: --plot forecast.png")
    if path is not None:
        check_writable(path)


def check_data_folder(folder: Path | None) -> None:
    """Refuse a --data that is no folder."""
    if folder is not None and not folder.expanduser().is_dir():
        raise ConfigError(f"--data must be a folder, found {folder}: check the spelling")


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
    for note in notes:
        print_message(f"note: {in_options(note)}")


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
    """A table for a terminal: text to the left, numbers to the right with four digits."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    if title:
        typer.echo(title)
    table = Table(box=None, pad_edge=False)
    for index, column in enumerate(columns):
        numeric = all(isinstance(row[index], int | float) for row in rows)
        table.add_column(Text(column), justify="right" if numeric else "left", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(_cell(value)) for value in row))  # Text: a name may hold [brackets]
    width = None if Console().is_terminal else 200
    Console(width=width).print(table)


def print_wide(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    """A table whose last column is as long as it must be: folded on a terminal, one line a row in a pipe."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    piped = not Console().is_terminal
    table = Table(box=None, pad_edge=False)
    for column in columns:
        table.add_column(Text(column), no_wrap=piped or column != columns[-1], overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    console = Console(width=10_000 if piped else None)
    with console.capture() as drawn:
        console.print(table)
    for line in drawn.get().splitlines():
        typer.echo(line.rstrip())


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    return str(value)


def parse_levels(text: str) -> list[float]:
    """`80,95` as numbers."""
    try:
        levels = [float(part) for part in text.replace(" ", "").split(",") if part]
    except ValueError as error:
        raise ConfigError(f"levels must be numbers such as 80,95, found {text!r}") from error
    from olinear.forecaster import check_level

    for level in levels:
        check_level(level)
    return levels
