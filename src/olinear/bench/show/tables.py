"""A table of anything: one list of columns, one list of cells, and a writer for each format."""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from olinear.core.runtime import replacing

if TYPE_CHECKING:
    from rich.table import Table

WIDE = 200  # characters, where no terminal says how many it has
Format = Literal["terminal", "markdown", "csv", "latex"]
Cell = str | int | float | None


@dataclass(frozen=True)
class Column:
    """A heading; numbers stand to the right, those with a fraction with so many decimals."""

    name: str
    is_number: bool = True
    decimals: int = 3  # as in the published tables

    def show(self, cell: Cell) -> str:
        """A cell as people read it; nothing for what is not there."""
        if isinstance(cell, float):
            return f"{cell:.{self.decimals}f}"
        return "" if cell is None else str(cell)


@dataclass(frozen=True)
class ResultTable:
    """Cells below columns; bold ones by row and column."""

    columns: list[Column]
    cells: list[list[Cell]]
    bold: set[tuple[int, int]] = field(default_factory=set)

    @property
    def texts(self) -> list[list[str]]:
        """The cells as people read them."""
        return [[column.show(cell) for column, cell in zip(self.columns, row, strict=True)] for row in self.cells]


def rich_table(table: ResultTable) -> "Table":
    """For a console: headings in a word a line; on a narrow one names are broken, numbers never."""
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for column in table.columns:
        name = Text(column.name.replace(" ", "\n"))  # Text: a name may hold [brackets]
        justify: Literal["left", "right"] = "right" if column.is_number else "left"
        drawn.add_column(name, justify=justify, overflow="fold", no_wrap=column.is_number, vertical="bottom")
    for index, row in enumerate(table.texts):
        styles = ["bold" if (index, place) in table.bold else "" for place in range(len(row))]
        drawn.add_row(*map(Text, row, styles))
    return drawn


def to_terminal(table: ResultTable, lines: Sequence[str] = ()) -> str:
    """The same as plain text, as wide as it has to be."""
    from rich.console import Console

    console = Console(file=io.StringIO(), width=WIDE)
    with console.capture() as captured:
        console.print(rich_table(table))
    rows = [line.rstrip() for line in captured.get().splitlines()]
    return "\n".join([*rows, *(["", *lines] if lines else [])]) + "\n"


def to_markdown(table: ResultTable, lines: Sequence[str] = ()) -> str:
    """A pipe table and a list."""

    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    rows = []
    for index, row in enumerate(table.texts):
        cells = [escape_markdown(cell) for cell in row]
        rows.append(line([f"**{cell}**" if (index, place) in table.bold else cell for place, cell in enumerate(cells)]))
    head = [line([escape_markdown(column.name) for column in table.columns])]
    rule = [f"|{'|'.join('---:' if column.is_number else '---' for column in table.columns)}|"]
    listed = ["", *(f"- {text}" for text in lines)] if lines else []
    return "\n".join([*head, *rule, *rows, *listed]) + "\n"


def escape_markdown(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|")


def to_csv(table: ResultTable, lines: Sequence[str] = ()) -> str:
    """Numbers with the six digits of the results; the lines are left out, since a table has no place for them."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([column.name for column in table.columns])
    for row in table.cells:
        writer.writerow([f"{cell:.6g}" if isinstance(cell, float) else "" if cell is None else cell for cell in row])
    return file.getvalue()


def to_latex(table: ResultTable, lines: Sequence[str] = ()) -> str:
    """A booktabs tabular; the lines stand beneath as comments."""

    def line(cells: Sequence[str]) -> str:
        return f"{' & '.join(cells)} \\\\"

    rows = []
    for index, row in enumerate(table.texts):
        cells = [escape_latex(cell) for cell in row]
        strong = [f"\\textbf{{{cell}}}" if (index, place) in table.bold else cell for place, cell in enumerate(cells)]
        rows.append(line(strong))
    alignment = "".join("r" if column.is_number else "l" for column in table.columns)
    head = line([escape_latex(column.name) for column in table.columns])
    body = ["\\toprule", head, "\\midrule", *rows, "\\bottomrule"]
    comments = [f"% {text}" for text in lines]
    return "\n".join([f"\\begin{{tabular}}{{{alignment}}}", *body, "\\end{tabular}", *comments]) + "\n"


_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


def escape_latex(text: str) -> str:
    return text.translate(_LATEX)


FORMATS: dict[Format, Callable[[ResultTable, Sequence[str]], str]] = {
    "terminal": to_terminal,
    "markdown": to_markdown,
    "csv": to_csv,
    "latex": to_latex,
}


def write_text(text: str, path: Path) -> None:
    """Write a file whole or not at all."""
    with replacing(path) as part:
        part.write_text(text, "utf-8", newline="\n")
