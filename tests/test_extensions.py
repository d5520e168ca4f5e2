"""The table of docs/architecture.md is a promise: a model, a dataset and a metric are added by what it names."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from torch import Tensor, nn

from olinear.bench.read.measured import measure_rows
from olinear.bench.run.running import run_job
from olinear.bench.spec.jobs import recipe
from olinear.bench.spec.own_file import read_own_tasks
from olinear.bench.store.results import add_row, read_results
from olinear.cli.app import run
from olinear.core import Card
from olinear.data.windows import Windows
from olinear.evaluation import METRICS, Metric, evaluate, last_value
from olinear.forecaster import Forecaster
from olinear.models import MODELS, find_model

TASKS = """
[datasets.bakery]
file = "bakery.csv"
lookbacks = [8]
horizons = [2]

[[tasks]]
models = ["Level", "Ridge"]
training = { max_epochs = 1 }
"""


class Level(nn.Module):
    """The mean of the lookback, moved by a learnt amount."""

    def __init__(self, n_series: int, lookback: int, horizon: int, *, affine: bool = True):
        super().__init__()
        self.horizon = horizon
        self.norm = nn.LayerNorm(n_series, elementwise_affine=affine)
        self.scale = nn.Linear(1, 1)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        level = x.mean(1, keepdim=True)
        return (level + self.scale(level[..., None])[..., 0]).expand(-1, self.horizon, -1)  # b h n


@pytest.fixture
def extended(monkeypatch):
    """One card and one metric more, for one test."""
    monkeypatch.setattr(MODELS, "_cards", dict(MODELS._cards))
    monkeypatch.setattr(MODELS, "_by_class", {})
    MODELS.add(Card("Level", f"{__name__}:Level", "The mean of the lookback, moved by a learnt amount."))
    bias = Metric("bias", "bias", "mean error", lambda case: case.mean(case.error), better="target", goal=0.0)
    monkeypatch.setitem(METRICS, "bias", bias)


@pytest.fixture
def bakery(tmp_path) -> Path:
    values = np.random.default_rng(0).normal(size=(80, 2)).cumsum(0)
    frame = pd.DataFrame(values, columns=["bread", "rolls"])
    frame.insert(0, "date", pd.date_range("2024-01-01", periods=80))
    frame.to_csv(tmp_path / "bakery.csv", index=False)
    (tmp_path / "mine.toml").write_text(TASKS)
    return tmp_path


def test_a_model_is_one_file_and_one_card(extended, bakery, capsys):
    """It is found, listed, fitted, saved and loaded."""
    assert find_model("LEVEL") == "Level"
    assert run(["models"]) == 0
    assert "Level" in capsys.readouterr().out
    data = pd.read_csv(bakery / "bakery.csv", parse_dates=["date"])
    f = Forecaster(2, 8, model="level", max_epochs=1, progress=False).fit(data)
    f.save(bakery / "model")
    assert Forecaster.load(bakery / "model").predict().equals(f.predict())


def test_a_dataset_is_a_table_in_a_file_and_a_metric_one_entry(extended, bakery):
    """Both are in rows, in tables, in `evaluate` and in backtests."""
    own = read_own_tasks(bakery / "mine.toml")
    for job in own.jobs:
        add_row(bakery / "results", run_job(job, recipe(job, own.tasks), None, bakery / "checkpoint").row)
    rows = read_results(bakery / "results")
    assert {(row.key.dataset, row.model) for row in rows} == {("bakery", "Level"), ("bakery", "Ridge")}
    assert all(np.isfinite(row.scores["bias"]) for row in rows)
    measured = measure_rows(rows, ["bias"], [row.key for row in rows])
    assert len(measured) == 2
    scores = evaluate(last_value(2), Windows(np.random.default_rng(1).normal(size=(40, 2)), 8, 2))
    assert np.isfinite(scores["bias"])
    data = pd.read_csv(bakery / "bakery.csv", parse_dates=["date"])
    metrics = Forecaster(2, 8, model="Ridge", progress=False).fit(data).backtest(data, windows=3).metrics
    assert metrics["bias"].notna().all()
