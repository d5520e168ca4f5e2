"""Every registered metric in a backtest: those scaled by the past and those of intervals against plain NumPy."""

import numpy as np
import pandas as pd
import pytest
from forecaster_parts import HORIZON, LOOKBACK, small

from olinear.evaluation import METRICS, Metric

nan = np.nan
SERIES = ["a", "b", "c"]
SEASON = 24  # of hours
STRIDE = 3


@pytest.fixture(scope="module")
def data(frame) -> pd.DataFrame:
    """With gaps before and after the origins."""
    gappy = frame.copy()
    gappy.loc[[20, 21, 90, 131, 135, 149], "a"] = nan
    gappy.loc[140:143, "c"] = nan
    return gappy


@pytest.fixture(scope="module")
def result(fitted, data):
    return fitted.backtest(data, windows=6, stride=STRIDE, levels=[50, 80])


def cube(result, suffix: str = "") -> np.ndarray:
    """`windows, horizon, series` of a column."""
    return result.forecasts[[f"{name}{suffix}" for name in SERIES]].to_numpy().reshape(-1, HORIZON, 3)


def naive(data: pd.DataFrame) -> dict[str, np.ndarray]:
    known = data[SERIES].ffill().to_numpy()
    origins = range(150 - HORIZON - 5 * STRIDE, 150 - HORIZON + 1, STRIDE)
    last = np.stack([np.repeat(known[origin - 1 : origin], HORIZON, axis=0) for origin in origins])
    return {"last value": last, "seasonal naive": np.stack([known[o - SEASON :][:HORIZON] for o in origins])}


PICKS = [("(all)", [0, 1, 2]), ("a", [0]), ("b", [1]), ("c", [2])]


def seasonal_moves(data: pd.DataFrame, season: int) -> np.ndarray:
    """Differences between seasons in the rows before the first origin."""
    before = data[SERIES][: 150 - HORIZON - 5 * STRIDE].to_numpy()
    return before[season:] - before[:-season]


def test_the_scale_is_that_of_the_rows_before_the_first_origin(result, data):
    """For the model and the naive forecasts, for all series and each: MASE and RMSSE as they are defined, and sMAPE."""
    actual, moves = cube(result, "-actual"), seasonal_moves(data, SEASON)
    for name, forecast in {"OLinear": cube(result), **naive(data)}.items():
        error = forecast - actual
        for label, pick in PICKS:
            expected = {
                "mase": np.nanmean((abs(error) / np.nanmean(abs(moves), axis=0))[..., pick]),
                "rmsse": np.sqrt(np.nanmean((error**2 / np.nanmean(moves**2, axis=0))[..., pick])),
                "smape": np.nanmean((2 * abs(error) / (abs(forecast) + abs(actual)))[..., pick]),
                "rmse": np.sqrt(np.nanmean(error[..., pick] ** 2)),
            }
            for metric, value in expected.items():
                assert result.score(name, label, metric) == pytest.approx(value, rel=1e-9), (name, label, metric)


def test_intervals_are_scored_as_quantiles(result):
    """50 and 80 per cent intervals and the forecast are the quantiles 0.1, 0.25, 0.5, 0.75 and 0.9."""
    actual = cube(result, "-actual")
    levels = np.array([0.1, 0.25, 0.5, 0.75, 0.9])[:, None, None, None]
    quantiles = np.stack([cube(result, suffix) for suffix in ("-lo-80", "-lo-50", "", "-hi-50", "-hi-80")])
    short = actual - quantiles
    losses = 2 * np.where(short >= 0, levels * short, (levels - 1) * short)
    for label, pick in PICKS:
        expected = {
            "crps": np.nanmean(losses[..., pick]),
            "wql": np.nansum(losses[..., pick]) / 5 / np.nansum(abs(actual[..., pick])),
            "width_80": np.mean((quantiles[4] - quantiles[0])[..., pick][~np.isnan(actual[..., pick])]),
        }
        for metric, value in expected.items():
            assert result.score(series=label, metric=metric) == pytest.approx(value, rel=1e-9), (label, metric)
            assert np.isnan(result.score("last value", label, metric))
    assert result.score(metric="width_50") < result.score(metric="width_80")


def test_the_columns(result, fitted, data):
    """What was there first stays first; without levels there is nothing of intervals."""
    columns = list(result.metrics)
    assert columns[:6] == ["forecaster", "series", "mse", "mae", "standardised_mse", "standardised_mae"]
    families = {f"{name}_{level}" for name in ("coverage", "width") for level in (50, 80)}
    registered = {name for name, metric in METRICS.items() if not metric.each_level} | families
    assert set(columns[2:]) == registered | {"standardised_mse", "standardised_mae"}
    plain = set(fitted.backtest(data, windows=2).metrics)
    assert set(columns) - plain == families | {"wql", "crps"}


def test_a_new_metric_is_in_a_backtest_at_once(fitted, data, monkeypatch):
    bias = Metric("bias", "bias", "mean error", lambda case: case.mean(case.error), better="target", goal=0.0)
    monkeypatch.setitem(METRICS, "bias", bias)
    result = fitted.backtest(data, windows=3)
    error = cube(result) - cube(result, "-actual")
    assert result.score(metric="bias") == pytest.approx(np.nanmean(error), rel=1e-9)
    assert result.score("last value", "b", "bias") != result.score("seasonal naive", "b", "bias")


def test_fewer_rows_than_a_season_before_the_first_origin(fitted, frame):
    """There is no difference between seasons yet: the scale is that of a step."""
    result = fitted.backtest(frame[:40], windows=1000)
    steps = np.diff(frame[SERIES][:LOOKBACK].to_numpy(), axis=0)
    scaled = abs(cube(result) - cube(result, "-actual")) / abs(steps).mean(0)
    assert result.score(metric="mase") == pytest.approx(scaled.mean(), rel=1e-9)


def test_a_series_without_a_scale_is_left_out_of_what_is_scaled(frame):
    """A constant one is forecast without error, and has no scale to divide nothing by."""
    data = frame.assign(b=2.0)
    result = small().fit(data[:130]).backtest(data, windows=3, levels=[80])
    assert np.isnan(result.score(series="b", metric="mase"))
    assert result.score(series="b", metric="smape") == 0
    both = [result.score(series=name, metric="mase") for name in ("a", "c")]
    assert result.score(metric="mase") == pytest.approx(np.mean(both), rel=1e-9)
