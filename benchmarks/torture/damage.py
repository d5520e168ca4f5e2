"""Ten thousand damaged model folders and checkpoints: each is refused in one kind of error, or changes nothing.

    python benchmarks/torture/damage.py               # 7,000 folders, 3,000 checkpoints; about ten minutes, resumable
    python benchmarks/torture/damage.py --short       # a few of some, to standard output
    python benchmarks/torture/damage.py --case "usual" 17   # one of them, with its traceback

A case is a number, which draws the damage: bytes flipped, cut or mixed; files swapped, emptied, enormous, replaced by
folders, links, pipes; JSON values edited; tensors renamed, reshaped, filled. Edits of JSON and tensors come unsigned,
as a hand or a disk makes them, and signed, with all checksums made to fit, as somebody makes them who wants to be
believed. Each is loaded and asked for forecasts in a process with little memory, within ten seconds. A signed edit may
forecast otherwise, for that is what it says; an unsigned one may not. Folders of formats before 3 have no checksum of
their configuration, and are counted apart. A folder that was refused is saved over, which must make it whole.
"""

import argparse
import random
import resource
import shutil
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from damaging import damage
from figures import Figure, Row, none_of
from rows import add_row, read_rows
from subjects import Subject, answer_of_fit, answer_of_folder, make_subjects

from olinear.core import OLinearError, OutputError
from olinear.core.runtime import Ended, Worker, fork_server

RESULTS = Path(__file__).parents[1] / "results" / "torture" / "damage.csv"
CASES = {True: 7000, False: 3000}  # of folders, of checkpoints
CHUNK = 100
SECONDS = 10.0  # a case may take
MEMORY = 4 * 2**30  # bytes of address space beyond what the process has at its start
GROWTH = 400_000  # kB by which the peak may grow in a case
VERDICTS = ("refused", "same", "other, signed", "other, format without checksum", "OTHER", "RAW", "HANG", "MEMORY")
BAD = VERDICTS[4:]
SHORT = {"model-v1": 50, "usual": 50, "adam.run": 12}  # cases of a short run


def judge(subject: Subject, number: int, work: Path) -> tuple[str, str]:
    """The verdict on one case, and what was done or raised."""
    place = work / "damaged"
    (shutil.copytree if subject.is_folder else shutil.copy)(subject.place, place)
    rng = random.Random(f"{subject.name} {number}")
    done = damage(rng, subject, place)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        answer = _ask(subject, place)
    except OLinearError as error:
        verdict, said = ("MEMORY" if _lacked_memory(error) else "refused"), str(error)
    except Exception as error:
        verdict, said = "RAW", f"{type(error).__name__}: {error}"
    else:
        verdict, said = _compare(subject, done, answer), ""
    if verdict == "refused" and subject.is_folder and number % 4 == 0:
        verdict, said = _save_over(subject, place)
    if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before > GROWTH:
        verdict = "MEMORY"
    return verdict, " ".join(f"{done}: {said}".split())[:300]


def _ask(subject: Subject, place: Path) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if subject.is_folder:
            return answer_of_folder(place, subject.data)
        return answer_of_fit(subject.name, place)


def _compare(subject: Subject, done: str, answer: str) -> str:
    """Each forecast of a folder may be refused by itself."""
    given, sound = answer.split(), subject.answer.split()
    if len(given) == len(sound) and all(one in ("refused", its) for one, its in zip(given, sound, strict=True)):
        return "same" if answer == subject.answer else "refused"
    if done.startswith("signed"):
        return "other, signed"
    if subject.name.startswith(("model-v1", "model-v2")):
        return "other, format without checksum"
    return "OTHER"


def _lacked_memory(error: BaseException | None) -> bool:
    """Whether an allocation failed on the way to this error."""
    while error is not None:
        if isinstance(error, MemoryError) or "allocate" in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


def _save_over(subject: Subject, place: Path) -> tuple[str, str]:
    """Saving a sound model there makes it whole, unless something that is no file stands in the way."""
    from olinear import Forecaster

    try:
        Forecaster.load(subject.place).save(place)
        whole = answer_of_folder(place, subject.data) == subject.answer
    except OutputError:
        return "refused", ""
    except Exception as error:
        return "RAW", f"saving over it: {type(error).__name__}: {error}"
    return ("refused", "") if whole else ("OTHER", "saving over it gives another model")


# In processes


