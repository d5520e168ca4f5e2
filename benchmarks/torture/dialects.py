"""120 CSV dialects, written down with the right answer before the reader was: `python benchmarks/torture/dialects.py`.

The corpus is tests/data/frames/dialects. A file that can be read in one way alone must be read right as it is; one with
two readings, or none, must be refused in words that name the way out, and be read right with it. One row a file in
benchmarks/results/torture/dialects.csv.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "data" / "frames"))
from dialect_parts import Case, cases, check, check_refusal
from figures import Figure, Row
from rows import add_row, read_rows

from olinear.core import OLinearError
from olinear.data.frames import read_panel

RESULTS = Path(__file__).parents[1] / "results" / "torture" / "dialects.csv"


def outcome(case: Case, folder: Path) -> tuple[str, str]:
    """What became of a file as it is (`read right`, `refused rightly`, or what went wrong), and with its settings."""
    path = case.saved(folder)
    plain = "read right"
    try:
        found = read_panel(path)
        if case.answer is None:
            plain = "read, though two readings fit or none does"
        else:
            check(case.answer, found)
    except OLinearError as error:
        plain = _judge_refusal(case, str(error))
    except AssertionError:
        plain = "read wrong"
    given = [(settings, answer) for settings, answer in case.readings() if settings]
    for settings, answer in given:
        try:
            check(answer, read_panel(path, **settings))
        except (OLinearError, AssertionError) as error:
            return plain, f"not right with {settings}: {type(error).__name__}"
    return plain, "read right" if given else ""


def _judge_refusal(case: Case, message: str) -> str:
    if case.answer is not None:
        return "refused, though it can be read"
    try:
        check_refusal(case, message)
    except AssertionError:
        return "refused without the way out"
    return "refused rightly"


def figures(rows: Sequence[Row]) -> list[Figure]:
    right = sum(row["as_it_is"] == "read right" for row in rows)
    whole = sum(
        row["as_it_is"] in ("read right", "refused rightly") and row["with_settings"] in ("", "read right")
        for row in rows
    )
    what = "120 CSV dialects"
    return [
        Figure(what, "read right as they are", "at least 95", str(right), right >= 95),
        Figure(
            what, "or refused with the way out, and read right with it", "120", str(whole), whole == len(rows) == 120
        ),
    ]


def main() -> None:
    done = {row["dialect"] for row in read_rows(RESULTS)}
    with tempfile.TemporaryDirectory() as folder:
        for case in cases():
            if case.name not in done:
                plain, with_settings = outcome(case, Path(folder))
                add_row(RESULTS, {"dialect": case.name, "as_it_is": plain, "with_settings": with_settings})


if __name__ == "__main__":
    main()
