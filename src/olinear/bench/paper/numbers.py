"""The numbers behind the paper's pictures: `results/paper/NAME.csv`, a line for each dataset and quantity."""

import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from olinear.core.runtime import replacing

COLUMNS = ("dataset", "what", "value")


def numbers_file(results: Path, figure: str) -> Path:
    return results / "paper" / f"{figure}.csv"


def read_rows(results: Path, figure: str) -> list[dict[str, str]]:
    """The lines; none if they are not computed."""
    path = numbers_file(results, figure)
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_numbers(results: Path, figure: str) -> dict[str, dict[str, float]]:
    """By dataset, each quantity that is a number."""
    found = defaultdict[str, dict[str, float]](dict)
    for row in read_rows(results, figure):
        with suppress(ValueError):  # a reason why there is none
            found[row["dataset"]][row["what"]] = float(row["value"])
    return dict(found)


def write_numbers(results: Path, figure: str, rows: Sequence[Mapping[str, object]]) -> Path:
    """Keep what a figure computed, in the place of what was there."""
    path = numbers_file(results, figure)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part, part.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path
