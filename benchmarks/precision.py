"""What bfloat16 does to accuracy: `python benchmarks/precision.py` writes benchmarks/results/precision.csv.

It reads committed rows (results/OLinear.csv): those of `main`, which compute in float32, next to the same tasks and
seeds of the variant `precision=bfloat16`; `olinear bench run` makes the first, with `--variant precision=bfloat16` the
second. A task stands in the table when both precisions have a row of the same seed. The spread is the largest
difference between two seeds in float32, as a share of their mean: where there is but one seed, it is not known.
"""

import sys
from collections import defaultdict
from pathlib import Path

from rows import add_row

from olinear.bench import read_results

ROOT = Path(__file__).parent.parent
RESULTS = Path(__file__).parent / "results" / "precision.csv"
VARIANT = "precision=bfloat16"
WANTED = 0.005  # by so much the mean ratio may differ from 1


def pairs() -> dict[str, list[tuple[float, float]]]:
    """By task, the MSE of each seed in float32 and in bfloat16."""
    rows = [row for row in read_results(ROOT / "results") if row.model == "OLinear"]
    found: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    for row in rows:
        narrow_main = row.variant.is_main and row.precision == "bfloat16"  # which large tasks may be, as the row says
        if row.mse is not None and str(row.variant) in ("main", VARIANT) and not narrow_main:
            found[str(row.key), row.seed][str(row.variant)] = row.mse
    tasks: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for (task, _), both in sorted(found.items()):
        if len(both) == 2:
            tasks[task].append((both["main"], both[VARIANT]))
    return tasks


def main() -> None:
    RESULTS.unlink(missing_ok=True)
    ratios, outside = [], []
    for task, both in pairs().items():
        plain, narrow = (sum(column) / len(both) for column in zip(*both, strict=True))
        values = [value for value, _ in both]
        spread = (max(values) - min(values)) / plain if len(both) > 1 else None
        ratios.append(narrow / plain)
        if spread is not None and abs(narrow / plain - 1) > spread:
            outside.append(task)
        row = {"task": task, "seeds": len(both), "float32": f"{plain:.4f}", "bfloat16": f"{narrow:.4f}"}
        shown = {"ratio": f"{narrow / plain:.4f}", "spread of seeds": "" if spread is None else f"{spread:.1%}"}
        add_row(RESULTS, row | shown)
    mean = sum(ratios) / len(ratios)
    blank = {"seeds": "", "float32": "", "bfloat16": "", "spread of seeds": ""}
    add_row(RESULTS, {"task": f"mean of {len(ratios)} tasks"} | blank | {"ratio": f"{mean:.4f}"})
    sys.exit(abs(mean - 1) > WANTED or bool(outside))


if __name__ == "__main__":
    main()
