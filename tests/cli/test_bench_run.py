"""`olinear bench run`: the plan it prints, what it refuses, and how it ends."""

import os
import re
import signal
import sys
import time
from collections import deque
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from cli_parts import call, done, listing, refused, started

from olinear.bench.run.planning import Plan
from olinear.bench.run.pool import Pool, State
from olinear.bench.run.worker import Message
from olinear.bench.spec.identity import JobKey, TaskKey, Variant
from olinear.bench.spec.jobs import recipe
from olinear.bench.spec.task import tasks
from olinear.bench.store.results import add_row
from olinear.bench.store.rows import Row
from olinear.models import MODELS

EXCHANGE = JobKey(TaskKey("Exchange", 96, 96))
FILES = {"Exchange": "exchange_rate.txt", "ILI": "national_illness.csv", "Power": "power.csv"}


@pytest.fixture
def data(tmp_path, bare_machine) -> Path:
    """Exchange, ILI and Power are here: for a plan it is enough that there are files."""
    folder = tmp_path / "data"
    folder.mkdir()
    for name in FILES.values():
        (folder / name).touch()
    return folder


@pytest.fixture
def results(tmp_path) -> Path:
    return tmp_path / "results"


def planned(*options: object, data: Path, results: Path) -> tuple[list[list[str]], str]:
    """The lines of a dry run as words, and what was said besides."""
    outcome = done("bench", "run", "--dry-run", "--data", data, "--results", results, *options)
    header, *lines = outcome.out.splitlines()
    assert header.split() == ["task", "model", "variant", "seed", "one", "thread"]
    return [line.split() for line in lines], outcome.err


def test_a_dry_run_lists_every_job_and_writes_nothing(data, results):
    before = listing(data.parent)
    lines, said = planned(data=data, results=results)
    assert listing(data.parent) == before
    assert len(lines) == 20
    assert {line[0] for line in lines} == set(FILES)
    assert {tuple(line[2:5]) for line in lines} == {("OLinear", "main", "2023")}
    assert re.search(r"^20 jobs to do, 0 finished before; about \d+ (s|min)$", said, re.MULTILINE)
    assert "note: 4 jobs need ECL, which is not here: " in said
    assert said.count("note: ") == 21


def test_cheap_jobs_are_listed_first(data, results, monkeypatch):
    """Which are cheap depends on the machine, so here it has a known speed."""
    monkeypatch.setattr("olinear.core.runtime.precision.product_speed", lambda *_: 5e10)
    lines, _ = planned("--dataset", "Exchange", data=data, results=results)
    assert [line[1] for line in lines] == ["96->192", "96->96", "96->336", "96->720"]


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (["--suite", "long"], 4),
        (["--suite", "short"], 16),
        (["--suite", "all"], 20),
        (["--dataset", "ili"], 8),
        (["--dataset", "ILI", "--dataset", "Power"], 16),
        (["--dataset", "ILI", "--dataset", "ILI"], 8),
        (["--dataset", "ILI", "--horizon", 24], 1),
        (["--horizon", 12, "--horizon", 96], 3),
        (["--suite", "long", "--seeds", 3], 12),
        (["--suite", "long", "--model", "OLinear"], 4),
        (["--suite", "long", "--variant", "OLinear-C", "--variant", "main"], 8),
        (["--suite", "long", "--variant", "main", "--variant", "main"], 4),
        (["--suite", "long", "--variant", "q-ratio=0.2", "--variant", "q-ratio=.20"], 4),
        (["--dataset", "Exchange", "--variant", "lookback-search"], 20),
        (["--dataset", "Power", "--variant", "swapped-q=ILI"], 8),
    ],
    ids=str,
)
def test_filters(data, results, options, count):
    lines, said = planned(*options, data=data, results=results)
    assert len(lines) == len(set(map(tuple, lines))) == count
    assert f"{count} jobs to do" in said


def test_long_jobs_are_marked(data, results):
    (data / "traffic.csv").touch()
    lines, _ = planned("--dataset", "Traffic", "--dataset", "Exchange", data=data, results=results)
    assert {line[0]: line[-1] for line in lines}["Traffic"] == "alone"
    assert all(line[-1] != "alone" for line in lines[:4])


