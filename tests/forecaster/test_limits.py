"""What a forecast may not leave, decided from the rows of the fit and from those at hand; medians and means."""

import numpy as np
import pandas as pd
import pytest
from forecaster_parts import HORIZON, small, waves
from hypothesis import given, settings
from hypothesis import strategies as st

from olinear.core.errors import ConfigError
from olinear.core.settings import check_given, parse_bounds
from olinear.forecaster import Forecaster

nan = np.nan


def rain(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    """Mostly nothing, at times something; and a series of both signs."""
    rng = np.random.default_rng(seed)
    wet = np.where(rng.random(rows) < 0.25, rng.exponential(3, rows), 0)
    times = pd.date_range("2024-01-01", periods=rows, freq="h")
    return pd.DataFrame({"time": times, "rain": wet, "both": rng.normal(size=rows)})


@pytest.fixture(scope="module")
def rainy() -> Forecaster:
    return small(max_epochs=4, loss="l2").fit(rain())


def bounds_of(answer: pd.DataFrame, name: str, level: int = 80) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return tuple(answer[f"{name}{end}"].to_numpy() for end in (f"-lo-{level}", "", f"-hi-{level}"))


def test_what_never_was_negative_is_not_forecast_so(rainy):
    """Points and bounds of many origins: on counts a fifth of the points was negative, and equal to the lower bound."""
    forecasts = rainy.backtest(rain(600, seed=1), windows=200, stride=1, levels=[80]).forecasts
    low, point, high = bounds_of(forecasts, "rain")
    assert (low >= 0).all()
    assert (point >= 0).all()
    assert (low <= point).all()
    assert (point <= high).all()
    assert (forecasts["both-lo-80"] < 0).any()


def test_the_rows_at_hand_count_too():
    """Shifted below zero, its interval is not cut at zero: it held 0.47 of the values instead of 0.80."""
    data = waves(400, 2).assign(a=lambda frame: frame["a"] + 2)
    forecaster = small(max_epochs=6, model_dim=16).fit(data[:300])
    shifted = data.assign(a=data["a"] - 10)
    scores = forecaster.backtest(shifted, windows=60, stride=1, levels=[80])
    assert scores.score(series="a", metric="coverage_80") > 0.6
    plain = forecaster.backtest(data, windows=60, stride=1, levels=[80])
    here, there = bounds_of(scores.forecasts, "a"), bounds_of(plain.forecasts, "a")
    for shifted_end, end in zip(here, there, strict=True):
        np.testing.assert_allclose(shifted_end + 10, end, atol=1e-3)


def visits(rows: int = 400, seed: int = 0) -> pd.DataFrame:
    """Whole numbers."""
    return rain(rows, seed).assign(visits=np.random.default_rng(seed).poisson(6, rows))


@pytest.fixture(scope="module")
def visited() -> Forecaster:
    return small(max_epochs=2).fit(visits())


def test_bounds_of_whole_numbers_are_whole(visited):
    """Unless none lies between; a fraction in the rows at hand shows that the series is not one of whole numbers."""
    later = visits(600, seed=1)
    for rows, whole in ((later, True), (later.assign(visits=later["visits"] + 0.25), False)):
        forecasts = visited.backtest(rows, windows=100, stride=1, levels=[50, 80]).forecasts
        low, point, high = bounds_of(forecasts, "visits")
        assert (low <= point).all()
        assert (point <= high).all()
        assert ((low == np.ceil(low)).all() and (high == np.floor(high)).all()) == whole
        fraction = bounds_of(forecasts, "both")
        assert (fraction[0] != np.ceil(fraction[0])).any()


def test_whole_bounds_hold_what_the_others_do(visited):
    later = visits(600, seed=1)
    whole = visited.backtest(later, windows=100, stride=1, levels=[80])
    kept = visited.fitted.whole
    visited.fitted.whole = None
    plain = visited.backtest(later, windows=100, stride=1, levels=[80])
    visited.fitted.whole = kept
    scores = [each.score(series="visits", metric="coverage_80") for each in (whole, plain)]
    assert scores[0] == scores[1] > 0.6
    assert (whole.forecasts["visits-hi-80"] < plain.forecasts["visits-hi-80"]).all()


@pytest.mark.parametrize(("bounds", "low", "high"), [((0, 1), 0, 1), ("0,1", 0, 1), ((None, 0.5), -np.inf, 0.5)])
def test_bounds_that_are_given_hold_for_every_series(frame, bounds, low, high):
    answer = small(bounds=bounds).fit(frame).predict(levels=[50, 95])
    for name in "abc":
        for level in (50, 95):
            least, point, most = bounds_of(answer, name, level)
            assert (least >= low).all()
            assert (most <= high).all()
            assert (least <= point).all()
            assert (point <= most).all()


def test_none_bounds_nothing():
    answer = small(max_epochs=4, loss="l2", bounds="none").fit(rain()).predict(levels=[95])
    low, point, high = bounds_of(answer, "rain", 95)
    np.testing.assert_allclose(point - low, high - point)
    assert (low < 0).any()


@pytest.mark.parametrize("bounds", ["yes", "1,0", "0,0", "0", "0,1,2", "a,b", (1, 0), (1, 2, 3), 5, "nan,1"], ids=repr)
def test_bounds_that_are_none_are_refused(bounds):
    with pytest.raises(ConfigError, match="bounds must be auto, none, or a low and a higher end"):
        Forecaster(4, bounds=bounds)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6))
