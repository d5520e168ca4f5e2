"""Rolling origins: scores against plain NumPy, naive forecasts against plain slicing, and no look ahead."""

import numpy as np
import pandas as pd
import pytest
from forecaster_parts import HORIZON, KINDS, LOOKBACK, assert_same_frames, small, to_long, to_pandas, values_of, waves
from hypothesis import given, settings
from hypothesis import strategies as st

from olinear.core.errors import ConfigError, DataError
from olinear.forecaster import Forecaster

nan = np.nan
SERIES = ["a", "b", "c"]
FIRST, LAST = LOOKBACK, 150 - HORIZON  # the first and the last origin of 150 rows


def origins_of(result, frame) -> list[int]:
    """The rows after which its forecasts begin."""
    cutoffs = to_pandas(result.forecasts)["cutoff"][::HORIZON]
    return [int((frame["time"] == cutoff).to_numpy().argmax()) + 1 for cutoff in cutoffs]


def cube(result, suffix: str = "") -> np.ndarray:
    """`windows, horizon, series` of a column."""
    return values_of(result.forecasts, tuple(f"{name}{suffix}" for name in SERIES)).reshape(-1, HORIZON, 3)


# Origins


@pytest.mark.parametrize(
    ("windows", "stride", "expected"),
    [
        (1, None, [LAST]),
        (3, None, [LAST - 8, LAST - 4, LAST]),  # a horizon apart
        (5, 1, list(range(LAST - 4, LAST + 1))),
        (3, 10, [LAST - 20, LAST - 10, LAST]),
        (60, None, list(range(LAST - 2 * 59, LAST + 1, 2))),  # closer where rows are few
        (1000, None, list(range(FIRST, LAST + 1))),  # all there are
        (1000, 50, [LAST - 100, LAST - 50, LAST]),
    ],
)
def test_the_origins_are_the_last_that_leave_a_whole_horizon(fitted, frame, windows, stride, expected):
    result = fitted.backtest(frame, windows=windows, stride=stride)
    assert origins_of(result, frame) == expected
    assert result.windows == len(expected)


def test_every_forecast_is_dated_and_stands_next_to_the_actual_values(fitted, frame):
    result = fitted.backtest(frame, windows=3, levels=[80])
    columns = [f"{name}{end}" for name in SERIES for end in ("", "-actual", "-lo-80", "-hi-80")]
    assert list(result.forecasts) == ["cutoff", "time", *columns]
    for window, origin in enumerate(origins_of(result, frame)):
        part = result.forecasts[window * HORIZON :][:HORIZON]
        assert part["time"].tolist() == frame["time"][origin : origin + HORIZON].tolist()
        actual = values_of(part, ("a-actual", "b-actual", "c-actual"))
        np.testing.assert_array_equal(actual, values_of(frame)[origin : origin + HORIZON])


TINY = {
    "OLinear": {},
    "PatchTST": {"model_dim": 8, "heads": 2, "blocks": 1, "patch_length": 4, "stride": 4},
    "TimesNet": {"model_dim": 4, "ff_dim": 4, "kernels": 2, "top_k": 1},
    "TimeMixer++": {"model_dim": 4, "ff_dim": 4, "blocks": 1, "kernels": 2, "halvings": 1, "top_k": 1},
    "Ridge": {},
}


@pytest.fixture(scope="module", params=TINY)
def fitted_model(request, fitted, frame) -> Forecaster:
    """One of several models; those whose forecast depends on the other windows of a batch are among them."""
    if request.param == "OLinear":
        return fitted
    options = {"model": request.param, "model_dim": None, "options": TINY[request.param]}
    return small(**options).fit(frame[:130])


def test_each_forecast_is_the_one_predict_would_have_made(fitted_model, frame):
    fitted = fitted_model
    result = fitted.backtest(frame, windows=4, stride=7, levels=[80])
    for window, origin in enumerate(origins_of(result, frame)):
        alone = fitted.predict(frame[:origin], levels=[80])
        there = result.forecasts[window * HORIZON :][:HORIZON][list(alone)]
        np.testing.assert_allclose(there.drop(columns="time"), alone.drop(columns="time"), rtol=1e-5, atol=1e-5)


def test_windows_on_the_rows_of_the_fit_are_counted(fitted, frame):
    """Fitted on 130 rows: an origin is in sample if its first target is."""
    assert fitted.backtest(frame, windows=10, stride=1).in_sample == 0
    assert fitted.backtest(frame, windows=20, stride=1).in_sample == 3  # origins 127, 128, 129
    assert fitted.backtest(frame[:130], windows=5).in_sample == 5
    zoned = waves(tz="Europe/Berlin")
    assert small().fit(zoned[:130]).backtest(zoned, windows=20, stride=1).in_sample == 3


def test_windows_in_sample_are_said(fitted, frame):
    note = fitted.backtest(frame[:130], windows=5).notes[0]
    assert note.code == "backtest-in-sample"
    assert "5 of 5 windows" in note
    assert "pass rows that came after those of the fit" in note
    assert fitted.backtest(frame, windows=3).notes == []