def test_what_is_finished_is_not_planned(data, results):
    for key, error in ((TaskKey("Exchange", 96, 96), ""), (TaskKey("Exchange", 96, 192), "it failed")):
        add_row(results, Row(job=JobKey(key), scores={} if error else {"mse": 0.1, "mae": 0.1}, error=error))
    lines, said = planned("--dataset", "Exchange", data=data, results=results)
    assert {line[1] for line in lines} == {"96->192", "96->336", "96->720"}
    assert "3 jobs to do, 1 finished before" in said


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--dataset", "ETT"], ["no dataset is called 'ETT'", "ETTh1, ETTh2"]),
        (["--model", "Prophet"], ["no model is called 'Prophet'", "OLinear"]),
        (["--variant", "few"], ["no variant is called 'few'", "few-shot"]),
        (["--variant", "few-shot"], ["few-shot=first or few-shot=last"]),
        (["--variant", "zero-shot=ETTh1"], ["ETTh1 has 7 series", "not possible"]),
        (["--dataset", "ILI", "--horizon", 96], ["no task is like that", "--dry-run"]),
        (["--suite", "short", "--variant", "lookback-search"], ["no task is like that"]),
        (["--data", "no/such/folder"], ["--data must be a folder, found no/such/folder"]),
    ],
    ids=str,
)
def test_what_is_refused(data, results, options, words):
    message = refused("bench", "run", "--data", data, "--results", results, *options)
    for word in words:
        assert word in message
    assert not results.exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--suite", "middle"],
        ["--seeds", 0],
        ["--seeds", "three"],
        ["--jobs", 0],
        ["--hours", -1],
        ["--horizon", "far"],
        ["ILI"],
    ],
    ids=str,
)
def test_a_command_line_that_cannot_be_read(data, results, options):
    outcome = call("bench", "run", "--data", data, "--results", results, *options)
    assert outcome.code == 2
    assert "Traceback" not in outcome.err
    assert not results.exists()


def test_no_data_at_all(bare_machine, tmp_path, results):
    """What is missing is told, and nothing is started."""
    outcome = done("bench", "run", "--dataset", "ETTh1", "--results", results)
    assert "note: 4 jobs need ETTh1, which is not here: olinear data fetch ETTh1" in outcome.err
    assert "0 jobs to do" in outcome.err
    assert not results.exists()


def test_data_by_the_variable(bare_machine, data, results, monkeypatch):
    monkeypatch.setenv("OLINEAR_DATA", str(data))
    outcome = done("bench", "run", "--dry-run", "--dataset", "Exchange", "--results", results)
    assert "4 jobs to do" in outcome.err


def test_damaged_results_are_named(data, results):
    results.mkdir()
    (results / "OLinear.csv").write_text("dataset\n")
    assert "OLinear.csv lacks the columns" in refused("bench", "run", "--data", data, "--results", results)


def test_results_that_are_no_folder(data, results):
    results.touch()
    assert "--results must be a folder" in refused("bench", "run", "--data", data, "--results", results)


def test_help():
    shown = " ".join(done("bench", "run", "--help").out.split())
    assert "Example: olinear bench run" in shown
    for word in ("--suite", "--dataset", "--horizon", "--model", "--variant", "--seeds", "--jobs", "--hours"):
        assert word in shown
    for word in ("few-shot=first", "zero-shot=", "q-ratio=", "swapped-q=", "embed=", "lookback-search", "OLinear-C"):
        assert word in shown
    assert "run" in done("bench", "--help").out


def test_no_hours(data, results):
    """A clean stop at once: nothing is done, nothing has failed."""
    outcome = done("bench", "run", "--data", data, "--results", results, "--hours", 0, "--dataset", "Exchange")
    assert outcome.out == ""
    assert outcome.err.endswith("0 done, 0 failed, 4 left; start it again to go on\n")
    assert [path.name for path in results.rglob("*")] == []


# A run with made-up workers: how it is told and how it ends


