"""Whole jobs with small models: scores, seeds, and what the row says of its source."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from bench_parts import ILI, POWER, varied, write_data

from olinear.bench.run import running
from olinear.bench.run.pool import PRELOADED
from olinear.bench.run.running import Outcome, run_job
from olinear.bench.run.worker import work
from olinear.bench.spec.identity import JobKey
from olinear.bench.spec.jobs import recipe
from olinear.bench.spec.task import TaskSet, paper_tasks
from olinear.bench.store.results import add_row, read_errors, read_results
from olinear.core.errors import DataError
from olinear.core.runtime import Assignment, Ended, WorkerPool, fork_server
from olinear.evaluation import METRICS, Metric
from olinear.nn.bases import make_basis


def tiny_tasks() -> TaskSet:
    """The task of POWER, and of swapped bases, with a tiny model and three epochs."""
    smaller = {"options": {"model_dim": 8, "ff_dim": 8, "embed_dim": 2, "blocks": 1, "dropout": 0.0}}
    tasks = {}
    for key, task in paper_tasks().tasks.items():
        settings = {
            name: setting.model_copy(update=smaller | {"training": setting.training | {"max_epochs": 3}})
            for name, setting in task.settings.items()
        }
        tasks[key] = replace(task, settings=settings)
    return TaskSet(tasks, {}, "tests")


TINY = tiny_tasks()


def run(job: JobKey, folder: Path, checkpoint: Path) -> Outcome:
    return run_job(job, recipe(job, TINY), folder, checkpoint)


def test_a_real_job(tmp_path):
    """The scores in the row are those of the best weights on the test windows, cut and scored by NumPy here."""
    folder = write_data(tmp_path / "data")
    models = []
    with pytest.MonkeyPatch.context() as patch:
        build = running.build_model
        patch.setattr(running, "build_model", lambda *given: models.append(build(*given)) or models[-1])
        row, _, errors = run(POWER, folder, tmp_path / "run")
        assert (tmp_path / "run").exists()
        again, _, _ = run(POWER, folder, tmp_path / "other")
    assert replace(again, seconds=None, peak_memory_mb=None) == replace(row, seconds=None, peak_memory_mb=None)
    assert (row.epochs, row.windows) == (3, 24 - 9 + 1)
    assert row.parameters == sum(weight.numel() for weight in models[0].parameters())

    values = np.loadtxt(folder / "power.csv", delimiter=",", skiprows=1, usecols=(1, 2))
    scaled = ((values - values[:84].mean(0)) / values[:84].std(0)).astype(np.float32)
    squares, sizes = [], []
    for first in range(96, 120 - 9 + 1):
        with torch.no_grad():
            forecast = models[0].eval()(torch.tensor(scaled[None, first - 12 : first]))[0].numpy()
        error = forecast.astype(float) - scaled[first : first + 9]
        squares.append((error**2).mean())
        sizes.append(abs(error).mean())
    np.testing.assert_allclose(errors, squares, rtol=1e-4)
    assert row.mse == pytest.approx(np.mean(squares), rel=1e-4)
    assert row.mae == pytest.approx(np.mean(sizes), rel=1e-4)
    for size, transform in ((12, models[0].input_transform), (9, models[0].output_transform)):
        np.testing.assert_allclose(transform.basis, make_basis("pearson", size, scaled[:84]), atol=1e-6)


def test_other_real_jobs(tmp_path):
    """Each variant trains, and makes a difference."""
    folder = write_data(tmp_path / "data")
    variants = ["main", "OLinear-C", "q-ratio=0.5", "swapped-q=ILI", "embed=3", "bases/Fourier", "rank=2"]
    rows = [run(varied(POWER, variant), folder, tmp_path / variant)[0] for variant in variants]
    assert [str(row.variant) for row in rows] == variants
    for row in rows:
        assert np.isfinite([*row.scores.values(), row.validation_loss]).all()
        assert {"mse", "mae", "r2", "pearson", "window_mase", "mase"} <= set(row.scores)
    assert len({row.mse for row in rows}) == len(variants)


def test_a_job_is_the_same_in_a_warm_process_and_in_a_fresh_one(tmp_path):
    """After another job, again, and in a process from nothing: equal but for time and memory, bit by bit."""
    folder, rows, found = write_data(tmp_path / "data"), [], recipe(POWER, TINY)
    drawing = replace(found, options=dict(found.options) | {"dropout": 0.3})
    for name, context in {"warm": fork_server(PRELOADED), "again": fork_server(PRELOADED), "fresh": None}.items():
        others = [Assignment(ILI, work, (ILI, recipe(ILI, TINY), tmp_path / name, folder), 1)] if name == "warm" else []
        jobs = [*others, Assignment(POWER, work, (POWER, drawing, tmp_path / name, folder), 1)]
        assert [news[1] for news in WorkerPool(1, context=context).run(jobs) if news and news[1] == Ended()]
        rows += [row for row in read_results(tmp_path / name) if row.job == POWER]
    warm, again, fresh = (replace(row, seconds=None, peak_memory_mb=None) for row in rows)
    assert warm == again == fresh
    assert fresh.error == ""
    errors = [read_errors(tmp_path / name, POWER) for name in ("warm", "again", "fresh")]
    assert len({each.tobytes() for each in errors if each is not None}) == 1


def test_a_seed_decides_the_first_weights_and_the_order(tmp_path, monkeypatch):
    """Both, so that the spread over seeds is not of one of them alone."""
    folder = write_data(tmp_path / "data")
    weights, seeds = [], []
    train = running.train

    def look(model, training, validation, config, **others):
        weights.append(model.extension.detach().clone())
        seeds.append(config.seed)
        return train(model, training, validation, config, **others)

    monkeypatch.setattr(running, "train", look)
    rows = [run(replace(POWER, seed=seed), folder, tmp_path / str(seed))[0] for seed in (2023, 2024)]
    assert rows[0].mse != rows[1].mse
    assert seeds == [2023, 2024]
    for seed, found in zip(seeds, weights, strict=True):
        torch.manual_seed(seed)
        assert torch.equal(found, torch.randn(2))


def test_data_that_is_not_there(bare_machine, tmp_path):
    with pytest.raises(DataError, match=r"Power needs power.csv, not found in"):
        run(POWER, tmp_path, tmp_path / "run")


def test_a_metric_of_the_registry_is_in_new_rows(tmp_path, monkeypatch):
    """One entry adds it to what is scored, kept and read."""
    add_row(tmp_path, run(varied(POWER, "rank=2"), write_data(tmp_path / "data"), tmp_path / "before").row)
    added = Metric("cubed", "cubed", "mean cubed error", lambda case: case.mean(case.error.abs() ** 3))
    monkeypatch.setitem(METRICS, "cubed", added)
    row = run(POWER, tmp_path / "data", tmp_path / "run").row
    add_row(tmp_path, row)
    found = {each.job: each for each in read_results(tmp_path)}
    assert found[POWER].scores["cubed"] == pytest.approx(row.scores["cubed"], rel=1e-5)
    assert "cubed" not in found[varied(POWER, "rank=2")].scores


def test_mase_is_scaled_by_the_training_rows(tmp_path):
    """Not by what the window shows: the standard one, with the last value as the forecast to beat."""
    folder = write_data(tmp_path / "data")
    row = run(POWER, folder, tmp_path / "run").row
    values = np.loadtxt(folder / "power.csv", delimiter=",", skiprows=1, usecols=(1, 2))
    scaled = ((values - values[:84].mean(0)) / values[:84].std(0)).astype(np.float32)
    steps = np.abs(np.diff(scaled[:84], axis=0)).mean(0)
    assert steps.min() * row.scores["mase"] <= row.mae <= steps.max() * row.scores["mase"]
