"""One name, several processes: readers during saves, savers together, writers of one file, fits with one `--out`.

    python benchmarks/torture/sharing.py          # about three minutes; rows that are there are not computed again
    python benchmarks/torture/sharing.py --short

Half of the processes go through a link to the place. Every load and every read must give what one process wrote, whole;
no save may fail; of two fits with one `--out` both succeed or one is refused in plain words.
"""

import argparse
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from figures import Figure, Row, none_of
from rows import add_row, read_rows
from savers import VERSIONS, Kind, age, ended_well, in_child, make_kinds
from subjects import HORIZON, LOOKBACK, answer_of_folder, waves

from olinear.core import OutputError
from olinear.forecaster.service import FitRequest, fit

RESULTS = Path(__file__).parents[1] / "results" / "torture" / "sharing.csv"
LOADS, SAVES, READS, FITS = 2000, 400, 1000, 30
REFUSED = 7  # the exit code of a fit that was refused in plain words


@contextmanager
def running(work: Sequence[Callable[[], None]]) -> Iterator[list[int]]:
    """Processes that go on until they are no longer needed."""
    children = [in_child(each) for each in work]
    try:
        yield children
    finally:
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)


def place_and_link(work: str, name: str) -> tuple[Path, Path]:
    place, link = Path(work) / "there" / name, Path(work) / f"link-{name}"
    place.parent.mkdir(exist_ok=True)
    link.symlink_to(place)
    return place, link


def keep_writing(kind: Kind, place: Path, begin: int) -> Callable[[], None]:
    def write_for_ever() -> None:
        for step in count(begin):
            kind.write(place, step % VERSIONS)

    return write_for_ever


def reads(kind: Kind, name: str, writers: int, cases: int) -> dict[str, object]:
    """So many reads during so many writers' work, each of which must still be at work at the end."""
    failures, seen, example = 0, set(), ""
    with tempfile.TemporaryDirectory() as work:
        ways = place_and_link(work, name)
        kind.write(ways[0], 0)
        with running([keep_writing(kind, ways[index % 2], index) for index in range(writers)]) as children:
            for number in range(cases):
                try:
                    seen.add(kind.read(ways[number % 2]))
                except Exception as error:
                    failures += 1
                    example = example or f"{number} {type(error).__name__}: {error}"
            dead = [child for child in children if os.waitpid(child, os.WNOHANG)[0]]
        for child in children:
            if child not in dead:
                os.waitpid(child, 0)
    return {"cases": cases, "failures": failures + len(dead), "seen": len(seen), "left": 0, "first_bad": example}


def saves(kind: Kind, savers: int, cases: int) -> dict[str, object]:
    """So many saves by several at once; afterwards one of them is there, and nothing else once the grace is over."""
    with tempfile.TemporaryDirectory() as work:
        ways = place_and_link(work, "model")

        def save(index: int) -> None:
            for step in range(cases // savers):
                kind.write(ways[index % 2], (index + step) % VERSIONS)

        children = [in_child(lambda index=index: save(index)) for index in range(savers)]
        failures = sum(not ended_well(child) for child in children)
        version = kind.read(ways[0])
        age(kind.leftovers(ways[0]), kind.grace + 1)
        kind.write(ways[0], version)
        left = len(kind.leftovers(ways[0]))
    return {"cases": cases, "failures": failures, "seen": 1, "left": left, "first_bad": ""}


def fits(cases: int) -> dict[str, object]:
    """Pairs of fits that begin together; every third time one goes through a link, and every fourth resumes."""
    failures, refused, left = 0, 0, 0
    frame = waves(400)
    for number in range(cases):
        with tempfile.TemporaryDirectory() as work:
            ways = place_and_link(work, "model")
            outs = (ways[0], ways[1] if number % 3 == 2 else ways[0])
            codes, answers = _two(outs, number, frame)
            refused += codes.count(REFUSED)
            found = answer_of_folder(ways[0], frame) if 0 in codes else ""
            failures += any(code not in (0, REFUSED) for code in codes) or found not in answers
            left += sum(path.name.endswith((".checkpoint", ".lock", ".part")) for path in Path(work).rglob("*"))
    return {"cases": cases, "failures": failures, "seen": refused, "left": left, "first_bad": ""}


def _two(outs: Sequence[Path], number: int, frame: object) -> tuple[list[int], list[str]]:
    """Exit codes of two fits of different seeds, and what each forecasts that succeeded."""
    children, pipes = [], []
    gate, opener = os.pipe()
    for seed, out in enumerate(outs):
        theirs, ours = os.pipe()

        def work(seed: int = seed, out: Path = out, ours: int = ours) -> None:
            settings = {"horizon": HORIZON, "lookback": LOOKBACK, "model_dim": 8, "max_epochs": 3, "seed": seed}
            os.close(opener)
            os.read(gate, 1)  # until both are there
            try:
                result = fit(FitRequest(frame, out, settings, resume=number % 4 == 3))
            except OutputError as error:
                os._exit(REFUSED if "in use by a fit that is still running" in str(error) else 1)
            result.forecaster.save(out.parent.parent / f"own-{seed}")
            os.write(ours, answer_of_folder(out.parent.parent / f"own-{seed}", frame).encode())

        children.append(in_child(work))
        os.close(ours)
        pipes.append(theirs)
    os.close(opener)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    answers = [os.read(pipe, 1000).decode() for pipe in pipes]
    for number in (gate, *pipes):
        os.close(number)
    return codes, [answer for answer in answers if answer]


def figures(rows: Sequence[Row]) -> list[Figure]:
    """One line each; a line counts failures and what was left behind."""
    found = []
    for row in rows:
        whole = int(row["seen"]) == VERSIONS if "read" in row["what"] else True
        found.append(none_of(row["what"], "failures or mixtures", int(row["failures"]), whole))
    left = sum(int(row["left"]) for row in rows)
    return [*found, none_of("after all of these", "files left behind", left, len(rows) == 5)]


def parts(share: int = 1) -> Iterator[tuple[str, Callable[[], dict[str, object]]]]:
    """What is tried, and how; or a share of it."""
    kinds = make_kinds()

    def reading(kind: str, name: str, writers: int, cases: int) -> Callable[[], dict[str, object]]:
        return lambda: reads(kinds[kind], name, writers, cases // share)

    yield f"{LOADS:,} loads (reads) during saves", reading("model", "model", 1, LOADS)
    yield f"{SAVES} saves of a model by four savers", lambda: saves(kinds["model"], 4, SAVES // share)
    yield f"{READS:,} reads of one --out with four writers", reading("--out", "a.csv", 4, READS)
    yield f"{READS:,} reads of one Parquet --out with four writers", reading("--out", "a.parquet", 4, READS)
    yield f"{FITS} times two fits with one --out", lambda: fits(max(FITS // share, 2))


def short() -> list[dict[str, object]]:
    """A few of each, in seconds."""
    return [{"what": what} | part() for what, part in parts(80)]


def main() -> None:
    parser = argparse.ArgumentParser(description="several processes and one name")
    parser.add_argument("--short", action="store_true", help="a few of each, to standard output")
    if parser.parse_args().short:
        print(*short(), sep="\n")
        return
    done = {row["what"] for row in read_rows(RESULTS)}
    for what, part in parts():
        if what not in done:
            add_row(RESULTS, {"what": what} | part())


if __name__ == "__main__":
    main()
