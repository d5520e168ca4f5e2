"""Intervals of series whose newest rows are missing: as honest as others, said in a note, and small on disk."""

import itertools
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from forecaster_parts import LOOKBACK, assert_same_frames, small, waves
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file
from torch import nn

from olinear.core.errors import DataError
from olinear.data.windows import Windows
from olinear.forecaster import Forecaster
from olinear.forecaster.intervals import KEPT, Intervals
from olinear.forecaster.known import NEVER
from olinear.forecaster.quantiles import student

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "torture"))
import interval_coverage

FIXTURES = Path(__file__).parents[1] / "fixtures"
nan = np.nan


def stopped(frame: pd.DataFrame, rows: int, name: str = "b") -> pd.DataFrame:
    """The same frame, in which a series stopped so many rows before the end."""
    data = frame.copy()
    data.loc[len(data) - rows :, name] = nan
    return data


def widths(answer: pd.DataFrame, name: str, level: int = 80) -> np.ndarray:
    return (answer[f"{name}-hi-{level}"] - answer[f"{name}-lo-{level}"]).to_numpy()


def test_coverage_is_held_whatever_is_missing():
    """The measure of `benchmarks/torture/interval_coverage.py`, on one shape: a stopped sensor once got 0.03."""
    rows = interval_coverage.measure("season", interval_coverage.made_up("season", 2400), epochs=3)
    assert [row["missing"] for row in rows] == [0, 6, 24, 48, 96]
    for row in rows:
        assert row["origins"] >= 200
        assert 0.72 <= float(row["coverage"]) <= 0.92, row


@pytest.mark.parametrize("rows", [1, 3, LOOKBACK, 2 * LOOKBACK, 60])
def test_a_note_names_what_stopped(fitted, frame, rows):
    prediction = fitted.predict_panel(stopped(frame[:130], rows), levels=[80])
    assert any("series b: without" in note and f"{rows} rows ago" in note for note in prediction.notes)
    assert fitted.predict_panel(frame[:130]).notes == []


def test_the_longer_ago_the_wider(fitted, frame):
    """And the series that did not stop keep theirs."""
    answers = [fitted.predict(stopped(frame[:130], rows), levels=[50, 80, 95]) for rows in (0, 3, 6, 12, 24)]
    for before, after in itertools.pairwise(answers):
        assert widths(after, "b").mean() >= 0.99 * widths(before, "b").mean()
    assert widths(answers[-1], "b").mean() > 1.5 * widths(answers[0], "b").mean()
    for answer in answers:
        assert (widths(answer, "b", 50) <= widths(answer, "b", 80)).all()
        assert (widths(answer, "b", 80) <= widths(answer, "b", 95)).all()
        np.testing.assert_allclose(widths(answer, "a"), widths(answers[0], "a"), rtol=1e-12)  # a difference, rounded


def test_a_series_of_which_nothing_is_known(fitted, frame):
    """Forecast near its mean in training, with the spread of training around it."""
    panel = fitted.read(frame[100:130])
    panel.values[:, 1] = nan
    prediction = fitted.predict_panel(panel, levels=[80])
    low, high = (end[:, 1] for end in prediction.bounds[80])
    train = frame["b"][:104]
    np.testing.assert_allclose(high - low, 2 * np.quantile(abs(train - train.mean()), 0.8), rtol=0.05)
    np.testing.assert_allclose(prediction.forecast.values[:, 1], train.mean(), atol=0.5 * train.std())
    assert any("series b: without any value" in note for note in prediction.notes)


def test_what_stopped_before_the_fit_is_remembered(frame, tmp_path):
    """`predict()` goes on from rows whose gaps are bridged by then; a folder remembers too."""
    data = stopped(frame, 9)
    forecaster = small().fit(data)
    answer = forecaster.predict(levels=[80])
    assert_same_frames(answer, forecaster.predict(data, levels=[80]))
    assert (widths(answer, "b") > widths(forecaster.predict(frame, levels=[80]), "b")).all()
    forecaster.save(tmp_path / "model")
    loaded = Forecaster.load(tmp_path / "model")
    assert_same_frames(loaded.predict(levels=[80]), answer)
    assert loaded.predict_panel().notes == forecaster.predict_panel().notes != []


def test_a_backtest_widens_too(fitted, frame):
    data = frame.copy()
    data.loc[138:, "b"] = nan
    table = fitted.backtest(data, windows=9, stride=1, levels=[80]).forecasts
    width = widths(table, "b").reshape(9, -1).mean(1)  # its last value is 0 … 8 rows old
    assert width[5:].min() > width[0]
    assert width[8] > 1.2 * width[0]


