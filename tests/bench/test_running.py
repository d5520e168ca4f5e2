"""A job reads the rows it may read and no others, whatever its variant; its row says what was done.

Most tests run whole jobs on made-up values with a recorder in the place of model, training and scoring.
"""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from bench_parts import varied, walk
from numpy.typing import NDArray
from torch import nn

from olinear.bench.run import preparing, running
from olinear.bench.run.running import Outcome, run_job
from olinear.bench.spec.identity import JobKey, TaskKey
from olinear.bench.spec.jobs import recipe
from olinear.bench.spec.task import tasks
from olinear.core.errors import DataError
from olinear.data.datasets import Dataset, catalogue
from olinear.data.windows import Windows
from olinear.evaluation import Scores
from olinear.training import TrainingConfig, TrainingReport

ETTH2, ILI = TaskKey("ETTh2", 96, 96), TaskKey("ILI", 36, 24)
SCORES = ("mse", "mae", "r2", "pearson", "window_mase")
MONTHS = {"ETTh1": 720, "ETTh2": 720, "ETTm1": 2880, "ETTm2": 2880}  # rows
# Test windows of the first horizon, as other benchmarks of these files log them.
KNOWN = {"ETTh1": 2785, "ETTm1": 11425, "Weather": 10444, "ECL": 5165, "Traffic": 3413, "Exchange": 1422}


class Model(nn.Module):
    """Takes any settings and keeps them."""

    def __init__(self, *sizes: int, **settings: object):
        super().__init__()
        self.sizes, self.settings = sizes, settings
        self.weight = nn.Parameter(torch.zeros(3, 5))

    def compact(self) -> "Model":
        return self

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[:, -1:].expand(-1, self.sizes[2], -1)


@dataclass
class Seen:
    """What a job asked for."""

    bases: list[tuple[NDArray[np.generic], int, str]] = field(default_factory=list)
    model: Model | None = None
    training: Windows | None = None
    validation: Windows | None = None
    config: TrainingConfig | None = None
    test: Windows | None = None


def raw(dataset: Dataset, rows: int | None = None) -> NDArray[np.float64]:
    """One column that counts the rows, on a scale that tells the datasets apart; the others are noise."""
    rows = rows or dataset.rows
    column = np.arange(rows) * float(1 + list(catalogue()).index(dataset.name))
    return np.column_stack([column, *walk(rows, dataset.series - 1).T]) if dataset.series < 10 else column[:, None]


def counted(values: NDArray[np.generic], dataset: str) -> NDArray[np.int64]:
    """The rows of standardised values, from the column that counts them."""
    train = raw(catalogue()[dataset])[: train_rows(catalogue()[dataset]), 0]
    step = train[1]
    return np.rint((values[..., 0].astype(float) * train.std() + train.mean()) / step).astype(int)


def train_rows(dataset: Dataset) -> int:
    if dataset.name in MONTHS:
        return 12 * MONTHS[dataset.name]
    return int(dataset.rows * {"7:1:2": 0.7, "6:2:2": 0.6}[dataset.split])


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """A job's requests, in the place of their being met."""
    asked = Seen()

    def fit(known, size, basis):
        asked.bases.append((np.asarray(known), size, basis))

    def build(name, known, lookback, horizon, **settings):
        fit(known, lookback, "pearson")
        fit(known, horizon, "pearson")
        asked.model = Model(known.shape[1], lookback, horizon, **settings)
        return asked.model

    def empty(name, *sizes, input_transform, output_transform, **settings):
        asked.model = Model(*sizes, **settings)
        return asked.model

    def train(model, training, validation, config, **_):
        asked.training, asked.validation, asked.config = training, validation, config
        return TrainingReport(4, 0.25, False, 7, 1.26, [])

    def evaluate(model, windows, batch_size, context):
        asked.test = windows
        return Scores(dict(zip(SCORES, (0.1, 0.2, 0.3, 0.4, 0.5), strict=True)), len(windows))

    data = {"require": lambda dataset, folder: Path(dataset.name), "load_values": lambda dataset, path: raw(dataset)}
    for name, value in data.items():
        monkeypatch.setattr(preparing, name, value)
    monkeypatch.setattr(preparing, "OrthoTrans", SimpleNamespace(fit=fit))
    monkeypatch.setattr(preparing, "models", SimpleNamespace(build_model=build, empty_model=empty))
    for name, value in {"train": train, "evaluate": evaluate, "commit": lambda: "abc"}.items():
        monkeypatch.setattr(running, name, value)
    return asked


def test_scores_that_are_no_numbers_are_no_result(seen, monkeypatch):
    monkeypatch.setattr(running, "evaluate", lambda *_, **__: Scores({"mse": float("nan"), "mae": 0.2}, 9))
    with pytest.raises(DataError, match=r"the scores are no numbers: MSE nan, MAE 0\.2"):
        do(JobKey(ETTH2))


