"""What forecasts are worth, on a terminal."""

from collections.abc import Mapping
from typing import Any

import typer

from olinear.cli.common import print_table
from olinear.cli.errors import visible

COLUMNS = ("series", "score", "best_naive", "naive_score", "better", "coverage_80")
HEADS = ("series", "std MAE", "best naive", "its std MAE", "better", "80 % holds")


def print_worth(worth: Mapping[str, Any], introduction: str) -> None:
    """In one or two lines; nothing where nothing could be scored."""
    from olinear.forecaster import describe_worth

    first, *others = describe_worth(worth) or [""]
    if first:
        typer.echo(visible(f"{introduction}: {first}"))
    for line in others:
        typer.echo(visible(line))


def print_by_series(worth: Mapping[str, Any], title: str) -> None:
    """The series that are listed, the worst first."""
    wanted = [place for place, key in enumerate(COLUMNS) if any(own[key] is not None for own in worth["by_series"])]
    rows = [[_cell(own, COLUMNS[place]) for place in wanted] for own in worth["by_series"]]
    print_table([HEADS[place] for place in wanted], rows, title)


def _cell(own: Mapping[str, Any], key: str) -> str | float:
    value = own[key]
    if key in ("better", "coverage_80"):
        return "" if value is None else f"{value:.1%}"
    if value is None:
        return "" if key == "best_naive" else float("nan")
    return value if isinstance(value, str) else float(value)
