"""The plan: cheap jobs first, what is done or has no data left out, and an estimate of the right size."""

from dataclasses import replace

import pytest
import torch
from bench_parts import EXCHANGE, ILI, POWER, write_data

from olinear.bench.jobs import Job, expand, recipe
from olinear.bench.planning import LONG, Planned, estimate, make_plan, matrix_speed
from olinear.bench.tasks import TaskKey, tasks
from olinear.errors import ConfigError

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
    assert plan.seconds == pytest.approx(sum(seconds))
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


def test_long_jobs():
    assert LONG == 20 * 60
    assert not Planned(POWER, LONG - 0.1).is_long
    assert Planned(POWER, LONG).is_long


def test_estimates_are_of_the_right_size():
    """Exchange trains one epoch on one core in seconds; Traffic's 862 series take hours."""
    assert 5 < estimate(recipe(EXCHANGE), SPEED) < 60
    assert estimate(recipe(Job(TaskKey("Traffic", 96, 720))), SPEED) > 3600
    assert estimate(recipe(EXCHANGE), SPEED) < estimate(recipe(EXCHANGE), SPEED / 10)


def test_estimates_follow_what_a_variant_trains():
    long = Job(TaskKey("ETTm1", 96, 96))
    whole = estimate(recipe(long), SPEED)
    assert estimate(recipe(replace(long, variant="few-shot=last")), SPEED) < 0.2 * whole
    assert estimate(recipe(replace(long, variant="q-ratio=0.1")), SPEED) == whole
    first, second = Job(TaskKey("ETTh1", 96, 96)), replace(long, variant="zero-shot=ETTh1")
    assert estimate(recipe(second), SPEED) == estimate(recipe(first), SPEED)
    search = TaskKey("ETTm1", 720, 96)
    assert estimate(recipe(Job(search, variant="lookback-search")), SPEED) > whole


def test_the_speed_of_a_machine():
    """Measured on one thread; the caller's threads are as before."""
    threads = torch.get_num_threads()
    assert 1e8 < matrix_speed(128, 2) < 1e13
    assert torch.get_num_threads() == threads
