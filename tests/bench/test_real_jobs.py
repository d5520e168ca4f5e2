"""Whole jobs with small models: scores, seeds, and what the row says of its source."""

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from bench_parts import POWER, write_data

from olinear.bench.run import preparing, running
from olinear.bench.run.running import run_job
from olinear.bench.spec import jobs
from olinear.bench.spec.task import find_task
from olinear.core.errors import DataError
from olinear.nn import OLinear
from olinear.nn.bases import make_basis


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every task with a tiny model and three epochs."""

    def find(*arguments):
        return replace(find_task(*arguments), model_dim=8, ff_dim=8, embed_dim=2, blocks=1, max_epochs=3)

    monkeypatch.setattr(jobs, "find_task", find)


def test_a_real_job(small, tmp_path):
    """The scores in the row are those of the best weights on the test windows, cut and scored by NumPy here."""
    folder = write_data(tmp_path / "data")
    models = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(preparing, "OLinear", lambda *sizes, **rest: models.append(OLinear(*sizes, **rest)) or models[-1])
        row, _, errors = run_job(POWER, folder, tmp_path / "run")
        assert (tmp_path / "run").exists()
        again, _, _ = run_job(POWER, folder, tmp_path / "other")
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


def test_other_real_jobs(small, tmp_path):
    """Each variant trains, and makes a difference."""
    folder = write_data(tmp_path / "data")
    variants = ["main", "OLinear-C", "q-ratio=0.5", "swapped-q=ILI", "embed=3", "bases/Fourier", "rank=2"]
    rows = [run_job(replace(POWER, variant=variant), folder, tmp_path / variant)[0] for variant in variants]
    assert [row.variant for row in rows] == variants
    for row in rows:
        assert np.isfinite([row.mse, row.mae, row.r2, row.pearson, row.mase, row.validation_loss]).all()
    assert len({row.mse for row in rows}) == len(variants)


def test_a_seed_decides_the_first_weights_and_the_order(small, tmp_path, monkeypatch):
    """Both, so that the spread over seeds is not of one of them alone."""
    folder = write_data(tmp_path / "data")
    weights, seeds = [], []
    train = running.train

    def look(model, training, validation, config, **others):
        weights.append(model.extension.detach().clone())
        seeds.append(config.seed)
        return train(model, training, validation, config, **others)

    monkeypatch.setattr(running, "train", look)
    rows = [run_job(replace(POWER, seed=seed), folder, tmp_path / str(seed))[0] for seed in (2023, 2024)]
    assert rows[0].mse != rows[1].mse
    assert seeds == [2023, 2024]
    for seed, found in zip(seeds, weights, strict=True):
        torch.manual_seed(seed)
        assert torch.equal(found, torch.randn(2))


def test_data_that_is_not_there(bare_machine, tmp_path):
    with pytest.raises(DataError, match=r"Power needs power.csv, not found in"):
        run_job(POWER, tmp_path, tmp_path / "run")


def test_commit(tmp_path, monkeypatch):
    """Of the checkout this runs from, marked if it was changed; nothing where git knows nothing of it."""
    told = running.commit()
    root = Path(__file__).parents[2]
    here = subprocess.run(["git", "-C", root, "rev-parse", "HEAD"], capture_output=True, text=True, check=False)
    if here.returncode == 0:
        assert here.stdout.startswith(told.rstrip("+"))
        assert len(told.rstrip("+")) == 10
    monkeypatch.setattr(running, "__file__", str(tmp_path / "running.py"))
    assert running.commit() == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert running.commit() == ""
