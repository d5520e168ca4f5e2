"""A pool of workers: who runs when, and how it ends.

The workers are real processes, but they do not train.
"""

import itertools
import json
import logging
import multiprocessing
import os
import signal
import struct
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from bench_parts import EXCHANGE, ILI, POWER, as_plan, planned, result, seeds, wait_for

from olinear.bench.run import pool as pool_module
from olinear.bench.run.planning import LONG, Plan
from olinear.bench.run.pool import Pool, Running, State
from olinear.bench.run.worker import Message
from olinear.bench.spec.identity import JobKey
from olinear.bench.spec.recipes import Recipe
from olinear.bench.store.results import add_row, read_results
from olinear.core.runtime import Send

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., None]], None]:
    """Another function in the place of the one that trains."""
    return lambda function: monkeypatch.setattr(pool_module, "work", function)


def note_times(job: JobKey, recipe: Recipe, results: Path, data: None, send: Send) -> None:
    """A short job runs until another has begun, a long one for a while."""
    started = time.monotonic()
    (results / f"{job.name}.begun").touch()
    if job.key == POWER.key:
        wait_for(lambda: len(list(results.glob("Power*.begun"))) % 2 == 0, "second short job")
    else:
        time.sleep(0.5)
    (results / job.name).write_text(json.dumps([started, time.monotonic(), torch.get_num_threads()]))
    send(Message(job, "done", seconds=1.0))


def test_short_jobs_two_at_a_time_and_long_ones_alone(tmp_path, worker, monkeypatch):
    worker(note_times)
    monkeypatch.setattr(pool_module.torch, "get_num_threads", lambda: 3)
    short, long = seeds(POWER, 4), seeds(EXCHANGE, 2)
    plan = Plan([*as_plan(*short).jobs, *as_plan(*long, seconds=LONG).jobs], 0, [])
    state = Pool(tmp_path, jobs=2).run(plan)
    assert (state.done, state.failed, state.elsewhere) == (6, 0, 0)
    assert (len(state.running), len(state.waiting)) == (0, 0)
    times = {job: json.loads((tmp_path / job.name).read_text()) for job in short + long}
    assert {threads for _, _, threads in map(times.get, short)} == {1}
    assert {threads for _, _, threads in map(times.get, long)} == {3}
    for first, second in itertools.combinations(times, 2):
        together = times[first][0] < times[second][1] and times[second][0] < times[first][1]
        assert not together or {first, second} in (set(short[:2]), set(short[2:]))


def test_one_job_at_a_time_has_all_threads(tmp_path, worker, monkeypatch):
    worker(note_times)
    monkeypatch.setattr(pool_module.torch, "get_num_threads", lambda: 3)
    Pool(tmp_path, jobs=1).run(as_plan(EXCHANGE))
    assert json.loads((tmp_path / EXCHANGE.name).read_text())[2] == 3


def sleep(job: JobKey, recipe: Recipe, results: Path, data: None, send: Send) -> None:
    logging.getLogger("olinear.training").info("asleep")
    time.sleep(60)


def test_no_hours_are_a_clean_stop_at_once(tmp_path, worker):
    worker(sleep)
    state = Pool(tmp_path, hours=0).run(as_plan(EXCHANGE, POWER))
    assert (len(state.waiting), state.running, state.done, state.failed) == (2, {}, 0, 0)
    assert list(tmp_path.iterdir()) == []


def test_when_the_time_is_up_the_workers_end(tmp_path, worker):
    """What they have not finished is no failure: it goes on the next time."""
    worker(sleep)
    started = time.monotonic()
    state = Pool(tmp_path, hours=0.5 / 3600).run(as_plan(*seeds(POWER, 3)))
    assert time.monotonic() - started < 30
    assert (len(state.waiting), len(state.running), state.failed) == (1, 2, 0)
    assert multiprocessing.active_children() == []
    assert read_results(tmp_path) == []


def test_an_interrupt_ends_the_workers(tmp_path, worker):
    worker(sleep)
    states = []

    def show(state: State, message: Message | None) -> None:
        states.append(state)
        if [running.note for running in state.running.values()] == ["asleep", "asleep"]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Pool(tmp_path, show=show).run(as_plan(EXCHANGE, POWER))
    assert len(states[-1].running) == 2
    assert multiprocessing.active_children() == []


def end_badly(job: JobKey, recipe: Recipe, results: Path, data: None, send: Send) -> None:
    """By seed: in the middle of a message, with a row written, by an exception, silently, and well."""
    if job.seed == 2023:
        os.write(send.__self__.fileno(), struct.pack("!i", 1000) + b"half a message")
        os.kill(os.getpid(), signal.SIGKILL)
    if job.seed == 2024:
        add_row(results, result(job))
        os.kill(os.getpid(), signal.SIGKILL)
    if job.seed == 2025:
        os._exit(3)
    send(Message(job, "done"))


def test_a_worker_may_end_in_any_way(tmp_path, worker):
    """It is shown and recorded, the others go on, and a row that was written stays."""
    worker(end_badly)
    heard = []
    pool = Pool(tmp_path, show=lambda state, message: heard.append(message) if message else None)
    state = pool.run(as_plan(*seeds(POWER, 5)))
    assert {message.job.seed: message.kind for message in heard} == {
        2023: "failed",
        2024: "busy",
        2025: "failed",
        2026: "done",
        2027: "done",
    }
    assert (state.done, state.failed, state.elsewhere) == (2, 2, 1)
    errors = {row.seed: row.error for row in read_results(tmp_path)}
    assert "ended with code -9 (killed, or out of memory?)" in errors[2023]
    assert errors[2024] == ""
    assert "ended with code 3" in errors[2025]


def test_time_left(monkeypatch):
    """What waits is shared, what runs is nearly done, and all of it by how the first jobs compared with estimates."""
    now = time.monotonic()
    state = State(deque([planned(POWER, 100.0), planned(ILI, 100.0)]))
    assert state.seconds_left(jobs=2) == pytest.approx(100)
    state.running = {EXCHANGE: Running(planned(EXCHANGE, 100.0), 1, now - 60)}
    assert state.seconds_left(jobs=2) == pytest.approx(100 + 40, abs=1)
    state.running[EXCHANGE].threads = 2
    assert state.seconds_left(jobs=2) == pytest.approx(100, abs=1)
    state.running[EXCHANGE] = Running(planned(EXCHANGE, 100.0), 1, now, ended=True)
    assert state.seconds_left(jobs=2) == pytest.approx(100)
    state.estimated, state.spent = 100.0, 300.0
    assert state.seconds_left(jobs=2) == pytest.approx(300)
    monkeypatch.setattr(pool_module.torch, "get_num_threads", lambda: 2)  # what was spent is counted by threads
    assert state.seconds_left(jobs=1) == pytest.approx(300)
    state.waiting = deque([planned(POWER, 2 * LONG)])
    assert state.seconds_left(jobs=4) == pytest.approx(3 * LONG)
