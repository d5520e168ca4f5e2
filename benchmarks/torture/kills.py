"""Savers that are killed: what they were to replace is the old one or the new one, exactly.

    python benchmarks/torture/kills.py            # about three minutes; rows that are there are not computed again
    python benchmarks/torture/kills.py --short

A process saves one version after another over a model folder (in every second case through a link), and is killed, by
SIGKILL and SIGTERM in turn, at a moment drawn uniformly from a few saves. Then the model at that name is loaded: it
must be the version that was saved last or the one that was being saved, as the process itself had reported. The same
for a checkpoint and for the file of `--out`; and for a folder that is new, which may hold no model yet but must take
the next one. After each tenth kill what was left is made to look old and saved over: nothing of it may remain.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from figures import Figure, Row, none_of
from rows import add_row, read_rows
from savers import VERSIONS, Kind, age, in_child, make_kinds

from olinear.core import CheckpointError

RESULTS = Path(__file__).parents[1] / "results" / "torture" / "kills.csv"
CASES = {"model": 500, "new model": 100, "checkpoint": 200, "--out": 200}
BATCH = 50
SAVES = 4  # the moment of the kill lies within so many saves
SIGNALS = (signal.SIGKILL, signal.SIGTERM)


def kill_one(kind: Kind, place: Path, first: int, number: int, longest: float, rng: random.Random) -> tuple[int, int]:
    """Start a saver, kill it: the version it saved last, `first` if none, and the one it was about to save."""
    theirs, ours = os.pipe()

    def save_for_ever() -> None:
        for step in count(1):
            version = (first + step) % VERSIONS
            os.write(ours, bytes([version]))
            kind.write(place, version)
            os.write(ours, bytes([100 + version]))

    child = in_child(save_for_ever)
    said = os.read(theirs, 1)  # it is about to begin
    time.sleep(rng.uniform(0, longest))
    os.kill(child, SIGNALS[number % 2])
    os.waitpid(child, 0)
    os.close(ours)
    while more := os.read(theirs, 65536):
        said += more
    os.close(theirs)
    done = [each - 100 for each in said if each >= 100]
    begun = [each for each in said if each < 100]
    return (done or [first])[-1], begun[-1]


def measure(name: str, kind: Kind, first: int, cases: int) -> dict[str, object]:
    """So many kills in a folder of their own."""
    rng = random.Random(f"{name} {first}")
    found = dict.fromkeys(("lost", "other", "refused_next", "left_after_grace"), 0)
    most, example = 0, ""
    with tempfile.TemporaryDirectory() as work:
        place, link = Path(work) / "there" / "place", Path(work) / "link"
        place.parent.mkdir()
        link.symlink_to(place)
        began = time.monotonic()
        for version in range(VERSIONS):
            kind.write(place, version)
        longest, present = SAVES * (time.monotonic() - began) / VERSIONS, VERSIONS - 1
        for number in range(first, first + cases):
            if name == "new model":
                shutil.rmtree(place)
            old, new = kill_one(kind, (place, link)[number // 2 % 2], present, number, longest, rng)
            try:
                present = kind.read(place)
                found["other"] += present not in (old, new)
            except Exception as error:
                if not (name == "new model" and old == present and _no_model(error)):
                    found["lost"] += 1
                    example = example or f"{number} {type(error).__name__}: {error}"
            left = kind.leftovers(place) if place.exists() else []
            most = max(most, len(left))
            if number % 10 == 0 or name == "new model":
                age(left, kind.grace + 1)
                try:
                    kind.write(place, present)
                    found["left_after_grace"] += len(kind.leftovers(place))
                except Exception as error:
                    found["refused_next"] += 1
                    example = example or f"{number} next: {type(error).__name__}: {error}"
    return {"what": name, "first": first, "cases": cases} | found | {"most_left": most, "first_bad": example[:300]}


def _no_model(error: Exception) -> bool:
    return isinstance(error, CheckpointError) and "not a model folder" in str(error)


def figures(rows: Sequence[Row]) -> list[Figure]:
    """Models first, then the others together."""
    found = []
    for names in (("model",), ("new model", "checkpoint", "--out")):
        mine = [row for row in rows if row["what"] in names]
        cases = sum(int(row["cases"]) for row in mine)
        whole = cases >= sum(CASES[name] for name in names)
        total = {
            key: sum(int(row[key]) for row in mine) for key in ("lost", "other", "refused_next", "left_after_grace")
        }
        over = "saves over a model" if names == ("model",) else "first saves, checkpoints and files of --out"
        what = f"{cases} kills (SIGKILL, SIGTERM) in {over}"
        found += [
            none_of(what, "missing, unreadable, or neither old nor new", total["lost"] + total["other"], whole),
            none_of(
                what, "next saves refused; files left by them", total["refused_next"] + total["left_after_grace"], whole
            ),
        ]
    return found


def short() -> list[dict[str, object]]:
    """Twenty kills, in seconds."""
    kinds = make_kinds()
    return [measure(name, kinds[name.removeprefix("new ")], 0, cases // 50) for name, cases in CASES.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description="savers that are killed")
    parser.add_argument("--short", action="store_true", help="a few of each, to standard output")
    if parser.parse_args().short:
        print(*short(), sep="\n")
        return
    kinds, done = make_kinds(), {(row["what"], int(row["first"])) for row in read_rows(RESULTS)}
    for name, cases in CASES.items():
        for first in range(0, cases, BATCH):
            if (name, first) not in done:
                add_row(RESULTS, measure(name, kinds[name.removeprefix("new ")], first, BATCH))


if __name__ == "__main__":
    main()
