"""Many cases, one after another, each stage in a fresh process: what ends badly is recorded and stops nothing else."""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout

from olinear.bench.costs.cases import Case, Stage
from olinear.bench.costs.counting import Counts, count
from olinear.bench.costs.measuring import ROUNDS, SLOW, STARTING, Budget, measure
from olinear.bench.costs.rows import CostRow, add_cost, read_costs
from olinear.bench.store.results import runs_folder
from olinear.core import ConfigError
from olinear.core.runtime import Ended, Worker, commit, fork_server, versions

START = 2.0  # seconds that a process needs before it measures, about
REACHED = 0.4  # share of the speed of a matrix product that models reach, about
TOO_SLOW, KILLED = "too slow", "killed"
PRELOADED = ["olinear.bench.costs.measuring", "torch._dynamo", "torch.optim"]  # and nothing computed


@dataclass(frozen=True)
class Planned:
    """A case, what it counts, and about how many seconds it takes; None for a case that cannot be built."""

    case: Case
    counts: Counts | None
    seconds: float
    error: str = ""


def make_plan(
    cases: Sequence[Case], results: Path, speed: float, *, again: bool = False, budget: Budget | None = None
) -> list[Planned]:
    """The cases that have no row yet, or all of them. `speed`: multiplications a second on all threads."""
    done = set() if again else {row.case for row in read_costs(results)}
    return [_plan(case, speed, budget or Budget()) for case in cases if case not in done]


def _plan(case: Case, speed: float, budget: Budget) -> Planned:
    try:
        counts = count(case)
    except Exception as error:  # whatever a model does that is not right for these shapes
        return Planned(case, None, 0.0, " ".join(f"{type(error).__name__}: {error}".split()))
    return Planned(case, counts, sum(_estimate(case, stage, counts, speed, budget) for stage in case.stages))


def _estimate(case: Case, stage: Stage, counts: Counts, speed: float, budget: Budget) -> float:
    passes, calls = (3, 2) if stage == "training" else (1, 1)
    one = passes * case.batch * counts.multiplications / (REACHED * speed)
    if one > budget.call:
        return START + budget.call
    further = ROUNDS * one if one <= SLOW else 0.0
    return START + calls * one + max(budget.seconds, min(further, ROUNDS * budget.seconds + one))


class Runner:
    """Measures what is planned and writes each row when it is there.

    Args:
        results: folder of the results.
        budget: how long a stage is measured for and a call may take.
        hours: begin no further case after so long.
        show: called with a case and what is done with it now, or with its row when it has one.
    """

    def __init__(
        self,
        results: Path,
        *,
        budget: Budget | None = None,
        hours: float | None = None,
        show: Callable[[Case, str | CostRow], None] = lambda case, news: None,
    ):
        self.results, self.budget, self.show = results, budget or Budget(), show
        self.deadline = float("inf") if hours is None else time.monotonic() + 3600 * hours
        self.context: Any = fork_server(PRELOADED)
        self.work: Callable[..., None] = measure
        self.slow: dict[tuple[str, str, Stage], Planned] = {}  # found too slow in this run

    def run(self, plan: Sequence[Planned]) -> int:
        """How many cases were measured; Ctrl-C ends the process that is measuring, and what was written stays."""
        made_with = {"threads": torch.get_num_threads(), "versions": versions(), "commit": commit()}
        try:
            with FileLock(runs_folder(self.results) / "costs.lock", timeout=0):
                return sum(self._take(planned, made_with) for planned in plan)
        except Timeout:
            raise ConfigError(
                f"another process measures costs for {self.results}, and two at once would disturb each other: wait "
                "for it, or stop it"
            ) from None

    def _take(self, planned: Planned, made_with: dict[str, Any]) -> bool:
        if time.monotonic() >= self.deadline:
            return False
        case = planned.case
        values = asdict(case) | made_with | (planned.counts._asdict() if planned.counts else {})
        error = ""
        for stage in case.stages:
            found, error = self._outcome(planned, stage, before=error)
            if error.startswith(TOO_SLOW):
                self.slow.setdefault((case.model, case.form, stage), planned)
            values |= found | {f"{stage}_error": " ".join(error.split())[:300]}
        row = CostRow(**values)
        add_cost(self.results, row)
        self.show(case, row)
        return True

    def _outcome(self, planned: Planned, stage: Stage, before: str) -> tuple[dict[str, float], str]:
        """What a stage gives, and its error; `before` is that of the stage before it.

        Nothing is measured where the error is known: the model cannot be built, its forward pass alone was too slow,
        or the stage was with fewer multiplications.
        """
        error = planned.error or (before if before.startswith(TOO_SLOW) else self._known_to_be_slow(planned, stage))
        if error:
            return {}, error
        self.show(planned.case, stage)
        return self.measure_stage(planned.case, stage)

    def _known_to_be_slow(self, planned: Planned, stage: Stage) -> str:
        """What was too slow with no more multiplications is not waited for again."""
        before = self.slow.get((planned.case.model, planned.case.form, stage))
        if before is None or before.counts is None or planned.counts is None:
            return ""
        if before.counts.multiplications > planned.counts.multiplications:
            return ""
        return f"{TOO_SLOW}: already with {before.case.series} series"

    def measure_stage(self, case: Case, stage: Stage) -> tuple[dict[str, float], str]:
        """What a process of its own finds, and how it ended if it did not end well."""
        threads = torch.get_num_threads()
        worker = Worker(self.work, (case, stage, self.budget), threads=threads, context=self.context)
        try:
            return _listen(worker)
        finally:
            worker.stop()  # it is done, or not to be waited for


def _listen(worker: Worker) -> tuple[dict[str, float], str]:
    found: dict[str, float] = {}
    silence = STARTING
    until = time.monotonic() + silence
    while True:
        try:
            news = worker.receive(max(until - time.monotonic(), 0.0))
        except TimeoutError:
            return found, f"{TOO_SLOW}: stopped after {silence:.0f} seconds"
        if isinstance(news, Ended):
            return found, f"{KILLED}: {news.error}" if news.killed else news.error
        found |= news.found
        if news.error:
            return found, news.error
        if news.silence:
            silence = news.silence
            until = time.monotonic() + silence
