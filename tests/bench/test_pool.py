"""A run is many processes: each job is done once, no failure stops the others, and a kill at any moment costs little.

The workers are real processes; where it is only of interest who runs when, they do not train.
"""

import itertools
import json
import os
import signal
import struct
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest
from bench_parts import EXCHANGE, ILI, POWER, as_plan, quick_processes, result, walk, write_data, write_dated
from filelock import FileLock

from olinear.bench import pool as pool_module
from olinear.bench.jobs import Job
from olinear.bench.planning import LONG, Plan, Planned
from olinear.bench.pool import Pool, Running, State
from olinear.bench.results import Row, add_row, finished, read_results
from olinear.bench.running import run_job
from olinear.bench.worker import Message
from olinear.training.checkpoints import load_checkpoint

SCRIPT = Path(sys.executable).with_name("olinear")
pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")


def quick_pool(*arguments: Any, **options: Any) -> Pool:
    """A pool whose workers start in a moment."""
    pool = Pool(*arguments, **options)
    pool.context = quick_processes()
    return pool


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., None]], None]:
    """Another function in the place of the one that trains."""
    return lambda function: monkeypatch.setattr(pool_module, "work", function)


def seeds(job: Job, count: int) -> list[Job]:
    return [replace(job, seed=2023 + index) for index in range(count)]


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, f"no {what} in two minutes"
        time.sleep(0.005)


# Who runs when


def note_times(job: Job, results: Path, data: None, threads: int, channel) -> None:
    """A short job runs until another has begun, a long one for a while."""
    started = time.monotonic()
    (results / f"{job.name}.begun").touch()
    if job.key == POWER.key:
        wait_for(lambda: len(list(results.glob("Power*.begun"))) % 2 == 0, "second short job")
    else:
        time.sleep(0.5)
    (results / job.name).write_text(json.dumps([started, time.monotonic(), threads]))
    channel.send(Message(job, "done", seconds=1.0))


def test_short_jobs_two_at_a_time_and_long_ones_alone(tmp_path, worker, monkeypatch):
    worker(note_times)
    monkeypatch.setattr(pool_module.torch, "get_num_threads", lambda: 7)
    short, long = seeds(POWER, 4), seeds(EXCHANGE, 2)
    plan = Plan([*as_plan(*short).jobs, *as_plan(*long, seconds=LONG).jobs], 0, {})
    state = quick_pool(tmp_path, jobs=2).run(plan)
    assert (state.done, state.failed, state.elsewhere) == (6, 0, 0)
    assert (len(state.running), len(state.waiting)) == (0, 0)
    times = {job: json.loads((tmp_path / job.name).read_text()) for job in short + long}
    assert {threads for _, _, threads in map(times.get, short)} == {1}
    assert {threads for _, _, threads in map(times.get, long)} == {7}
    for first, second in itertools.combinations(times, 2):
        together = times[first][0] < times[second][1] and times[second][0] < times[first][1]
        assert not together or {first, second} in (set(short[:2]), set(short[2:]))


def test_one_job_at_a_time_has_all_threads(tmp_path, worker, monkeypatch):
    worker(note_times)
    monkeypatch.setattr(pool_module.torch, "get_num_threads", lambda: 7)
    quick_pool(tmp_path, jobs=1).run(as_plan(EXCHANGE))
    assert json.loads((tmp_path / EXCHANGE.name).read_text())[2] == 7


def sleep(job: Job, results: Path, data: None, threads: int, channel) -> None:
    channel.send(Message(job, "epoch", "asleep"))
    time.sleep(60)


def test_no_hours_are_a_clean_stop_at_once(tmp_path, worker):
    worker(sleep)
    state = quick_pool(tmp_path, hours=0).run(as_plan(EXCHANGE, POWER))
    assert (len(state.waiting), state.running, state.done, state.failed) == (2, {}, 0, 0)
    assert list(tmp_path.iterdir()) == []


def test_when_the_time_is_up_the_workers_end(tmp_path, worker):
    """What they have not finished is no failure: it goes on the next time."""
    worker(sleep)
    started = time.monotonic()
    state = quick_pool(tmp_path, hours=0.5 / 3600).run(as_plan(*seeds(POWER, 3)))
    assert time.monotonic() - started < 30
    assert (len(state.waiting), len(state.running), state.failed) == (1, 2, 0)
    assert not any(running.process.is_alive() for running in state.running.values())
    assert read_results(tmp_path) == []


