"""The plan: cheap jobs first, what is done or has no data left out, and an estimate of the right size."""

from dataclasses import replace

import pytest
import torch
from bench_parts import EXCHANGE, ILI, POWER, write_data

from olinear.bench.run.planning import LONG, Planned, estimate, make_plan, matrix_speed, wall_seconds
from olinear.bench.spec.jobs import Job, expand, recipe
from olinear.bench.spec.task import TaskKey, tasks
from olinear.core.errors import ConfigError
from olinear.models import MODELS

SPEED = 3e10  # about one core's


@pytest.fixture
def data(tmp_path, bare_machine):
    return write_data(tmp_path / "data")


def test_cheap_jobs_come_first(data):
    names = ("Exchange", "ILI", "Power")
    jobs = expand([key for key in tasks() if key.dataset in names], "main", 2)
    plan = make_plan(jobs, set(), data, SPEED)
    seconds = [planned.seconds for planned in plan.jobs]
    assert len(plan.jobs) == len(jobs) == 2 * (4 + 8 + 8)
    assert {planned.job for planned in plan.jobs} == set(jobs)
    assert seconds == sorted(seconds)
    assert plan == make_plan(jobs[::-1], set(), data, SPEED)


def test_what_is_done_is_left_out(data):
    jobs = [EXCHANGE, POWER, ILI, replace(ILI, seed=2024)]
    plan = make_plan(jobs, {ILI, Job(TaskKey("ETTh1", 96, 96))}, data, SPEED)
    assert {planned.job for planned in plan.jobs} == {EXCHANGE, POWER, replace(ILI, seed=2024)}
    assert (plan.finished, plan.missing) == (1, {})


def test_what_has_no_data_is_counted(data):
    """By whichever dataset it lacks: its own, the one it trains on, the one its bases are from."""
    jobs = [
        EXCHANGE,
        Job(TaskKey("ECL", 96, 96)),
        Job(TaskKey("ECL", 96, 192)),
        replace(POWER, variant="swapped-q=Website"),
        replace(POWER, variant="swapped-q=ILI"),
        Job(TaskKey("ETTh2", 96, 96), variant="zero-shot=ETTh1"),
    ]
    plan = make_plan(jobs, {jobs[1]}, data, SPEED)
    assert {planned.job for planned in plan.jobs} == {EXCHANGE, jobs[4]}
    assert plan.missing == {"ECL": 1, "Website": 1, "ETTh1": 1}
    (data / "ETTh1.csv").touch()
    assert make_plan(jobs[5:], set(), data, SPEED).missing == {"ETTh2": 1}
    (data / "ETTh2.csv").touch()
    assert len(make_plan(jobs[5:], set(), data, SPEED).jobs) == 1


def test_a_variant_that_cannot_be_is_refused_before_anything_runs(data):
    with pytest.raises(ConfigError, match="Power has 2 series, Exchange 8"):
        make_plan([POWER, replace(EXCHANGE, variant="zero-shot=Power")], set(), data, SPEED)


def test_a_model_that_cannot_be_built_has_its_turn(data):
    """It fails there, with a row that says why, and does not keep the others from running."""
    card = Job(TaskKey("ILI", 12, 3), "PatchTST", "normlin-plugin/+NormLin")
    short = replace(recipe(card), options={"patch_length": 64})
    with pytest.raises(ConfigError, match="need a lookback of at least"):
        estimate(short, SPEED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("olinear.bench.run.planning.recipe", lambda job: short if job == card else recipe(job))
        plan = make_plan([card, ILI], set(), data, SPEED)
    assert [planned.job for planned in plan.jobs] == [card, ILI]
    assert plan.jobs[0].seconds == 0


def test_long_jobs():
    assert LONG == 20 * 60
    assert not Planned(POWER, LONG - 0.1).is_long
    assert Planned(POWER, LONG).is_long
    assert not Planned(POWER, LONG, weights=30_000).is_long  # it would train on one thread anyhow
    assert estimate(recipe(replace(ILI, model="PatchTST")), SPEED).weights < 100_000
    assert estimate(recipe(EXCHANGE), SPEED).weights > 1_000_000


def test_how_long_jobs_take_together(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    jobs = [Planned(POWER, 2 * LONG), Planned(ILI, 100.0), Planned(EXCHANGE, 200.0)]
    assert wall_seconds(jobs, 3) == LONG + 100
    assert wall_seconds(jobs, 1) == LONG + 150  # one at a time, on both threads
    assert wall_seconds([], 2) == 0


def test_estimates_are_of_the_right_size():
    """Exchange trains one epoch on one core in seconds; Traffic's 862 series take hours."""
    assert 5 < estimate(recipe(EXCHANGE), SPEED).seconds < 60
    assert estimate(recipe(Job(TaskKey("Traffic", 96, 720))), SPEED).seconds > 3600
    assert estimate(recipe(EXCHANGE), SPEED).seconds < estimate(recipe(EXCHANGE), SPEED / 10).seconds


@pytest.mark.parametrize("model", MODELS)
def test_every_model_has_an_estimate(model):
    """Also one that looks at its data, which is not there when time is estimated."""
    assert estimate(recipe(Job(TaskKey("ETTh1", 96, 96), model)), SPEED).seconds > 0


def test_estimates_follow_what_a_variant_trains():
    long = Job(TaskKey("ETTm1", 96, 96))
    whole = estimate(recipe(long), SPEED)
    assert estimate(recipe(replace(long, variant="few-shot=last")), SPEED).seconds < 0.2 * whole.seconds
    assert estimate(recipe(replace(long, variant="q-ratio=0.1")), SPEED) == whole
    first, second = Job(TaskKey("ETTh1", 96, 96)), replace(long, variant="zero-shot=ETTh1")
    assert estimate(recipe(second), SPEED) == estimate(recipe(first), SPEED)
    search = TaskKey("ETTm1", 720, 96)
    assert estimate(recipe(Job(search, variant="lookback-search")), SPEED).seconds > whole.seconds


def test_the_speed_of_a_machine():
    """Measured on one thread; the caller's threads are as before."""
    threads = torch.get_num_threads()
    assert 1e8 < matrix_speed(128, 2) < 1e13
    assert torch.get_num_threads() == threads