def test_too_few_rows(fitted, frame):
    assert fitted.backtest(frame[: LOOKBACK + HORIZON]).windows == 1
    with pytest.raises(DataError, match=r"lookback 12 and horizon 4 needs 16 rows, found 15"):
        fitted.backtest(frame[: LOOKBACK + HORIZON - 1])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"windows": 2.5}, "windows must be a whole number, found 2.5"),
        ({"windows": None}, "windows must be a whole number, found None"),
        ({"windows": True}, "windows must be a whole number, found True"),
        ({"stride": "2"}, "stride must be a whole number, found '2'"),
        ({"levels": "80"}, r"found '80': pass levels=\[80, 95\]"),
        ({"levels": ["80"]}, r"found '80': pass levels=\[80, 95\]"),
        ({"levels": [None]}, r"found None: pass levels=\[80, 95\]"),
    ],
)
def test_arguments_of_another_kind(fitted, frame, given, words):
    """Expected, found, and what to pass instead; no raw error."""
    with pytest.raises(ConfigError, match=words):
        fitted.backtest(frame, **given)


@pytest.mark.parametrize(("windows", "stride"), [(0, None), (-1, None), (5, 0), (5, -2)])
def test_bad_windows(fitted, frame, windows, stride):
    with pytest.raises(ConfigError, match="at least 1"):
        fitted.backtest(frame, windows=windows, stride=stride)


def test_bad_levels_and_series(fitted, frame):
    with pytest.raises(ConfigError, match="between 1 and 99"):
        fitted.backtest(frame, levels=[120])
    with pytest.raises(DataError, match="missing from the data: 'c'"):
        fitted.backtest(frame.drop(columns="c"))


# Scores


def gappy(frame):
    data = frame.copy()
    data.loc[[131, 135, 149], "a"] = nan
    data.loc[140:143, "c"] = nan
    return data


def naive(frame, origins):
    """Last value, seasonal naive and drift by slicing; the season of hours is 24."""
    known = frame[SERIES].ffill().to_numpy()
    last = np.stack([np.repeat(known[origin - 1 : origin], HORIZON, axis=0) for origin in origins])
    season = np.stack([known[origin - 24 : origin][:HORIZON] for origin in origins])
    slope = np.stack([(known[origin - 1] - known[origin - LOOKBACK]) / (LOOKBACK - 1) for origin in origins])
    line = last + slope[:, None] * np.arange(1, HORIZON + 1)[:, None]
    return {"last value": last, "seasonal naive": season, "drift": line}


def test_every_score_by_plain_numpy(fitted, frame):
    """All forecasters, series and measures; missing values are left out."""
    data = gappy(frame)
    result = fitted.backtest(data, windows=6, stride=3, levels=[80])
    actual = cube(result, "-actual")
    assert np.isnan(actual).sum() == 9
    deviation = data[SERIES][:104].std(ddof=0).to_numpy()  # the training rows: four fifths of 130
    forecasts = {"OLinear": cube(result), **naive(data, origins_of(result, data))}
    assert len(result.metrics) == 4 * 4
    for name, forecast in forecasts.items():
        for label, pick in [("(all)", [0, 1, 2]), ("a", [0]), ("b", [1]), ("c", [2])]:
            error = (forecast - actual)[..., pick]
            expected = {
                "mse": np.nanmean(error**2),
                "mae": np.nanmean(np.abs(error)),
                "standardised_mse": np.nanmean((error / deviation[pick]) ** 2),
                "standardised_mae": np.nanmean(np.abs(error) / deviation[pick]),
            }
            for metric, value in expected.items():
                assert result.score(name, label, metric) == pytest.approx(value, rel=1e-9), (name, label, metric)


def test_coverage_by_plain_numpy(fitted, frame):
    result = fitted.backtest(gappy(frame), windows=6, stride=3, levels=[50, 80])
    actual = cube(result, "-actual")
    for level in (50, 80):
        low, high = cube(result, f"-lo-{level}"), cube(result, f"-hi-{level}")
        inside = np.where(np.isnan(actual), nan, (actual >= low) & (actual <= high))
        assert result.score(metric=f"coverage_{level}") == pytest.approx(np.nanmean(inside))
        assert result.score(series="c", metric=f"coverage_{level}") == pytest.approx(np.nanmean(inside[..., 2]))
        assert np.isnan(result.score("last value", metric=f"coverage_{level}"))
    assert 0 < result.score(metric="coverage_50") < result.score(metric="coverage_80") <= 1


def test_the_usual_score_is_the_standardised_mse(fitted, frame):
    result = fitted.backtest(frame, windows=3)
    assert result.score() == result.metrics["standardised_mse"][0]
    assert not [column for column in result.metrics if column.startswith("coverage")]


@pytest.mark.parametrize("names", [{"forecaster": "nobody"}, {"series": "z"}, {"metric": "mape"}])
def test_a_score_that_is_not_there_is_named(fitted, frame, names):
    with pytest.raises(ConfigError, match=next(iter(names.values()))):
        fitted.backtest(frame, windows=2).score(**names)


