"""All tortures, one after the other, and the table of what they found: `make torture`.

    python benchmarks/torture/run.py              # anew, under 30 minutes on two cores
    python benchmarks/torture/run.py --resume     # only what is not in their files yet
    python benchmarks/torture/run.py --table      # nothing; only the table, from the files there are
    python benchmarks/torture/run.py --short      # a few cases of those that have `short()`, in seconds; no files

Each part is a file next to this one that does its work when it is run as a command, writes rows as it goes to a file of
its own (`RESULTS`) and skips those it finds there, and turns them into lines of the table (`figures(rows)`). A part
that takes longer than its time is stopped, and the table says so. benchmarks/results/torture/summary.csv holds it;
tools/update_docs.py puts it into docs/trust.md. The command ends with 1 if a line is not kept.
"""

import argparse
import csv
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, fields
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from figures import Figure
from rows import read_rows

HERE = Path(__file__).parent
SUMMARY = HERE.parent / "results" / "torture" / "summary.csv"


@dataclass(frozen=True)
class Part:
    """A file to run, and the minutes it may take."""

    name: str
    minutes: float


PARTS = (  # half an hour in all
    Part("damage", 8),
    Part("kills", 3),
    Part("sharing", 3),
    Part("interval_coverage", 2),
    Part("late_series", 5),
    Part("defects", 2),
    Part("large", 6),
    Part("dialects", 1),
)


def run_part(part: Part, resume: bool) -> list[Figure]:
    """Its lines of the table, and one more if it did not end well."""
    results = import_module(part.name).RESULTS
    if not resume:
        results.unlink(missing_ok=True)
    began = time.monotonic()
    try:
        code = subprocess.run(
            [sys.executable, str(HERE / f"{part.name}.py")], timeout=60 * part.minutes, env=os.environ, check=False
        ).returncode
    except subprocess.TimeoutExpired:
        code = None
    print(f"{part.name}: {(time.monotonic() - began) / 60:.1f} minutes", file=sys.stderr, flush=True)
    if code == 0:
        return []
    measured = f"not done in {part.minutes:g} minutes" if code is None else f"ended with code {code}"
    return [Figure(f"benchmarks/torture/{part.name}.py", "ended", "well", measured, False)]


def figures_of(part: Part) -> list[Figure]:
    """What its file shows; a line that says so if that cannot be told from it."""
    module = import_module(part.name)
    try:
        return module.figures(read_rows(module.RESULTS))
    except (ArithmeticError, AttributeError, LookupError, ValueError) as error:
        return [Figure(f"benchmarks/torture/{part.name}.py", "results", "whole", f"not to be read: {error}", False)]


def run_short(there: list[Part]) -> list[Figure]:
    """What must never happen and did, in a few cases."""
    found = []
    for module in (import_module(part.name) for part in there):
        if hasattr(module, "short"):
            rows = [{key: str(value) for key, value in row.items()} for row in module.short()]
            found += [figure for figure in module.figures(rows) if (figure.limit, figure.measured) != ("0", "0")]
            print(*rows, sep="\n")
    return [figure for figure in found if figure.limit == "0"]


def write_summary(found: list[Figure]) -> None:
    with SUMMARY.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [each.name for each in fields(Figure)], lineterminator="\n")
        writer.writeheader()
        for figure in found:
            writer.writerow(asdict(figure) | {"ok": "yes" if figure.ok else "NO"})


def main() -> None:
    parser = argparse.ArgumentParser(description="all tortures, and the table of what they found")
    parser.add_argument("--resume", action="store_true", help="keep the rows that are there")
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--short", action="store_true", help="a few cases, in seconds; no files")
    parser.add_argument("--only", action="append", choices=[part.name for part in PARTS], help="run only this one")
    given = parser.parse_args()
    there = [part for part in PARTS if (HERE / f"{part.name}.py").exists()]
    if given.short:
        sys.exit("\n".join(map(str, run_short(there))) or 0)
    chosen = [] if given.table else [part for part in there if given.only is None or part.name in given.only]
    failed = [figure for part in chosen for figure in run_part(part, given.resume)]
    found = [figure for part in there for figure in figures_of(part)] + failed
    write_summary(found)
    for figure in found:
        print(f"{'ok' if figure.ok else 'NO':3} {figure.what}: {figure.figure}: {figure.measured} ({figure.limit})")
    sys.exit(not all(figure.ok for figure in found))


if __name__ == "__main__":
    main()
