"""Draw the figures of the paper's analysis into docs/images/paper, their numbers into results/paper.

`python tools/draw_figures.py NAME …` makes some anew (without a name: all; models that are not kept in results/models
are trained first, which takes half an hour), as `olinear paper run NAME` does, then judges the numbers of all that
there are: results/paper/verdicts.csv. With `--judge` nothing is drawn.
"""

import csv
import sys
from dataclasses import asdict, fields
from pathlib import Path

from olinear.bench.figures import FIGURES, Verdict, find_figure, judge
from olinear.bench.paper import draw_figure, numbers_file, read_rows

RESULTS = Path(__file__).parent.parent / "results"
PICTURES = RESULTS.parent / "docs" / "images" / "paper"


def verdicts() -> list[Verdict]:
    """Of every figure whose numbers are there, in the order of the registry."""
    return [each for name in FIGURES if (rows := read_rows(RESULTS, name)) for each in judge(name, rows)]


def main() -> None:
    for name in [] if "--judge" in sys.argv else sys.argv[1:] or list(FIGURES):
        draw_figure(find_figure(name), RESULTS, PICTURES)
        sys.stdout.write(f"{name}: {len(read_rows(RESULTS, name))} numbers\n")
    with numbers_file(RESULTS, "verdicts").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Verdict)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(asdict, verdicts()))


if __name__ == "__main__":
    main()