def test_an_interrupt_ends_the_workers(tmp_path, worker):
    worker(sleep)
    states = []

    def show(state: State, message: Message | None) -> None:
        states.append(state)
        if [running.note for running in state.running.values()] == ["asleep", "asleep"]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quick_pool(tmp_path, show=show).run(as_plan(EXCHANGE, POWER))
    assert len(states[-1].running) == 2
    assert not any(running.process.is_alive() for running in states[-1].running.values())


def end_badly(job: Job, results: Path, data: None, threads: int, channel) -> None:
    """By seed: in the middle of a message, with a row written, by an exception, silently, and well."""
    if job.seed == 2023:
        os.write(channel.fileno(), struct.pack("!i", 1000) + b"half a message")
        os.kill(os.getpid(), signal.SIGKILL)
    if job.seed == 2024:
        add_row(results, result(job))
        os.kill(os.getpid(), signal.SIGKILL)
    if job.seed == 2025:
        os._exit(3)
    channel.send(Message(job, "done"))


def test_a_worker_may_end_in_any_way(tmp_path, worker):
    """It is told and recorded, the others go on, and a row that was written stays."""
    worker(end_badly)
    told = []
    pool = quick_pool(tmp_path, show=lambda state, message: told.append(message) if message else None)
    state = pool.run(as_plan(*seeds(POWER, 5)))
    assert {message.job.seed: message.kind for message in told} == {
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
    state = State(deque([Planned(POWER, 100.0), Planned(ILI, 100.0)]))
    assert state.seconds_left(jobs=2) == pytest.approx(100)
    state.running = {EXCHANGE: Running(Planned(EXCHANGE, 100.0), None, None, 1, now - 60)}
    assert state.seconds_left(jobs=2) == pytest.approx(100 + 40, abs=1)
    state.running[EXCHANGE].threads = 2
    assert state.seconds_left(jobs=2) == pytest.approx(100, abs=1)
    state.running[EXCHANGE] = Running(Planned(EXCHANGE, 100.0), None, None, 1, now, told=True)
    assert state.seconds_left(jobs=2) == pytest.approx(100)
    state.estimated, state.spent = 100.0, 300.0
    assert state.seconds_left(jobs=2) == pytest.approx(300)
    monkeypatch.setattr(pool_module.torch, "get_num_threads", lambda: 2)  # what was spent is counted by threads
    assert state.seconds_left(jobs=1) == pytest.approx(300)
    state.waiting = deque([Planned(POWER, 2 * LONG)])
    assert state.seconds_left(jobs=4) == pytest.approx(3 * LONG)


# Jobs that train


def test_failures_do_not_stop_the_rest(tmp_path):
    """One job has a broken file, one is killed, one a checkpoint that cannot be used; then the file is mended."""
    data, results = write_data(tmp_path / "data"), tmp_path / "results"
    broken, killed, well = EXCHANGE, POWER, replace(POWER, seed=2024)
    whole = (data / "exchange_rate.txt").read_text()
    (data / "exchange_rate.txt").write_text(whole.replace(",", ",broken,", 1))
    damaged = results / ".runs" / f"{well.name}.safetensors"
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"no checkpoint")
    told: list[Message] = []

    def kill_one(state: State, message: Message | None) -> None:
        told.extend([message] if message else [])
        if killed in state.running:
            state.running[killed].process.kill()

    state = quick_pool(results, data, show=kill_one).run(as_plan(broken, killed, well))
    assert (state.done, state.failed) == (1, 2)
    rows = {row.job: row for row in read_results(results)}
    assert "ended with code -9" in rows[killed].error
    assert "exchange_rate.txt" in rows[broken].error
    assert {message.text for message in told if message.kind == "failed"} == {rows[broken].error, rows[killed].error}
    assert finished(results) == {well}
    same(rows[well], run_job(well, data, tmp_path / "run")[0])
    assert (rows[well].windows, rows[well].epochs) == (24 - 9 + 1, rows[well].best_epoch + 5)

    (data / "exchange_rate.txt").write_text(whole)
    state = quick_pool(results, data).run(as_plan(broken, killed, well))
    assert (state.done, state.failed, state.elsewhere) == (2, 0, 1)
    rows = {row.job: row for row in read_results(results)}
    assert finished(results) == rows.keys() == {broken, killed, well}
    expected, drawn, _ = run_job(broken, data, tmp_path / "other")
    same(rows[broken], expected)
    assert json.loads((results / "forecasts" / f"{broken.name}.json").read_text()) == drawn
    assert list((results / ".runs").glob("*.safetensors*")) == []


