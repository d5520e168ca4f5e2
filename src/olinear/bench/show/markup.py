"""HTML and SVG from nested calls: whatever is not markup already is escaped."""

from html import escape
from typing import Any

from olinear.bench.show.tables import ResultTable


class Markup(str):
    """Text that is markup already."""


def tag(name: str, *content: str, **attributes: Any) -> Markup:
    """One element. `class_` is class, `stroke_width` is stroke-width; attributes that are None are left out."""
    inside = "".join(part if isinstance(part, Markup) else escape(part) for part in content)
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    written = "".join(f' {key}="{escape(_number(value))}"' for key, value in given.items())
    return Markup(f"<{name}{written}>{inside}</{name}>")


def _number(value: Any) -> str:
    """A tenth of a pixel is enough."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def join(*parts: str) -> Markup:
    """Elements one after the other."""
    return Markup("\n".join(part if isinstance(part, Markup) else escape(part) for part in parts))


def html_table(table: ResultTable, classes: dict[tuple[int, int], str] | None = None, label: str = "") -> Markup:
    """A table that scrolls in its own box; `classes` of cells by row and column."""
    classes = classes or {}
    head = [
        tag("th", column.name, scope="col", class_="number" if column.is_number else None) for column in table.columns
    ]
    body = []
    for index, row in enumerate(table.texts):
        cells = []
        for place, text in enumerate(row):
            kinds = ["number"] if table.columns[place].is_number else []
            kinds += [classes[index, place]] if (index, place) in classes else []
            inside = tag("b", text) if (index, place) in table.bold else text
            cells.append(tag("td", inside, class_=" ".join(kinds) or None))
        body.append(tag("tr", *cells))
    whole = tag("table", tag("thead", tag("tr", *head)), tag("tbody", join(*body)))
    return tag("div", whole, class_="scroll", tabindex=0, role="region", aria_label=label or "table")
