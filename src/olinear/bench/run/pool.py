"""Many jobs: short ones beside each other on one thread each, long ones alone on all threads."""

import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import torch

from olinear.bench.run.planning import Plan, Planned, wall_seconds
from olinear.bench.run.worker import Message, work
from olinear.bench.spec.jobs import Job
from olinear.bench.store.results import add_row, failed, finished

POLL = 0.2  # seconds


@dataclass
class Running:
    """A worker and what it told last.

    Its channel is a pipe of its own: one killed while it writes leaves the others unharmed.
    """

    planned: Planned
    process: Any
    channel: Connection
    threads: int
    started: float
    note: str = "starting"
    told: bool = False  # how it ended


@dataclass
class State:
    """How a run stands, for whoever shows it."""

    waiting: deque[Planned]
    running: dict[Job, Running] = field(default_factory=dict)
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
            if not running.told
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
        self.context: Any = multiprocessing.get_context("spawn")

    def run(self, plan: Plan) -> State:
        """Until all is done or the time is up; Ctrl-C ends the workers, whose checkpoints stay."""
        state = State(deque(plan.jobs))
        try:
            while (state.waiting or state.running) and not self._time_is_up():
                self._start(state)
                self._listen(state)
                self.show(state, None)
        finally:
            for running in state.running.values():
                running.process.terminate()
                running.process.join()
        return state

    def _time_is_up(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def _start(self, state: State) -> None:
        while state.waiting:
            alone = state.waiting[0].is_long or any(r.planned.is_long for r in state.running.values())
            if len(state.running) >= (1 if alone else self.jobs):
                return
            planned = state.waiting.popleft()
            threads = torch.get_num_threads() if planned.is_long or self.jobs == 1 else 1
            ours, theirs = self.context.Pipe(duplex=False)
            arguments = (planned.job, self.results, self.data, threads, theirs)
            process = self.context.Process(target=work, args=arguments, daemon=True)
            with interrupts_held():
                process.start()
            theirs.close()
            state.running[planned.job] = Running(planned, process, ours, threads, time.monotonic())

    def _listen(self, state: State) -> None:
        """Take what the workers tell, waiting a little for the first; the pipe of one that ended is at its end."""
        speakers: dict[Any, Running] = {running.channel: running for running in state.running.values()}
        for channel in wait(list(speakers), POLL):
            running = speakers[channel]
            try:
                message = running.channel.recv()
            except (EOFError, OSError):
                self._bury(state, running)
                continue
            if message.kind == "epoch":
                running.note = message.text
            else:
                running.told = True
                self._count(state, running, message)

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

    def _bury(self, state: State, running: Running) -> None:
        """Take leave of an ended worker; one that ended without a word was killed, by want of memory for instance."""
        job = running.planned.job
        running.process.join()
        running.channel.close()
        del state.running[job]
        if running.told:
            return
        if job in finished(self.results):
            self._count(state, running, Message(job, "busy"))
            return
        text = f"its process ended with code {running.process.exitcode} (killed, or out of memory?)"
        add_row(self.results, failed(job, text))
        self._count(state, running, Message(job, "failed", text))


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Ctrl-C is for this process: a child begun meanwhile never sees it, not even while it imports."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # started by the first child, it would let the signal through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