def work_on(subject: Subject, numbers: Sequence[int], send: Callable[[Any], None]) -> None:
    """What a worker does: case after case, each announced."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, size + MEMORY))
    for number in numbers:
        with tempfile.TemporaryDirectory() as work:
            send((number, *judge(subject, number, Path(work))))


def verdicts(subject: Subject, numbers: Sequence[int], context: Any) -> Iterator[tuple[int, str, str, float]]:
    """Of cases, by workers that are killed where one takes too long, with the seconds it took."""
    left = list(numbers)
    while left:
        worker = Worker(work_on, (subject, left), threads=1, context=context)
        try:
            limit = 60.0  # for its start
            while left:
                began = time.monotonic()
                try:
                    message = worker.receive(limit)
                except TimeoutError:
                    message = (left[0], "HANG", "no answer")
                if isinstance(message, Ended):
                    message = (left[0], "RAW", f"the process ended: {message.error}")
                yield (*message, time.monotonic() - began)
                left.pop(0)
                limit = SECONDS
                if message[1] == "HANG" or message[2].startswith("the process ended"):
                    break
        finally:
            worker.stop()


def cases_of(subjects: Sequence[Subject]) -> dict[str, int]:
    """How many cases each gets, in whole chunks."""
    kinds = Counter(subject.is_folder for subject in subjects)
    chunks = {kind: -(-CASES[kind] // (CHUNK * count)) for kind, count in kinds.items()}
    return {subject.name: CHUNK * chunks[subject.is_folder] for subject in subjects}


def measure(subject: Subject, first: int, found: Iterable[tuple[int, str, str, float]]) -> dict[str, object]:
    """One row of the verdicts on some cases."""
    counts: Counter[str] = Counter()
    examples, slowest = [], 0.0
    for number, verdict, said, seconds in found:
        counts[verdict] += 1
        slowest = max(slowest, seconds)
        if verdict in BAD:
            examples.append(f"{number} {verdict} {said}")
            print(f"{subject.name} {examples[-1]}", file=sys.stderr, flush=True)
    kind = "folder" if subject.is_folder else "checkpoint"
    named = {"kind": kind, "subject": subject.name, "first": first, "cases": sum(counts.values())}
    verdicts = {verdict: counts[verdict] for verdict in VERDICTS}
    return named | verdicts | {"slowest": f"{slowest:.1f}", "first_bad": examples[0] if examples else ""}


def figures(rows: Sequence[Row]) -> list[Figure]:
    """Over all cases, the formats without a checksum apart."""
    total = {name: sum(int(row[name]) for row in rows) for name in ("cases", *VERDICTS)}
    folders = sum(int(row["cases"]) for row in rows if row["kind"] == "folder")
    whole = folders >= CASES[True] and total["cases"] - folders >= CASES[False]
    what = f"{folders:,} damaged folders, {total['cases'] - folders:,} damaged checkpoints"
    apart = total["other, format without checksum"]
    return [
        none_of(what, "raw exceptions", total["RAW"], whole),
        none_of(what, "hangs over 10 s", total["HANG"], whole),
        none_of(what, "memory beyond the file's own", total["MEMORY"], whole),
        none_of(what, "silently other forecasts, unsigned", total["OTHER"], whole),
        Figure(
            "… of formats 1 and 2, without a checksum of config.json",
            "edits that forecast otherwise",
            "counted",
            str(apart),
            True,
        ),
        Figure(what, "refused; unchanged", "counted", f"{total['refused']:,}; {total['same']:,}", True),
    ]


def short(cases: Mapping[str, int] = SHORT) -> list[dict[str, object]]:
    """A few of some, in this process and in seconds."""
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for subject in make_subjects(Path(work), list(cases)):

            def found(subject: Subject = subject) -> Iterator[tuple[int, str, str, float]]:
                for number in range(cases[subject.name]):
                    with tempfile.TemporaryDirectory() as place:
                        yield (number, *judge(subject, number, Path(place)), 0.0)

            rows.append(measure(subject, 0, found()))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="damaged folders and checkpoints")
    parser.add_argument("--short", action="store_true", help="a few of some, to standard output")
    parser.add_argument("--case", nargs=2, metavar=("SUBJECT", "NUMBER"), help="one of them, with its traceback")
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.short:
        print(*short(), sep="\n")
        return
    with tempfile.TemporaryDirectory() as work:
        if given.case:
            _show(make_subjects(Path(work), given.case[:1])[0], int(given.case[1]), Path(work))
            return
        subjects, done = make_subjects(Path(work)), {(row["subject"], int(row["first"])) for row in read_rows(RESULTS)}
        counts = cases_of(subjects)
        chunks = [(subject, first) for subject in subjects for first in range(0, counts[subject.name], CHUNK)]
        context, lock = fork_server(["subjects", "olinear.forecaster.service", "olinear.models.zoo"]), threading.Lock()

        def run(subject: Subject, first: int) -> None:
            row = measure(subject, first, verdicts(subject, range(first, first + CHUNK), context))
            with lock:
                add_row(RESULTS, row)

        with ThreadPoolExecutor(2) as threads:
            list(
                threads.map(lambda chunk: run(*chunk), [(one, at) for one, at in chunks if (one.name, at) not in done])
            )


def _show(subject: Subject, number: int, work: Path) -> None:
    """A case as a person wants to see it."""
    place = work / "damaged"
    (shutil.copytree if subject.is_folder else shutil.copy)(subject.place, place)
    print(damage(random.Random(f"{subject.name} {number}"), subject, place))
    try:
        print(_compare(subject, "", _ask(subject, place)))
    except Exception:
        traceback.print_exc()


if __name__ == "__main__":
    main()
