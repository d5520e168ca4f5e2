"""How the benchmark's commands read rows and write tables and times."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from olinear.cli.bench.options import Written
from olinear.cli.common import print_message
from olinear.core import ConfigError, DataError

if TYPE_CHECKING:
    from olinear.bench import ResultTable, Row

NARROWEST = 80  # characters; a narrower terminal breaks lines itself


def read_rows(folder: Path) -> "list[Row]":
    """The rows of a folder, or an error if there is none."""
    from olinear.bench import read_results

    rows = read_results(folder)
    if not rows:
        raise DataError(f"no results are in {folder}: make some with `olinear bench run --results {folder}`")
    return rows


def rows_of(folder: Path, model: str, variant: str = "main") -> "list[Row]":
    """The same; an error if none is of that model and variant."""
    rows = read_rows(folder)
    if not any((row.model, str(row.variant)) == (model, variant) for row in rows):
        kinds = ", ".join(sorted({f"{row.model} {row.variant}" for row in rows}))
        raise DataError(
            f"{folder} has no results of {model} {variant}, only of {kinds}: make some with "
            f"`olinear bench run --model {model} --variant {variant}`"
        )
    return rows


def check_out(out: Path | None, results: Path) -> None:
    """Refuse a file that would be read as results."""
    if out is not None and out.suffix == ".csv" and out.resolve().parent == results.resolve():
        raise ConfigError(f"{out} would be taken for a file of results: write it to another folder")


def deliver(table: "ResultTable", lines: list[str], written: Written, parts: "Sequence[ResultTable]" = ()) -> None:
    """A table and the lines beneath it, to a file or printed; in `parts` on a page, or where the terminal is narrow."""
    from olinear.bench import FORMATS, write_text

    format, out = written.format, written.out
    if out is None and format == "terminal":
        _print(table, parts or [table], lines)
        return
    *before, last = parts if parts and format in ("markdown", "latex") else [table]
    write = FORMATS[format]
    text = "\n".join([*(write(part, ()) for part in before), write(last, lines)])
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_text(text, out)
        print_message(f"{len(table.cells)} rows written to {out}")
    if format == "csv":  # which has no place for them
        for line in lines:
            print_message(line)


def _print(whole: "ResultTable", parts: "Sequence[ResultTable]", lines: list[str]) -> None:
    """The table, or its parts one below the other if the terminal is too narrow; the lines beneath."""
    from rich.console import Console
    from rich.measure import Measurement

    from olinear.bench import WIDE, rich_table

    terminal = Console()
    console = Console(width=max(terminal.width, NARROWEST) if terminal.is_terminal else WIDE)
    needed = Measurement.get(console, console.options.update_width(10 * WIDE), rich_table(whole)).maximum
    for table in [whole] if needed <= console.width else parts:
        console.print(rich_table(table))
        typer.echo()
    for line in lines:
        typer.echo(line)


def duration(seconds: float) -> str:
    """A length of time for people: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
