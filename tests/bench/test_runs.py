"""Runs that train: each job is done once, no failure stops the others, and a kill at any moment costs little."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest
from bench_parts import (
    EXCHANGE,
    POWER,
    as_plan,
    quick_processes,
    seeds,
    wait_for,
    walk,
    write_data,
    write_dated,
)
from filelock import FileLock

from olinear.bench.run.planning import Plan
from olinear.bench.run.pool import Pool, State
from olinear.bench.run.running import run_job
from olinear.bench.run.worker import Message
from olinear.bench.spec.jobs import recipe
from olinear.bench.store.results import finished, read_results
from olinear.bench.store.rows import Row
from olinear.training.checkpoints import load_checkpoint

SCRIPT = Path(sys.executable).with_name("olinear")
pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")


def test_failures_do_not_stop_the_rest(tmp_path):
    """One job has a broken file, one is killed, one a checkpoint that cannot be used; then the file is corrected."""
    data, results = write_data(tmp_path / "data"), tmp_path / "results"
    broken, killed, well = EXCHANGE, POWER, replace(POWER, seed=2024)
    whole = (data / "exchange_rate.txt").read_text()
    (data / "exchange_rate.txt").write_text(whole.replace(",", ",broken,", 1))
    damaged = results / ".runs" / f"{well.name}.safetensors"
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"no checkpoint")
    heard: list[Message] = []

    def kill_one(state: State, message: Message | None) -> None:
        heard.extend([message] if message else [])
        if killed in pool.workers.running:
            pool.workers.running[killed][1].process.kill()

    pool = Pool(results, data, show=kill_one)
    state = pool.run(as_plan(broken, killed, well))
    assert (state.done, state.failed) == (1, 2)
    rows = {row.job: row for row in read_results(results)}
    assert "ended with code -9" in rows[killed].error
    assert "exchange_rate.txt" in rows[broken].error
    assert {message.text for message in heard if message.kind == "failed"} == {rows[broken].error, rows[killed].error}
    assert finished(results) == {well}
    same(rows[well], run_job(well, recipe(well), data, tmp_path / "run")[0])
    assert (rows[well].windows, rows[well].epochs) == (24 - 9 + 1, rows[well].best_epoch + 5)

    (data / "exchange_rate.txt").write_text(whole)
    state = Pool(results, data).run(as_plan(broken, killed, well))
    assert (state.done, state.failed, state.elsewhere) == (2, 0, 1)
    rows = {row.job: row for row in read_results(results)}
    assert finished(results) == rows.keys() == {broken, killed, well}
    expected, drawn, _ = run_job(broken, recipe(broken), data, tmp_path / "other")
    same(rows[broken], expected)
    assert json.loads((results / "forecasts" / f"{broken.name}.json").read_text()) == drawn
    assert list((results / ".runs").glob("*.safetensors*")) == []


def same(first: Row, second: Row) -> None:
    """All that must not depend on the process, to the digits that are kept."""
    free = {"seconds": None, "peak_memory_mb": None}
    first, second = replace(first, **free), replace(second, **free)
    assert first.scores == pytest.approx(second.scores, rel=1e-5)
    assert first.validation_loss == pytest.approx(second.validation_loss, rel=1e-5)
    assert replace(first, scores={}, validation_loss=None) == replace(second, scores={}, validation_loss=None)


def run_in_a_runner(results: Path, data: Path, plan: Plan, log: Path) -> None:
    """A runner of its own; its workers are forked from it, to save time. The log has a line for each message."""

    def note(state: State, message: Message | None) -> None:
        if message:
            with log.open("a") as file:
                file.write(f"{message.kind} {message.job.seed}\n")

    pool = Pool(results, data, show=note)
    pool.workers.context = get_context("fork")
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
    pool = Pool(results, data, show=lambda state, _: notes.extend(r.note for r in state.running.values()))
    assert pool.run(as_plan(POWER)).done == 1
    heard = dict.fromkeys(note.partition(":")[0] for note in notes if note != "starting")
    assert next(iter(heard)).endswith(f"at epoch {second}, step 0")
    assert list(heard)[1:] == [f"epoch {epoch}/50" for epoch in range(second, second + len(heard) - 1)]
    (row,) = read_results(results)
    same(row, run_job(POWER, recipe(POWER), data, tmp_path / "unbroken")[0])
    assert row.epochs >= second


def position(checkpoint: Path, lock: Path) -> int:
    """The epoch that a killed job stands at; its lock is free when its process is no more."""
    with FileLock(lock, timeout=30):
        at = load_checkpoint(checkpoint)[1]["position"]
    assert not at["finished"], "the kill came too late to hit a running job"
    return at["epoch"]
