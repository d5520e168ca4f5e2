"""How soon a job of the benchmark begins: `python benchmarks/starts.py` (needs OLINEAR_DATA; a few minutes).

Jobs go one after the other through worker processes that start from nothing, and through those that the pool forks
from a server; `Started` is what the pool hears when a job begins. First the seconds from there to the end of the first
training step, the job being ended then; the first job waits for the server, and is told apart. Then ten whole jobs as
published, with the largest peak of memory among their rows, which must be equal in all else. Fails if a forked job
after the first takes a second or more, at its best.
"""

import os
import statistics
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from olinear.bench.run import running
from olinear.bench.run.planning import Plan, Planned
from olinear.bench.run.pool import PRELOADED, Pool
from olinear.bench.run.worker import work
from olinear.bench.spec import JobKey, TaskKey, recipe
from olinear.bench.store.results import read_results
from olinear.bench.store.rows import Row
from olinear.core.runtime import Assignment, Send, Started, WorkerPool, fork_server
from olinear.training import Callback, train

TASKS = [TaskKey("ILI", 36, 24), TaskKey("NASDAQ", 36, 24), TaskKey("Unemp", 12, 3)]
TIMES, MOST = 4, 1.0  # jobs of each task; seconds
LOOKBACK, HORIZONS, MODELS = 36, (24, 36, 48, 60), ("Ridge", "Gaussian")  # of ILI
TRAINED = [JobKey(TaskKey("ILI", LOOKBACK, horizon), "DLinear") for horizon in HORIZONS[:2]]


class FirstStep(Callback):
    """Says when the first step is done, and ends the process."""

    def __init__(self, send: Send):
        self.send = send

    def stepped(self, run: object) -> None:
        self.send(time.monotonic())
        os._exit(0)


def work_to_the_first_step(*given: Any) -> None:
    running.train = lambda *arguments, **options: train(*arguments, callbacks=[FirstStep(given[-1])], **options)
    work(*given)


def starts(context: Any, data: Path) -> list[float]:
    """Of each job, the seconds to its first step; those of a first one with the wait for the first process."""
    found, began = [], time.monotonic()
    with tempfile.TemporaryDirectory() as results:
        jobs = [JobKey(key, seed=seed) for seed in range(TIMES) for key in TASKS]
        todo = [
            Assignment(job, work_to_the_first_step, (job, recipe(job), Path(results), data), threads=1) for job in jobs
        ]
        with closing(WorkerPool[JobKey](1, context=context).run(todo)) as news:
            for _, message in filter(None, news):
                if isinstance(message, Started) and found:
                    began = time.monotonic()
                elif isinstance(message, float):
                    found.append(message - began)
    if len(found) < len(jobs):
        sys.exit("a job ended before its first step")
    return found


def whole(context: Any, data: Path) -> tuple[float, list[Row]]:
    """Seconds that ten jobs take in all, and their rows."""
    tasks = [TaskKey("ILI", LOOKBACK, horizon) for horizon in HORIZONS]
    jobs = [JobKey(key, model) for model in MODELS for key in tasks] + TRAINED
    with tempfile.TemporaryDirectory() as results:
        pool = Pool(Path(results), data, jobs=1)
        pool.workers.context = context
        began = time.monotonic()
        state = pool.run(Plan([Planned(job, recipe(job), 0.0) for job in jobs], 0, []))
        seconds = time.monotonic() - began
        if state.done < len(jobs):
            sys.exit(f"{state.failed} of {len(jobs)} jobs failed")
        return seconds, read_results(Path(results))


def main() -> None:
    folder = os.environ.get("OLINEAR_DATA")
    if folder is None:
        sys.exit("set OLINEAR_DATA to the folder that holds national_illness.csv, nasdaq.csv and unemployment.csv")
    data = Path(folder)
    ways = {"from nothing": get_context("spawn"), "forked": fork_server(PRELOADED)}
    later: dict[str, list[float]] = {}
    for name, context in ways.items():
        first, *later[name] = starts(context, data)
        best, middle = min(later[name]), statistics.median(later[name])
        print(
            f"{name}: first step after {best:.2f} s at best, {middle:.2f} s in the median of {len(later[name])} jobs; "
            f"the first job, with all that starts once, {first:.2f} s",
            flush=True,
        )
    old, new = (statistics.median(seconds) for seconds in later.values())
    print(f"ratio of the medians: {old / new:.1f}", flush=True)
    rows = {}
    for name, context in ways.items():
        seconds, rows[name] = whole(context, data)
        peak = max(row.peak_memory_mb or 0.0 for row in rows[name])
        print(
            f"{name}: {len(rows[name])} whole jobs in {seconds:.1f} s, peaks of memory up to {peak:.0f} MB", flush=True
        )
    same = [[replace(row, seconds=None, peak_memory_mb=None) for row in found] for found in rows.values()]
    print(f"rows are {'' if same[0] == same[1] else 'NOT '}equal but for time and memory")
    sys.exit(same[0] != same[1] or min(later["forked"]) >= MOST)


if __name__ == "__main__":
    main()