def run_telling(monkeypatch: pytest.MonkeyPatch, *messages: Message) -> None:
    def run(self: Pool, plan: Plan) -> State:
        state = State(deque(plan.jobs))
        for message in messages:
            state.done += message.kind == "done"
            state.failed += message.kind == "failed"
            state.elsewhere += message.kind == "busy"
            self.show(state, message)
        self.show(state, None)
        return state

    monkeypatch.setattr(Pool, "run", run)


def test_each_job_is_printed_when_it_ends(data, results, monkeypatch):
    """A line a job, our scores beside what is published for them; exit code 1 as one has failed."""
    scores = "MSE 0.0810, MAE 0.1990, epoch 1 of 1"
    run_telling(
        monkeypatch,
        Message(EXCHANGE, "done", scores, 5.0),
        Message(replace(EXCHANGE, variant=Variant.parse("few-shot=last")), "done", scores),
        Message(replace(EXCHANGE, seed=2024), "failed", "[bold]it broke"),
        Message(replace(EXCHANGE, seed=2025), "busy"),
    )
    outcome = call("bench", "run", "--data", data, "--results", results, "--dataset", "Exchange")
    assert outcome.code == 1
    planned, *printed, last = outcome.err.splitlines()
    assert planned.startswith("4 jobs to do")
    printed, left = zip(*(line.rsplit(", ", 1) for line in printed), strict=True)
    assert list(printed) == [
        f"done Exchange 96->96 OLinear seed 2023: {scores} (published 0.082, 0.200); 1 of 4",
        f"done Exchange 96->96 OLinear few-shot=last seed 2023: {scores}; 2 of 4",
        "failed Exchange 96->96 OLinear seed 2024: [bold]it broke; 3 of 4",
    ]
    assert all(re.fullmatch(r"\d+ (s|min) left", text) for text in left)
    assert last == "2 done, 1 by others, 1 failed, 0 left"


def test_all_done(data, results, monkeypatch):
    run_telling(monkeypatch, *(Message(replace(EXCHANGE, seed=seed), "done", "well") for seed in range(4)))
    outcome = done("bench", "run", "--data", data, "--results", results, "--dataset", "Exchange")
    assert outcome.err.endswith("4 done, 0 failed, 0 left\n")


def test_an_interrupt_is_printed(data, results, monkeypatch):
    def interrupt(self: Pool, plan: Plan) -> State:
        raise KeyboardInterrupt

    monkeypatch.setattr(Pool, "run", interrupt)
    outcome = call("bench", "run", "--data", data, "--results", results, "--dataset", "Exchange")
    assert outcome.code == 130
    assert outcome.err.endswith("stopped; start it again to go on\n")


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT for another process")
def test_ctrl_c(tmp_path):
    """In a terminal it reaches the workers too, here while they import: exit code 130, one line, nobody left behind."""
    np.savetxt(tmp_path / "exchange_rate.txt", np.zeros((10, 8)), delimiter=",")
    options = ["--dataset", "exchange", "--data", tmp_path, "--results", tmp_path / "results"]
    process = started("bench", "run", *options)
    try:
        while "jobs to do" not in process.stderr.readline():
            assert process.poll() is None
        time.sleep(0.7)
        os.killpg(process.pid, signal.SIGINT)
        err = process.communicate(timeout=60)[1]  # all who could still write have ended
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, err
    assert err == "stopped; start it again to go on\n"
    assert [path.name for path in (tmp_path / "results").rglob("*.csv")] == []


def test_all_models_at_once(data, results):
    """On every lookback and horizon: none is too short for any of them. What takes days has to be asked for."""
    lines, _ = planned("--model", "all", "--dataset", "ILI", data=data, results=results)
    quick = [name for name in MODELS if not MODELS.find(name).traits.slow]
    assert set(MODELS) - set(quick) == {"LLMTime"}
    assert sorted(line[2] for line in lines) == sorted(8 * quick)
    for key in (key for key in tasks() if key.dataset == "ILI"):
        for model in set(MODELS) - {"OLinear"}:
            with torch.device("meta"):
                MODELS.find(model).load()(7, key.lookback, key.horizon, **recipe(JobKey(key, model)).options)
