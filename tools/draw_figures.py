"""Draw the figures of the paper's analysis into docs/images/paper, their numbers into results/paper.

`python tools/draw_figures.py NAME …` makes some anew (without a name: all; models that are not kept in results/models
are trained first, which takes half an hour), then judges the numbers of all that there are: results/paper/verdicts.csv.
With `--judge` nothing is drawn.
"""

import csv
import sys
from dataclasses import asdict, fields
from pathlib import Path

from olinear.bench.figures import FIGURES, Places, Verdict, find_figure, judge

ROOT = Path(__file__).parent.parent
PICTURES, NUMBERS = ROOT / "docs" / "images" / "paper", ROOT / "results" / "paper"
VERDICTS = "verdicts"


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_rows(path: Path, columns: list[str], rows: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def verdicts() -> list[dict[str, object]]:
    """Of every figure whose numbers are there, in the order of the registry."""
    kept = [name for name in FIGURES if (NUMBERS / f"{name}.csv").exists()]
    return [asdict(verdict) for name in kept for verdict in judge(name, read_rows(NUMBERS / f"{name}.csv"))]


def main() -> None:
    names = [] if "--judge" in sys.argv else sys.argv[1:] or list(FIGURES)
    for name in names:
        rows = find_figure(name).make(PICTURES, Places(ROOT / "results"))
        write_rows(NUMBERS / f"{name}.csv", ["dataset", "what", "value"], rows)
        sys.stdout.write(f"{name}: {len(rows)} numbers\n")
    write_rows(NUMBERS / f"{VERDICTS}.csv", [field.name for field in fields(Verdict)], verdicts())


if __name__ == "__main__":
    main()