def outcome(job: JobKey) -> Outcome:
    return run_job(job, recipe(job), None, Path("nowhere"))


def do(job: JobKey) -> None:
    outcome(job)


@pytest.mark.parametrize("name", catalogue())
def test_rows_of_every_task(seen, name):
    """Counted by another formula: no window reaches over its split, and every test row is a target that is scored."""
    dataset = catalogue()[name]
    for key, task in tasks().items():
        if key.dataset != name:
            continue
        do(JobKey(key))
        _, lookback, horizon = key
        rows, train = dataset.rows, train_rows(dataset)
        stop, tests = rows, int(rows * 0.2)
        if task.split:
            train = int(rows * 0.6)
        if name in MONTHS:
            stop, tests = 20 * MONTHS[name], 4 * MONTHS[name]
        back = 0 if name.startswith("PEMS") else lookback  # rows lent by the span before
        assert spans(seen.training) == (0, train)
        assert spans(seen.validation) == (train - back, stop - tests)
        assert spans(seen.test) == (stop - tests - back, stop)
        assert len(seen.training) == train - lookback - horizon + 1
        assert len(seen.test) == tests - (lookback - back) - horizon + 1
        if horizon == dataset.horizons[lookback][0] and name in KNOWN:
            assert len(seen.test) == KNOWN[name]
        for known, size, basis in seen.bases[-2:]:
            assert (size, basis) in ((lookback, "pearson"), (horizon, "pearson"))
            np.testing.assert_array_equal(known, seen.training.values[:train])
        assert seen.config == TrainingConfig(**task.settings["OLinear"].training, seed=2023)


def spans(windows: Windows) -> tuple[int, int]:
    """The first row that is read and the one after the last; all windows between are there."""
    assert windows.starts.step == 1
    return windows.starts[0], windows.starts[-1] + windows.lookback + windows.horizon


def test_series_are_standardised_by_all_training_rows(seen):
    for variant in ("main", "few-shot=first", "few-shot=last", "q-ratio=0.2"):
        do(varied(JobKey(ETTH2), variant))
        values = raw(catalogue()["ETTh2"])
        expected = (values - values[:8640].mean(0)) / values[:8640].std(0)
        for windows in (seen.training, seen.validation, seen.test):
            np.testing.assert_allclose(windows.values, expected, rtol=1e-5, atol=1e-6)
    assert counted(seen.test.values.numpy(), "ETTh2")[[0, 5, 14399]].tolist() == [0, 5, 14399]


@pytest.mark.parametrize(("end", "rows"), [("first", range(864)), ("last", range(7776, 8640))])
def test_few_shot_rows(seen, end, rows):
    """A tenth of the training rows, for the windows and for the bases; validation and test are what they were."""
    do(varied(JobKey(ETTH2), f"few-shot={end}"))
    assert spans(seen.training) == (rows.start, rows.stop)
    assert len(seen.training) == 864 - 96 - 96 + 1
    for known, _, _ in seen.bases:
        assert counted(known, "ETTh2").tolist() == list(rows)
    assert spans(seen.validation) == (8640 - 96, 11520)
    assert spans(seen.test) == (11520 - 96, 14400)


def test_few_shot_without_a_window(seen):
    """The error that the row will tell is of the tenth, not of the file."""
    with pytest.raises(DataError, match=r"lookback 96 and horizon 720 need 816 rows, found 531"):
        do(varied(JobKey(TaskKey("Exchange", 96, 720)), "few-shot=last"))


@pytest.mark.parametrize("share", [0.8, 0.2, 0.1])
def test_q_ratio_takes_the_last_part_for_the_basis_only(seen, share):
    do(varied(JobKey(ETTH2), f"q-ratio={share}"))
    for known, _, _ in seen.bases:
        assert counted(known, "ETTh2").tolist() == list(range(8640 - int(share * 8640), 8640))
    assert spans(seen.training) == (0, 8640)


def test_zero_shot(seen):
    """Trained on A, with A's bases; scored on every test window of B, standardised by B's own training rows."""
    do(varied(JobKey(TaskKey("ETTm2", 96, 192)), "zero-shot=ETTh1"))
    first, second = raw(catalogue()["ETTh1"]), raw(catalogue()["ETTm2"])
    for windows, values, train in ((seen.training, first, 8640), (seen.test, second, 34560)):
        expected = (values - values[:train].mean(0)) / values[:train].std(0)
        np.testing.assert_allclose(windows.values, expected, rtol=1e-5, atol=1e-6)
    assert seen.validation.values is not seen.test.values
    assert spans(seen.validation) == (8640 - 96, 11520)
    assert len(seen.test) == 11520 - 192 + 1
    for known, _, _ in seen.bases:
        assert counted(known, "ETTh1").tolist() == list(range(8640))
    assert seen.config.learning_rate == tasks()[TaskKey("ETTh1", 96, 192)].settings["OLinear"].config.learning_rate