def test_a_series_without_any_target_has_no_score(fitted, frame):
    """It ends before the origins: its scores are not numbers, and the others' are not touched."""
    data = frame.copy()
    data.loc[130:, "b"] = nan
    result = fitted.backtest(data, windows=3, levels=[80])
    for metric in ("mse", "standardised_mae", "coverage_80"):
        assert np.isnan(result.score(series="b", metric=metric))
        assert np.isfinite(result.score(metric=metric))


def test_few_rows_before_the_first_origin_shorten_the_season(fitted, frame):
    """There is no day before row 12: the naive repeats what there is."""
    data = frame[:40]
    result = fitted.backtest(data, windows=100)
    known = data[SERIES].to_numpy()
    origins = origins_of(result, data)
    assert origins[0] == 12
    expected = np.stack([known[origin - 12 : origin][:HORIZON] for origin in origins])
    error = expected - cube(result, "-actual")
    assert result.score("seasonal naive", metric="mse") == pytest.approx((error**2).mean())


def test_a_season_shorter_than_the_horizon_repeats():
    data = waves(freq="QS-JAN")
    result = small(horizon=6).fit(data[:120]).backtest(data, windows=1)
    year = data[SERIES].to_numpy()[140:144]
    error = year[[0, 1, 2, 3, 0, 1]] - data[SERIES].to_numpy()[144:]
    assert result.score("seasonal naive", metric="mae") == pytest.approx(np.abs(error).mean())


def test_constants_are_scored_too(frame):
    data = frame.assign(a=1.0, b=2.0, c=3.0)
    result = small().fit(data).backtest(data, windows=3, levels=[80])
    assert result.score(metric="mae") == 0
    assert result.score(metric="coverage_80") == 1


@pytest.mark.parametrize("layout", ["wide", "long"])
@pytest.mark.parametrize("kind", KINDS)
def test_both_answers_are_frames_of_the_users_kind(fitted, frame, kind, layout):
    data = KINDS[kind](frame if layout == "wide" else to_long(frame))
    result, reference = fitted.backtest(data, windows=2), fitted.backtest(frame, windows=2)
    assert type(result.forecasts) is type(data)
    assert type(result.metrics) is type(data)
    assert result.score() == reference.score()
    table = to_pandas(result.forecasts)
    if layout == "wide":
        assert_same_frames(table, reference.forecasts)
    else:
        assert list(table) == ["unique_id", "cutoff", "ds", "y", "y-actual"]
        np.testing.assert_array_equal(table["y"].to_numpy().reshape(3, 8).T, values_of(reference.forecasts))
        assert table["cutoff"].tolist() == 3 * reference.forecasts["cutoff"].tolist()


# No look ahead


@settings(max_examples=25)
@given(st.integers(FIRST + 1, LAST), st.integers(0, 2**32 - 1), st.integers(0, 12), st.sampled_from(["wild", "gone"]))
def test_what_comes_after_an_origin_never_changes_its_forecast(fitted, frame, origin, seed, gaps, change):
    """Whatever happens later, gaps around the origin included: a forecast is made of the past."""
    rng = np.random.default_rng(seed)
    past = frame.copy()
    rows = np.clip(origin + rng.integers(-8, 4, gaps), 1, 149)
    for row in rows:
        past.loc[row, rng.choice(SERIES)] = nan
    future = past.copy()
    future.loc[origin:, SERIES] = nan if change == "gone" else rng.normal(0, 1e3, (150 - origin, 3))
    future.loc[149, SERIES] = 1.0
    before = fitted.backtest(past, windows=1000, stride=1, levels=[80]).forecasts
    after = fitted.backtest(future, windows=1000, stride=1, levels=[80]).forecasts
    known = before["cutoff"] < frame["time"][origin]
    assert known.sum() == (origin - FIRST + 1) * HORIZON
    columns = [column for column in before if not column.endswith("-actual")]
    pd.testing.assert_frame_equal(before.loc[known, columns], after.loc[known, columns], rtol=1e-6, atol=1e-6)


def test_a_series_that_has_not_begun_tells_nothing_of_its_start(fitted, frame):
    """Rows before its beginning must not be filled with the value it will begin with."""
    data = frame.copy()
    data.loc[:119, "b"] = nan
    other = data.copy()
    other.loc[120:, "b"] += 50
    here, there = (fitted.backtest(one, windows=1000, stride=1).forecasts for one in (data, other))
    known = here["cutoff"] < frame["time"][120]
    np.testing.assert_allclose(values_of(here[known]), values_of(there[known]), rtol=1e-6, atol=1e-6)


def test_the_naive_forecasts_of_a_series_that_has_not_begun_know_nothing(fitted, frame):
    """The last value of a series without one cannot be right: 100 would be the future's."""
    data = frame.copy()
    data["b"] = np.where(np.arange(150) < 146, nan, 100.0)
    result = fitted.backtest(data, windows=1)
    assert result.score("last value", "b", "mae") != 0