def test_a_pair_survives_as_text(low, width):
    given_bounds = check_given({"bounds": (low, low + width)})["bounds"]
    assert parse_bounds(given_bounds) == (low, low + width)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(-5, 5), st.integers(0, 20))
def test_bounds_are_ordered_whatever_comes(fitted, seed, shift, gap):
    """Any rows, with gaps at their end or not: low ≤ point ≤ high, one level inside the next."""
    rng = np.random.default_rng(seed)
    data = waves(40, seed=seed % 1000)
    data[["a", "b", "c"]] = data[["a", "b", "c"]] * rng.exponential(2) + shift
    data.loc[len(data) - gap :, "a"] = nan
    answer = fitted.predict(data, levels=[50, 80, 95])
    for name in "abc":
        ends = [answer[f"{name}{end}"] for end in ("-lo-95", "-lo-80", "-lo-50", "", "-hi-50", "-hi-80", "-hi-95")]
        assert (np.diff(np.stack(ends), axis=0) >= 0).all()


# Series that did not move


@pytest.mark.parametrize("shape", ["walk", "noise", "step"])
def test_a_constant_that_moves_later_has_an_honest_interval(shape):
    """Zero width held nothing. Its own moves tell how far it goes; a note says so."""
    inside, relative = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        noise = rng.normal(size=120)
        moves = {"walk": np.cumsum(noise), "noise": noise, "step": np.where(np.arange(120) > 60, 5.0, 0.0) + noise}
        data = waves(270).assign(b=7.0)
        data.loc[150:, "b"] = 7 + moves[shape]
        if seed == 0:
            forecaster = small().fit(data[:150])
        origin = int(rng.integers(180, 260))
        prediction = forecaster.predict_panel(data[:origin], levels=[80])
        low, high = (end[:, 1] for end in prediction.bounds[80])
        actual = data["b"][origin : origin + HORIZON].to_numpy()
        inside.append(((actual >= low) & (actual <= high)).mean())
        relative.append((high - low).mean())
        assert any("series b: constant in training and moving now" in note for note in prediction.notes)
    assert 0.7 <= np.mean(inside) <= 0.97
    assert np.median(relative) < 12  # of a deviation of 1


def test_one_move_is_enough_for_a_width(frame):
    data = frame.assign(b=7.0)
    forecaster = small().fit(data[:130])
    data.loc[129, "b"] = 8.0
    answer = forecaster.predict(data[:130], levels=[50, 80])
    assert (answer["b-hi-50"] - answer["b-lo-50"] > 0).all()
    assert (answer["b-hi-80"] - answer["b-lo-80"] > answer["b-hi-50"] - answer["b-lo-50"]).all()


# Counts


def counts(rows: int = 600, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sold = rng.poisson(0.4, (rows, 3)) * rng.integers(1, 4, (rows, 3))
    return pd.DataFrame({"time": pd.date_range("2022-01-01", periods=rows)} | dict(zip("abc", sold.T, strict=True)))


def test_counts_get_a_note_and_a_mean():
    """A median of counts that are mostly zero sums to nearly nothing; the mean sums to what is sold."""
    data = counts()
    sums = {}
    for point in ("median", "mean"):
        forecaster = small(horizon=7, lookback=28, max_epochs=5, point=point).fit(data[:450])
        notes = " | ".join(forecaster.report()["notes"])
        assert ("3 series are counts (a, b, c): a forecast is their median" in notes) == (point == "median")
        result = forecaster.backtest(data, windows=140, stride=1, levels=[80])
        columns = ["a", "b", "c"]
        actual = result.forecasts[[f"{name}-actual" for name in columns]].to_numpy().sum()
        sums[point] = result.forecasts[columns].to_numpy().sum() / actual
        for name in columns:
            low, middle, high = bounds_of(result.forecasts, name)
            assert (low <= middle).all()
            assert (middle <= high).all()
        assert result.score(metric="coverage_80") > 0.7
    assert sums["median"] < 0.7
    assert 0.8 < sums["mean"] < 1.2


def test_a_mean_of_a_symmetric_series_is_its_median(frame):
    median, mean = (small(max_epochs=8, point=point).fit(frame[:130]).predict() for point in ("median", "mean"))
    for name in "abc":
        assert abs(median[name] - mean[name]).max() < 0.5 * frame[name].std()