@pytest.mark.parametrize("folder", ["model-v1", "model-v2"])
def test_models_of_earlier_versions_widen_by_a_rule(folder):
    """They were never calibrated without recent values; narrower than with them would be wrong for certain."""
    forecaster = Forecaster.load(FIXTURES / folder)
    panel = forecaster.fitted.panel
    fresh, whole = (forecaster.fitted.answer(forecaster.fitted.history(panel).at_end(len(panel))) for _ in range(2))
    np.testing.assert_array_equal(fresh.bounds(80)[0], whole.bounds(80)[0])
    for rows in (len(panel) // 4, len(panel) - 1):
        values = panel.values.copy()
        values[-rows:, 0] = nan
        fitted, shorter = forecaster.fitted, replace(panel, values=values)
        stale = fitted.answer(fitted.history(shorter).at_end(len(panel)))
        (low, high), (before_low, before_high) = stale.bounds(80), fresh.bounds(80)
        assert (high - low)[..., 0].mean() > (before_high - before_low)[..., 0].mean()
        spread = 1.28 * np.sqrt(2 * rows / len(panel)) * stale.scale[0, 0]
        assert ((high - low)[..., 0] >= 1.99 * spread).all()


# Few calibration windows


def test_one_window_is_said_pooled_and_refused_where_it_cannot_tell():
    """60 rows leave one calibration window: 80 and 95 per cent were the same number."""
    forecaster = Forecaster(12, model_dim=8, max_epochs=2, holdout=0, progress=False).fit(waves(60, 1))
    assert forecaster.fitted.intervals.windows == 1
    notes = " | ".join(forecaster.report()["notes"])
    assert "1 calibration window" in notes
    assert "at most 92 %" in notes
    answer = forecaster.predict(levels=[50, 80, 92])
    assert (widths(answer, "a", 50) < widths(answer, "a", 80)).all()
    assert (widths(answer, "a", 80) < widths(answer, "a", 92)).all()
    with pytest.raises(DataError, match=r"95 % is not supported by 12 values of 1 calibration windows.*at most 92 %"):
        forecaster.predict(levels=[95])


def test_few_windows_hold_their_level():
    """On average over many small fits, and not for the price of boundless width."""
    inside, relative = [], []
    for seed in range(25):
        data = waves(72, 2, seed=seed)
        forecaster = Forecaster(12, 16, model_dim=8, max_epochs=2, holdout=0, progress=False)
        answer = forecaster.fit(data[:60]).predict(levels=[80])
        for name in "ab":
            actual = data[name][60:].to_numpy()
            inside.append(((actual >= answer[f"{name}-lo-80"]) & (actual <= answer[f"{name}-hi-80"])).mean())
            relative.append(widths(answer, name).mean() / data[name].std())
    assert 0.78 <= np.mean(inside) <= 0.99
    assert np.median(relative) < 6


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 10, 100])
@pytest.mark.parametrize("level", [10, 50, 80, 95])
def test_students_quantile(level, freedom):
    from scipy import stats

    assert student(level, freedom) == pytest.approx(stats.t.ppf(0.5 + level / 200, freedom), rel=0.02)


# Thousands of series


class Nothing(nn.Module):
    def __init__(self, horizon: int):
        super().__init__()
        self.horizon = horizon

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.new_zeros(len(x), self.horizon, x.shape[2])


def of_normals(n_series: int, horizon: int, rows: int) -> tuple[Intervals, Intervals]:
    """Calibrated on rows of random numbers: as it is kept, and with every level."""
    values = torch.randn(rows, n_series) * (1 + torch.rand(n_series))
    windows = Windows(values, 8, horizon)
    kept = Intervals.calibrate(Nothing(horizon), windows).with_stale(Nothing(horizon), windows, rows, 30)
    scores = abs(np.stack([(y / x.std(1, correction=0).clamp(min=0.1)[:, None])[0].numpy() for x, y in
                           (batch.pair for batch in windows.batches(1))]))  # fmt: skip
    return kept, np.quantile(scores, [0.8, 0.9, 0.95], axis=0)


def test_thousands_of_series_take_little_room():
    """2,000 series and 96 steps, a tenth of the promise: 1 MB instead of 76, and the usual levels as good as before."""
    kept, expected = of_normals(2000, 96, 250)
    size = sum(array.nbytes for array in kept.tensors().values())
    assert size <= 10_000_000 * 2000 / 20_000 * 2  # four levels while they are that few
    ones = np.ones(2000)
    for level, quantile in zip((80, 90, 95), expected, strict=True):
        np.testing.assert_allclose(np.median(kept.half_widths(level, ones) / quantile), 1, atol=0.05)


def test_twenty_thousand_series_take_ten_megabytes():
    cells = 20_000 * 96
    kept = next(levels for levels in reversed(KEPT))
    assert len(kept) * cells * 2 + 20_000 * (5 * 2 * 4 * 2 + 11 * 2 + 4 + 8) <= 10_000_000


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([5, 3000]))
def test_intervals_rise_with_the_level_however_they_are_kept(seed, n_series):
    """Fresh, stale and never seen; all levels kept, or a few."""
    torch.manual_seed(seed)
    windows = Windows(torch.randn(60, n_series), 8, 12)
    found = Intervals.calibrate(Nothing(12), windows).with_stale(Nothing(12), windows, 40, 20)
    ages = np.resize([0, 1, 5, 8, 30, NEVER], n_series)
    half = np.stack([found.half_widths(level, np.ones(n_series), ages, 8) for level in range(1, 100)])
    assert np.isfinite(half).all()
    assert (np.diff(half, axis=0) >= -1e-9).all()


def test_a_folder_holds_them_and_gives_them_back(fitted, saved):
    tensors = load_file(next(saved.glob("weights*.safetensors")))
    ours = fitted.fitted.intervals.tensors()
    assert {name for name in tensors if name.startswith("intervals.")} == {*ours, "intervals.staleness"}
    again = Forecaster.load(saved).fitted.intervals.tensors()
    for name, array in ours.items():
        np.testing.assert_array_equal(again[name], array)