def same(first: Row, second: Row) -> None:
    """All that must not depend on the process, to the digits that are kept."""
    free = {"seconds": None, "peak_memory_mb": None}
    first, second = replace(first, **free), replace(second, **free)
    for name, value in vars(first).items():
        assert value == (pytest.approx(getattr(second, name), rel=1e-5) if isinstance(value, float) else value)
    assert first.job == second.job


def run_in_a_runner(results: Path, data: Path, plan: Plan, log: Path) -> None:
    """A runner of its own; its workers are forked from it, to save time. The log has a line for each message."""

    def note(state: State, message: Message | None) -> None:
        if message:
            with log.open("a") as file:
                file.write(f"{message.kind} {message.job.seed}\n")

    pool = Pool(results, data, show=note)
    pool.context = get_context("fork")
    pool.run(plan)


def start_runner(*arguments: object) -> BaseProcess:
    process = quick_processes().Process(target=run_in_a_runner, args=arguments)
    process.start()
    return process


def test_two_runners_do_each_job_once(tmp_path):
    data, results = write_data(tmp_path / "data"), tmp_path / "results"
    jobs = seeds(EXCHANGE, 3)
    logs = [tmp_path / "first.log", tmp_path / "second.log"]
    runners = [start_runner(results, data, as_plan(*jobs), log) for log in logs]
    for runner in runners:
        runner.join()
        assert runner.exitcode == 0, "see the captured standard error"
    lines = Counter(line for log in logs for line in log.read_text().splitlines())
    assert lines == {f"{kind} {job.seed}": 1 for job in jobs for kind in ("done", "busy")}
    rows = read_results(results)
    assert [row.job for row in rows] == jobs
    assert len({row.mse for row in rows}) == 3


def test_killed_twice_a_job_ends_as_if_it_never_was(tmp_path):
    """First the command with its worker, as when the machine goes down; then a runner alone, whose worker must end."""
    data, results = tmp_path / "data", tmp_path / "results"
    data.mkdir()
    write_dated(data / "power.csv", walk(120, 2))  # from which it learns for many epochs
    checkpoint, lock = (results / ".runs" / f"{POWER.name}.{ending}" for ending in ("safetensors", "lock"))

    options = ["--dataset", "power", "--horizon", 9, "--data", data, "--results", results]
    command = subprocess.Popen([SCRIPT, "bench", "run", *map(str, options)], start_new_session=True)
    try:
        wait_for(checkpoint.exists, "checkpoint")
    finally:
        os.killpg(command.pid, signal.SIGKILL)
        command.wait()
    first = position(checkpoint, lock)

    stamp = checkpoint.stat().st_mtime_ns
    runner = start_runner(results, data, as_plan(POWER), tmp_path / "log")
    try:
        wait_for(lambda: checkpoint.stat().st_mtime_ns != stamp, "second checkpoint")
    finally:
        runner.kill()
        runner.join()
    second = position(checkpoint, lock)
    assert 1 < first < second
    assert read_results(results) == []

    notes: list[str] = []
    pool = quick_pool(results, data, show=lambda state, _: notes.extend(r.note for r in state.running.values()))
    assert pool.run(as_plan(POWER)).done == 1
    heard = dict.fromkeys(note.partition(":")[0] for note in notes if note != "starting")
    assert next(iter(heard)).endswith(f"at epoch {second}, step 0")
    assert list(heard)[1:] == [f"epoch {epoch}/50" for epoch in range(second, second + len(heard) - 1)]
    (row,) = read_results(results)
    same(row, run_job(POWER, data, tmp_path / "unbroken")[0])
    assert row.epochs >= second


def position(checkpoint: Path, lock: Path) -> int:
    """The epoch that a killed job stands at; its lock is free when its process is no more."""
    with FileLock(lock, timeout=30):
        at = load_checkpoint(checkpoint)[1]["position"]
    assert not at["finished"], "the kill came too late to hit a running job"
    return at["epoch"]
