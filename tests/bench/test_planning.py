"""The plan: cheap jobs first, what is done or has no data left out, and an estimate of the right size."""

from dataclasses import replace

import pytest
import torch
from bench_parts import EXCHANGE, ILI, POWER, planned, varied, write_data

from olinear.bench.run.planning import LONG, Plan, estimate, make_plan, wall_seconds
from olinear.bench.spec.identity import JobKey, TaskKey
from olinear.bench.spec.jobs import expand, recipe
from olinear.bench.spec.task import tasks
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
    seconds = [each.seconds for each in plan.jobs]
    assert len(plan.jobs) == len(jobs) == 2 * (4 + 8 + 8)
    assert {each.job for each in plan.jobs} == set(jobs)
    assert seconds == sorted(seconds)
    assert plan == make_plan(jobs[::-1], set(), data, SPEED)


def test_what_is_done_is_left_out(data):
    jobs = [EXCHANGE, POWER, ILI, replace(ILI, seed=2024)]
    plan = make_plan(jobs, {ILI, JobKey(TaskKey("ETTh1", 96, 96))}, data, SPEED)
    assert {each.job for each in plan.jobs} == {EXCHANGE, POWER, replace(ILI, seed=2024)}
    assert (plan.finished, plan.missing) == (1, [])


def by_name(plan: Plan) -> dict[str, int]:
    return {dataset.name: count for dataset, count in plan.missing}


def test_what_has_no_data_is_counted(data):
    """By whichever dataset it lacks: its own, the one it trains on, the one its bases are from."""
    jobs = [
        EXCHANGE,
        JobKey(TaskKey("ECL", 96, 96)),
        JobKey(TaskKey("ECL", 96, 192)),
        varied(POWER, "swapped-q=Website"),
        varied(POWER, "swapped-q=ILI"),
        varied(JobKey(TaskKey("ETTh2", 96, 96)), "zero-shot=ETTh1"),
    ]
    plan = make_plan(jobs, {jobs[1]}, data, SPEED)
    assert {each.job for each in plan.jobs} == {EXCHANGE, jobs[4]}
    assert by_name(plan) == {"ECL": 1, "Website": 1, "ETTh1": 1}
    (data / "ETTh1.csv").touch()
    assert by_name(make_plan(jobs[5:], set(), data, SPEED)) == {"ETTh2": 1}
    (data / "ETTh2.csv").touch()
    assert len(make_plan(jobs[5:], set(), data, SPEED).jobs) == 1


def test_a_variant_that_cannot_be_is_refused_before_anything_runs(data):
    with pytest.raises(ConfigError, match="Power has 2 series, Exchange 8"):
        make_plan([POWER, varied(EXCHANGE, "zero-shot=Power")], set(), data, SPEED)


def test_a_model_that_cannot_be_built_has_its_turn(data):
    """It fails there, with a row that says why, and does not keep the others from running."""
    card = varied(JobKey(TaskKey("ILI", 12, 3), "PatchTST"), "normlin-plugin/+NormLin")
    short = replace(recipe(card), options={"patch_length": 64})
    with pytest.raises(ConfigError, match="need a lookback of at least"):
        estimate(short, SPEED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("olinear.bench.run.planning.recipe", lambda job, tasks: short if job == card else recipe(job))
        plan = make_plan([card, ILI], set(), data, SPEED)
    assert [each.job for each in plan.jobs] == [card, ILI]
    assert plan.jobs[0].seconds == 0


def test_long_jobs():
    assert LONG == 20 * 60
    assert not planned(POWER, LONG - 0.1).is_long
    assert planned(POWER, LONG).is_long
    assert not planned(POWER, LONG, weights=30_000).is_long  # it would train on one thread anyhow
    assert estimate(recipe(replace(ILI, model="PatchTST")), SPEED).weights < 100_000
    assert estimate(recipe(EXCHANGE), SPEED).weights > 1_000_000


def test_how_long_jobs_take_together(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    jobs = [planned(POWER, 2 * LONG), planned(ILI, 100.0), planned(EXCHANGE, 200.0)]
    assert wall_seconds(jobs, 3) == LONG + 100
    assert wall_seconds(jobs, 1) == LONG + 150  # one at a time, on both threads
    assert wall_seconds([], 2) == 0


def test_estimates_are_of_the_right_size():
    """Exchange trains one epoch on one core in seconds; Traffic's 862 series take hours."""
    assert 5 < estimate(recipe(EXCHANGE), SPEED).seconds < 60
    assert estimate(recipe(JobKey(TaskKey("Traffic", 96, 720))), SPEED).seconds > 3600
    assert estimate(recipe(EXCHANGE), SPEED).seconds < estimate(recipe(EXCHANGE), SPEED / 10).seconds


@pytest.mark.parametrize("model", MODELS)
def test_every_model_has_an_estimate(model):
    """Also one that looks at its data, which is not there when time is estimated."""
    assert estimate(recipe(JobKey(TaskKey("ETTh1", 96, 96), model)), SPEED).seconds > 0


def test_what_is_asked_takes_as_long_as_there_are_windows_and_series():
    """A language model is not trained, and every window that is scored takes minutes."""
    small, large = (estimate(recipe(JobKey(TaskKey(name, 96, 96), "LLMTime")), SPEED) for name in ("ETTh1", "ETTm1"))
    assert large.seconds > 3.9 * small.seconds > 4 * 24 * 3600


def test_estimates_follow_what_a_variant_trains():
    long = JobKey(TaskKey("ETTm1", 96, 96))
    whole = estimate(recipe(long), SPEED)
    assert estimate(recipe(varied(long, "few-shot=last")), SPEED).seconds < 0.2 * whole.seconds
    assert estimate(recipe(varied(long, "q-ratio=0.1")), SPEED) == whole
    first, second = JobKey(TaskKey("ETTh1", 96, 96)), varied(long, "zero-shot=ETTh1")
    assert estimate(recipe(second), SPEED) == estimate(recipe(first), SPEED)
    search = TaskKey("ETTm1", 720, 96)
    assert estimate(recipe(varied(JobKey(search), "lookback-search")), SPEED).seconds > whole.seconds


def test_a_precision_is_of_jobs_whose_variant_says_nothing_of_it(data):
    jobs = [ILI, varied(ILI, "precision=auto")]
    plain, narrow = (make_plan(jobs, set(), data, SPEED, precision=name).jobs for name in ("float32", "bfloat16"))
    found = [{str(each.job.variant): each.recipe.training.precision for each in plan} for plan in (plain, narrow)]
    assert found == [{"main": "float32", "precision=auto": "auto"}, {"main": "bfloat16", "precision=auto": "auto"}]
