"""The lines of a resumable benchmark, kept in a CSV file: what is there is not measured again."""

import csv
from collections.abc import Mapping
from pathlib import Path


def read_rows(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def add_row(path: Path, row: Mapping[str, object]) -> None:
    """Print a line and write it below the others, under the names of the first."""
    print(dict(row), flush=True)
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, list(row), lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerow(row)