def test_swapped_q(seen):
    """The bases of another dataset, from its own training rows; everything else as before."""
    do(varied(JobKey(ILI), "swapped-q=Power"))
    for known, _, _ in seen.bases:
        assert known.shape == (830, 2)
        assert counted(known, "Power").tolist() == list(range(830))
    assert seen.model.sizes == (7, 36, 24)
    assert spans(seen.training) == (0, 676)


def test_swapped_q_from_and_to_a_task_with_a_split_of_its_own(seen):
    """COVID-19 at lookback 36 trains on six tenths: its bases see no more, and those of others no less."""
    do(varied(JobKey(ILI), "swapped-q=COVID-19"))
    assert {len(known) for known, _, _ in seen.bases} == {int(0.6 * 335)}
    seen.bases.clear()
    do(varied(JobKey(ILI._replace(dataset="COVID-19")), "swapped-q=ILI"))
    assert {len(known) for known, _, _ in seen.bases} == {int(0.7 * 966)}
    assert spans(seen.training) == (0, int(0.6 * 335))


def test_lookback_search_has_the_same_targets_for_every_lookback(seen):
    """Otherwise the validation losses by which one is chosen could not be compared."""
    for lookback in (96, 720):
        do(varied(JobKey(TaskKey("ETTh2", lookback, 96)), "lookback-search"))
        assert spans(seen.validation) == (8640 - lookback, 11520)
        assert spans(seen.test) == (11520 - lookback, 14400)
        assert len(seen.test) == 2785
        assert seen.model.sizes == (7, lookback, 96)


def test_the_published_basis_is_of_raw_training_rows(seen):
    do(varied(JobKey(ETTH2), "bases/Published"))
    for known, _, basis in seen.bases:
        assert basis == "published"
        np.testing.assert_array_equal(known, raw(catalogue()["ETTh2"])[:8640])


def test_settings_of_the_model(seen):
    key = TaskKey("ETTh2", 96, 336)
    do(JobKey(key))
    assert seen.model.settings == tasks()[key].settings["OLinear"].options
    do(varied(JobKey(key), "embed=8"))
    assert seen.model.settings["embed_dim"] == 8
    do(varied(JobKey(key), "rank=3"))
    assert seen.model.settings["rank"] == 3


def test_olinear_c(seen):
    """NormLin's matrix is the softmax of the correlation of the training rows, by rows, and is not trained."""
    do(varied(JobKey(ETTH2), "OLinear-C"))
    mixer = seen.model.settings["mixer"](7, 512)
    correlation = np.corrcoef(raw(catalogue()["ETTh2"])[:8640].T)
    expected = np.exp(correlation) / np.exp(correlation).sum(1, keepdims=True)
    np.testing.assert_allclose(mixer.matrix(), expected, atol=1e-5)
    assert list(mixer.parameters()) == []


def test_the_row(seen):
    row, drawn, _ = outcome(JobKey(ILI, seed=2024))
    assert row.job == JobKey(ILI, seed=2024)
    assert list(row.scores.items()) == list(zip(SCORES, (0.1, 0.2, 0.3, 0.4, 0.5), strict=True))
    assert (row.windows, row.best_epoch, row.epochs, row.seconds) == (193 - 23, 4, 7, 1.3)
    assert (row.parameters, row.validation_loss, row.error, row.commit) == (15, 0.25, "", "abc")
    assert row.peak_memory_mb > 50
    for word in ("olinear 0", f"torch {torch.__version__}", f"numpy {np.__version__}", "python 3."):
        assert word in row.versions
    assert drawn is None
    assert seen.config.seed == 2024


def test_forecasts_to_draw(seen):
    """One horizon of each dataset, main and first seed only: the first series of three windows."""
    _, drawn, _ = outcome(JobKey(ILI))
    assert {key: drawn[key] for key in ("dataset", "lookback", "horizon", "variant", "seed")} == {
        **ILI._asdict(),
        "variant": "main",
        "seed": 2023,
    }
    assert [window["start"] for window in drawn["windows"]] == [42, 85, 127]
    values = seen.test.values.numpy()[:, 0]
    for window in drawn["windows"]:
        first = seen.test.starts[window["start"]]
        np.testing.assert_allclose(window["history"], values[first : first + 36], atol=1e-4)
        np.testing.assert_allclose(window["actual"], values[first + 36 : first + 60], atol=1e-4)
        np.testing.assert_allclose(window["forecast"], [values[first + 35]] * 24, atol=1e-4)
    for job in (JobKey(ILI._replace(horizon=36)), varied(JobKey(ILI), "embed=8")):
        assert outcome(job)[1] is None
