"""Backtests of any size: chunk by chunk, within an amount of memory, with the same numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from forecaster_parts import HORIZON, assert_same_frames, small, to_long, waves
from hypothesis import given, settings
from hypothesis import strategies as st

from olinear.cli.app import run
from olinear.core import OutputError
from olinear.evaluation import Scorer
from olinear.forecaster import backtesting
from olinear.forecaster.quantiles import student

WINDOWS = 40
LEVELS = [80, 95]


@pytest.fixture(scope="module")
def data(frame) -> pd.DataFrame:
    gappy = frame.copy()
    gappy.loc[[100, 121, 135, 149], "a"] = np.nan
    gappy.loc[140:143, "c"] = np.nan
    return gappy


@pytest.fixture(scope="module")
def whole(fitted, data):
    return fitted.backtest(data, windows=WINDOWS, stride=2, levels=LEVELS)


def without_room(fitted, data, **options):
    return fitted.backtest(data, windows=WINDOWS, stride=2, levels=LEVELS, memory="10kB", **options)


# Chunks


@settings(max_examples=8, deadline=None)
@given(size=st.integers(1, WINDOWS))
def test_chunks_change_no_score(fitted, data, whole, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backtesting, "_at_once", lambda _: size)
        chunked = fitted.backtest(data, windows=WINDOWS, stride=2, levels=LEVELS)
    numbers = whole.metrics.select_dtypes("number")
    np.testing.assert_allclose(chunked.metrics[numbers.columns], numbers, rtol=1e-5)
    pd.testing.assert_frame_equal(chunked.forecasts, whole.forecasts, rtol=1e-5)


def test_no_more_windows_are_scored_together_than_have_room(fitted, data, whole, monkeypatch):
    """Each chunk is as large as the sizes of data and model say, whatever the number of windows."""
    seen = []
    add = Scorer.add
    monkeypatch.setattr(Scorer, "add", lambda self, output, batch: (seen.append(len(batch)), add(self, output, batch)))
    monkeypatch.setattr(backtesting, "WORK", 2**16)
    chunked = fitted.backtest(data, windows=WINDOWS, stride=2, levels=LEVELS)
    assert max(seen) == 17  # 8 · (3 · 12 + 24 · 4 + 3 · 8) · 3 bytes each
    assert chunked.score() == pytest.approx(whole.score(), rel=1e-6)


# Room


@pytest.mark.parametrize("amount", ["1MB", "1GB", 0.9])
def test_the_memory_there_is_changes_no_number(fitted, data, whole, amount):
    result = fitted.backtest(data, windows=WINDOWS, stride=2, levels=LEVELS, memory=amount)
    assert_same_frames(result.forecasts, whole.forecasts)
    assert_same_frames(result.metrics, whole.metrics)
    assert not result.on_size


def test_without_room_there_are_scores_and_a_note(fitted, data, whole):
    said = []
    result = without_room(fitted, data, notify=said.append)
    assert result.forecasts is None
    assert_same_frames(result.metrics, whole.metrics)
    (note,) = result.on_size
    assert note.code == "backtest-forecasts-left-out"
    assert "40 windows, 4 steps and 3 series" in note
    assert "10 kB may be used" in note
    assert "out='forecasts.parquet'" in note
    assert said == list(result.on_size)


def test_what_is_large_is_said_first(fitted, data, monkeypatch):
    monkeypatch.setattr("olinear.forecaster.backtest_frames.LARGE", 1000)
    result = fitted.backtest(data, windows=WINDOWS, stride=2, levels=LEVELS)
    assert [note.code for note in result.on_size] == ["backtest-large"]
    assert "58 kB" in result.on_size[0]  # 2.5 times 40 · 4 · 3 · 6 numbers of 8 bytes


# Into a file


def read(path) -> pd.DataFrame:
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    return pd.read_csv(path, parse_dates=["cutoff", "time"])


@pytest.mark.parametrize("amount", ["10kB", "1GB"])
@pytest.mark.parametrize("name", ["f.csv", "f.csv.gz", "f.parquet"])
def test_a_file_has_them_all_with_room_or_without(fitted, data, whole, tmp_path, monkeypatch, name, amount):
    monkeypatch.setattr(backtesting, "WORK", 2**16)
    result = fitted.backtest(data, windows=WINDOWS, stride=2, levels=LEVELS, memory=amount, out=tmp_path / name)
    assert (result.forecasts is None) == (amount == "10kB")
    assert [note.code for note in result.on_size] == (["backtest-streamed"] if amount == "10kB" else [])
    pd.testing.assert_frame_equal(read(tmp_path / name), whole.forecasts, rtol=1e-5, check_dtype=False)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_long_file_goes_window_after_window(fitted, data, whole, tmp_path, monkeypatch):
    monkeypatch.setattr(backtesting, "WORK", 2**16)
    path = tmp_path / "f.parquet"
    without_room(fitted, pl.from_pandas(to_long(data)), out=path)
    table = pd.read_parquet(path)
    assert list(table)[:5] == ["unique_id", "cutoff", "ds", "y", "y-actual"]
    assert (table["unique_id"] != table["unique_id"].shift()).sum() == 3 * 3  # series by series in each of three chunks
    assert table["cutoff"][: 3 * 17 * HORIZON].max() < table["cutoff"][3 * 17 * HORIZON :].min()
    wide = table.pivot_table("y", ["cutoff", "ds"], "unique_id")
    np.testing.assert_allclose(wide.to_numpy(), whole.forecasts[["a", "b", "c"]].to_numpy(), rtol=1e-5)


def test_a_file_that_must_be_written_whole_is_refused_before_any_work(fitted, data, tmp_path):
    with pytest.raises(OutputError, match="cannot be written piece by piece"):
        without_room(fitted, data, out=tmp_path / "f.xlsx")
    assert not list(tmp_path.iterdir())


def test_what_breaks_off_leaves_the_file_as_it_was(fitted, data, tmp_path, monkeypatch):
    path = tmp_path / "f.csv"
    path.write_text("before")
    monkeypatch.setattr(backtesting, "WORK", 2**16)
    monkeypatch.setattr(Scorer, "scores", lambda self: 1 / 0)  # after all windows
    with pytest.raises(ZeroDivisionError):
        without_room(fitted, data, out=path)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


# Many series


def test_many_series_that_begin_to_move(frame):
    """Constant in training, moving in the backtest: the width of each by plain NumPy."""
    data = waves(150, 6).assign(b=1.0, d=2.0, e=3.0)
    forecaster = small().fit(data[:100])
    rng = np.random.default_rng(0)
    for name, start in (("b", 110), ("d", 104)):
        data.loc[start:, name] = rng.normal(size=150 - start).cumsum()
    table = forecaster.backtest(data, windows=30, stride=1, levels=[80]).forecasts
    half = (table[[f"{name}-hi-80" for name in "bde"]].to_numpy() - table[list("bde")].to_numpy()).reshape(
        -1, HORIZON, 3
    )
    values = data[list("bde")].to_numpy()
    origins = np.arange(150 - HORIZON - 29, 150 - HORIZON + 1)
    for window, origin in enumerate(origins):
        for place in range(3):
            seen = values[origin - 12 : origin, place]
            moved = np.flatnonzero(np.diff(seen))
            if not len(moved):
                assert (half[window, :, place] == 0).all()
                continue
            moving = seen[moved[0] :]
            moves = len(moving) - 1
            first = np.sqrt(np.mean(np.diff(moving) ** 2)) * student(80, moves)
            assert half[window, 0, place] == pytest.approx(first, rel=1e-9)
            if moves < 9:  # too few pairs of two steps: as a random walk
                np.testing.assert_allclose(
                    half[window, :, place], first * np.sqrt(np.arange(1, HORIZON + 1)), rtol=1e-9
                )


# On the command


def test_the_command_says_what_has_no_room_once(saved, data, tmp_path, capsys):
    file, out = tmp_path / "data.csv", tmp_path / "f.csv"
    data.to_csv(file, index=False)
    arguments = ["backtest", str(saved), str(file), "--windows", "5", "--memory", "1kB", "--out", str(out)]
    assert run(arguments) == 0
    messages = capsys.readouterr().err
    assert messages.count("they are written to") == 1
    assert run(arguments[:-2]) == 0
    assert "pass --out forecasts.parquet" in capsys.readouterr().err
    assert f"5 windows written to {out}" in messages
    assert len(read(out)) == 5 * HORIZON
    assert run([*arguments[:-3], "a lot"]) == 2
    assert "memory must be an amount" in capsys.readouterr().err
