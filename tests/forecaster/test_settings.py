"""What is chosen from the data, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olinear.core.errors import ConfigError, DataError
from olinear.core.settings import Settings, flatten
from olinear.data.frames import Frequency, Panel
from olinear.forecaster.choosing import choose_settings, default_lookback
from olinear.forecaster.noticing import notes_on

modest = settings(max_examples=100)
HOURLY = Frequency("h")


def choose(rows: int, n_series: int = 3, frequency: Frequency = HOURLY, **given) -> Settings:
    return choose_settings({"horizon": 4} | given, "OLinear", rows, n_series, frequency)


@modest
@given(st.integers(1, 500), st.integers(1, 5000), st.sampled_from([1, 4, 5, 7, 12, 24, 52, 60, 96, 1440]))
def test_the_lookback_chosen_leaves_a_window(horizon, extra, season):
    """A default must never be the reason for which a fit is refused: where one row can be looked back on, it fits."""
    rows = horizon + extra
    lookback = default_lookback(horizon, rows, season)
    assert 1 <= lookback <= 720
    assert lookback + horizon <= rows


@pytest.mark.parametrize(
    ("horizon", "rows", "season", "expected"),
    [
        (4, 10_000, 24, 96),  # four days of hours
        (4, 10_000, 7, 28),
        (4, 10_000, 52, 104),  # two years of weeks
        (4, 10_000, 1, 8),
        (100, 10_000, 24, 200),  # twice the horizon
        (4, 100, 24, 25),  # a quarter of the rows
        (4, 10_000, 1440, 720),
    ],
)
def test_the_lookback_follows_season_horizon_and_rows(horizon, rows, season, expected):
    assert default_lookback(horizon, rows, season) == expected


def test_a_season_beyond_the_longest_lookback_is_noted():
    """A day of minutes has 1,440 steps, of which the default looks back on half: a note says so."""
    rows = 4000
    times = pd.date_range("2024-01-01", periods=rows, freq="min")
    panel = Panel(np.random.default_rng(0).normal(size=(rows, 1)), times, ["a"], Frequency("min"))
    cut, whole = (choose(rows, 1, panel.frequency, **given) for given in ({}, {"lookback": 1440}))
    assert [note.code for note in notes_on(panel, cut, 3000, np.array([True]))] == ["lookback-short"]
    assert notes_on(panel, whole, 3000, np.array([True])) == []


@pytest.mark.parametrize(("step", "expected"), [("h", 96), ("D", 28), ("B", 20), ("MS", 48), ("W", 104), ("YE", 8)])
def test_the_season_comes_from_the_frequency(step, expected):
    assert choose(10_000, frequency=Frequency(step)).lookback == expected


def test_more_data_gets_a_larger_model():
    """Width, blocks and batches grow with the rows; epochs and patience shrink when they are many."""
    chosen = [choose(rows) for rows in (40, 150, 400, 900, 3000, 8000, 50_000)]
    for name in ("model_dim", "blocks"):
        values = [getattr(one.model, name) for one in chosen]
        assert values == sorted(values)
        assert values[0] < values[-1]
    batches = [one.training.batch_size for one in chosen]
    assert batches == sorted(batches)
    assert batches[0] < batches[-1]
    for name in ("max_epochs", "patience"):
        values = [getattr(one.training, name) for one in chosen]
        assert values == sorted(values, reverse=True)
        assert values[0] > values[-1]
    assert choose(50_000, n_series=300).training.batch_size < choose(50_000).training.batch_size


def test_what_is_given_is_taken():
    given = {
        "lookback": 9,
        "model_dim": 5,
        "blocks": 0,
        "dropout": 0.3,
        "validation": 0.25,
        "refit": True,
        "basis": "haar",
        "missing": "error",
    }
    training = {"seed": 3, "device": "cpu", "batch_size": 2, "learning_rate": 0.1, "loss": "l1", "patience": 1}
    chosen = choose(100, **given, **training)
    assert given.items() <= flatten(chosen).items()
    assert training.items() <= flatten(chosen).items()


def test_none_means_choose():
    assert choose(100, model_dim=None, lookback=None, max_epochs=None) == choose(100)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"dropout": 1}, ["dropout", "less than 1", "found 1"]),
        ({"validation": 0}, ["validation", "greater than 0", "found 0"]),
        ({"batch_size": 0}, ["batch_size", "found 0"]),
        ({"schedule": "type9"}, ["schedule", "'type1'", "found 'type9'"]),
        ({"lookbak": 3}, ["lookbak", "found 3"]),
    ],
)
def test_a_refusal_names_the_option_the_range_and_the_value(given, words):
    with pytest.raises(ConfigError) as caught:
        choose(100, **given)
    for word in words:
        assert word in str(caught.value)


@modest
@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 100))
def test_rows_are_refused_exactly_when_no_window_fits(lookback, horizon, rows):
    if rows < lookback + horizon:
        with pytest.raises(DataError, match=f"need {lookback + horizon} rows, found {rows}"):
            choose(rows, horizon=horizon, lookback=lookback)
    else:
        assert choose(rows, horizon=horizon, lookback=lookback).lookback == lookback
