"""Many jobs: short ones side by side on one thread each, long ones alone on all threads."""

import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from olinear.bench.run.planning import Plan, Planned, wall_seconds
from olinear.bench.run.worker import Message, work
from olinear.bench.spec.identity import JobKey
from olinear.bench.store.results import add_row, failed, finished
from olinear.core.runtime import Assignment, Ended, LogLine, Started, WorkerPool, fork_server

PRELOADED = ["olinear.bench.run.worker", "torch._dynamo"]  # the second is what the first optimizer imports


@dataclass
class Running:
    """A job at work, and what its worker said last."""

    planned: Planned
    threads: int
    started: float
    note: str = "starting"
    ended: bool = False  # it has said how


@dataclass
class State:
    """How a run stands, for whoever shows it."""

    waiting: deque[Planned]
    running: dict[JobKey, Running] = field(default_factory=dict)
    done: int = 0
    failed: int = 0
    elsewhere: int = 0  # done or taken by another process
    estimated: float = 0.0  # of the jobs done here
    spent: float = 0.0

    def seconds_left(self, jobs: int) -> float:
        """By the estimates, corrected by how the jobs so far compared with theirs."""
        correction = self.spent / self.estimated if self.estimated > 60 else 1.0
        now = time.monotonic()
        at_work = [
            max(correction * running.planned.seconds / running.threads - (now - running.started), 0.0)
            for running in self.running.values()
            if not running.ended
        ]
        return correction * wall_seconds(self.waiting, jobs) + max(at_work, default=0.0)


class Pool:
    """Runs a plan.

    Args:
        results: folder of the result files.
        data: folder of the datasets, or None for the usual places.
        jobs: how many short jobs at a time.
        hours: stop after so long; what is unfinished goes on from its checkpoint the next time.
        show: called with the state several times a second, and with the message when a job ends.
    """

    def __init__(
        self,
        results: Path,
        data: Path | None = None,
        *,
        jobs: int = 2,
        hours: float | None = None,
        show: Callable[[State, Message | None], None] = lambda state, message: None,
    ):
        self.results, self.data, self.jobs, self.show = results, data, jobs, show
        self.deadline = None if hours is None else time.monotonic() + 3600 * hours
        self.workers: WorkerPool[JobKey] = WorkerPool(jobs, logger="olinear.training", context=fork_server(PRELOADED))

    def run(self, plan: Plan) -> State:
        """Until all is done or the time is up; Ctrl-C ends the workers, whose checkpoints stay."""
        state = State(deque(plan.jobs))
        with closing(self.workers.run([self._assign(planned) for planned in plan.jobs])) as messages:
            while not self._time_is_up():
                try:
                    news = next(messages)
                except StopIteration:
                    break
                if news is not None:
                    self._take(state, *news)
                self.show(state, None)
        return state

    def _time_is_up(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def _threads(self, planned: Planned) -> int:
        return torch.get_num_threads() if planned.is_long or self.jobs == 1 else 1

    def _assign(self, planned: Planned) -> Assignment[JobKey]:
        arguments = (planned.job, planned.recipe, self.results, self.data)
        return Assignment(planned.job, work, arguments, self._threads(planned), alone=planned.is_long)

    def _take(self, state: State, job: JobKey, news: Any) -> None:
        """What a worker says, or its end."""
        if isinstance(news, Started):
            planned = state.waiting.popleft()
            state.running[job] = Running(planned, self._threads(planned), time.monotonic())
        elif isinstance(news, LogLine):
            state.running[job].note = news.text
        elif isinstance(news, Message):
            state.running[job].ended = True
            self._count(state, state.running[job], news)
        elif isinstance(news, Ended):
            self._reap(state, job, news.error)

    def _count(self, state: State, running: Running, message: Message) -> None:
        if message.kind == "done":
            state.done += 1
            state.estimated += running.planned.seconds
            state.spent += message.seconds * running.threads
        elif message.kind == "failed":
            state.failed += 1
        else:
            state.elsewhere += 1
        self.show(state, message)

    def _reap(self, state: State, job: JobKey, error: str) -> None:
        """Put a finished worker away; one that did not say how its job ended has failed, unless its row is there."""
        running = state.running.pop(job)
        if running.ended:
            return
        if job in finished(self.results):
            self._count(state, running, Message(job, "busy"))
            return
        add_row(self.results, failed(job, error))
        self._count(state, running, Message(job, "failed", error))
