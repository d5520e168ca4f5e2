"""Each metric against its formula, written once more with NumPy and SciPy, value by value."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from score_parts import LEVELS, draw, guess, guess_quantiles

from olinear.core import Batch, ConfigError, DataError, Point, Quantiles
from olinear.evaluation import Context, SeasonalScale, score

nan = np.nan
SIZES = (st.integers(1, 6), st.integers(1, 5), st.integers(1, 3), st.integers(0, 99), st.sampled_from([0.0, 0.3, 1.0]))
POINTS = ["mse", "mae", "rmse", "r2", "pearson", "window_mase", "mase", "rmsse", "smape"]


def mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else nan


def by_formula(batch: Batch, forecast: np.ndarray, season: int, pasts: list[np.ndarray] | None) -> dict[str, float]:
    """Every point metric over all windows and series, one window and series at a time.

    `pasts` are the rows before the forecast of each series; without them a window's own lookback.
    """
    found: dict[str, list[float]] = {name: [] for name in POINTS}
    for past, future, guessed in zip(batch.past.numpy(), batch.targets.numpy(), forecast, strict=True):
        for series, (y, f) in enumerate(zip(future.T, guessed.T, strict=True)):
            known = ~np.isnan(y)
            errors = [abs(a - b) for a, b in zip(f[known], y[known], strict=True)]
            found["mse"] += [error**2 for error in errors]
            found["mae"] += errors
            sizes = [abs(a) + abs(b) for a, b in zip(f[known], y[known], strict=True)]
            found["smape"] += [2 * a / b if b else 0.0 for a, b in zip(errors, sizes, strict=True)]
            rows = (past.T if pasts is None else pasts)[series]
            steps = [rows[i] - rows[i - season] for i in range(season, len(rows))]
            steps = [step for step in steps if not np.isnan(step)]
            if steps and mean([abs(step) for step in steps]) > 1e-9 * np.nanmean(abs(rows)):
                found["mase"] += [error / mean([abs(step) for step in steps]) for error in errors]
                found["rmsse"] += [error**2 / mean([step**2 for step in steps]) for error in errors]
            if not known.all():
                continue
            total, moved = ((y - y.mean()) ** 2).sum(), ((f - f.mean()) ** 2).sum()
            if total >= 1e-5:
                found["r2"].append(1 - ((y - f) ** 2).sum() / total)
            if np.sqrt(total * moved) >= 1e-5:
                found["pearson"].append(stats.pearsonr(f, y).statistic)
            naive = mean([abs(y[i] - y[i - 1]) for i in range(1, len(y))])
            if naive >= 1e-5:
                found["window_mase"].append(mean(errors) / naive)
    scores = {name: mean(values) for name, values in found.items()}
    return scores | {"rmse": np.sqrt(scores["mse"]), "rmsse": np.sqrt(scores["rmsse"])}


def one_series(batch: Batch, series: int) -> Batch:
    pick = slice(series, series + 1)
    return Batch(batch.past[..., pick], batch.targets[..., pick])


@settings(max_examples=60, deadline=None)
@given(*SIZES, st.integers(1, 13), st.booleans())
def test_point_metrics_by_their_formulas(windows, horizon, series, seed, missing, season, with_rows):
    """One step, one series, missing values and nothing but those; for all series and for each."""
    batch = draw(windows, horizon, series, seed, missing)
    forecast = guess(batch)
    rows = np.random.default_rng(seed).normal(size=(30, series))
    rows[3:5, 0] = nan
    scale = SeasonalScale.of(rows, season) if with_rows else None
    scores = score([(Point(forecast), batch)], POINTS, Context(season=season, scale=scale))
    pasts = list(rows.T) if with_rows else None
    expected = by_formula(batch, forecast.numpy(), season, pasts)
    assert dict(scores) == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)
    for index, own in enumerate(scores.by_series()):
        expected = by_formula(
            one_series(batch, index), forecast[..., index : index + 1].numpy(), season, pasts and pasts[index:]
        )
        assert dict(own) == pytest.approx(expected, rel=1e-9, abs=1e-9, nan_ok=True)


def pinball(level: float, y: np.ndarray, quantile: np.ndarray) -> np.ndarray:
    """The quantile loss as it is usually written: the error weighted by its side."""
    return np.where(y >= quantile, level * (y - quantile), (1 - level) * (quantile - y))


@settings(max_examples=40, deadline=None)
@given(*SIZES)
def test_quantile_metrics_by_their_formulas(windows, horizon, series, seed, missing):
    batch = draw(windows, horizon, series, seed, missing)
    output = guess_quantiles(batch)
    scores = score([(output, batch)], ["wql", "crps", "coverage", "width"], Context(levels=(50, 80), quantiles=LEVELS))
    values, y = output.values.numpy(), batch.targets.numpy()
    losses = np.stack([2 * pinball(level, y, value) for level, value in zip(LEVELS, values, strict=True)])
    known = ~np.isnan(y)
    expected = {"wql": nan, "crps": nan, "coverage_50": nan, "coverage_80": nan, "width_50": nan, "width_80": nan}
    if known.any():
        expected = {
            "wql": np.nansum(losses) / len(LEVELS) / np.nansum(abs(y)),
            "crps": np.nanmean(losses),
            "coverage_50": ((values[1] <= y) & (y <= values[3]))[known].mean(),
            "coverage_80": ((values[0] <= y) & (y <= values[4]))[known].mean(),
            "width_50": (values[3] - values[1])[known].mean(),
            "width_80": (values[4] - values[0])[known].mean(),
        }
    assert dict(scores) == pytest.approx(expected, rel=1e-9, nan_ok=True)


def test_the_score_of_many_quantiles_is_the_ranked_probability_score():
    """For a normal forecast its integral is known: σ (z (2 Φ(z) - 1) + 2 φ(z) - 1/√π)."""
    levels = tuple((np.arange(2000) + 0.5) / 2000)
    y = np.array([-1.0, 0.3, 2.0])
    quantiles = torch.tensor(stats.norm.ppf(levels, 0.5, 2.0))[:, None, None, None].expand(-1, 1, 3, 1)
    batch = Batch(torch.zeros(1, 4, 1, dtype=torch.float64), torch.tensor(y)[None, :, None])
    found = score([(Quantiles(quantiles, levels), batch)], ["crps"], Context(quantiles=levels)).crps
    z = (y - 0.5) / 2.0
    exact = 2.0 * (z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / np.sqrt(np.pi))
    assert found == pytest.approx(exact.mean(), rel=1e-3)


# The past


def test_the_scale_leaves_out_what_does_not_move_and_what_is_missing():
    """A constant past, one that is constant but for rounding, one without a pair a season apart."""
    rows = np.array([[1.0, 5.0, 1e6, nan], [2.0, 5.0, 1e6 + 1e-7, 1.0], [4.0, 5.0, 1e6, nan], [nan, 5.0, 1e6, 2.0]])
    scale = SeasonalScale.of(rows)
    np.testing.assert_allclose(scale.absolute, [1.5, nan, nan, nan])
    np.testing.assert_allclose(scale.squared, [2.5, nan, nan, nan])
    assert SeasonalScale.of(rows, 2).absolute[3] == 1.0
    assert SeasonalScale.of(rows, 4).absolute.isnan().all()
    assert SeasonalScale.of(np.zeros((3, 2))).absolute.isnan().all()
    with pytest.raises(ConfigError, match="season must be at least 1, found 0"):
        SeasonalScale.of(rows, 0)
    with pytest.raises(DataError, match=r"rows must have shape \(rows, series\), found \(4,\)"):
        SeasonalScale.of(rows[:, 0])


def test_a_constant_past_leaves_the_others_alone():
    """Divided by nothing, one series would be infinitely bad and hide all others."""
    batch = draw(3, 4, 2)
    batch.past[:, :, 1] = 7.0
    scores = score([(Point(guess(batch)), batch)], ["mase", "rmsse", "mae"])
    first, second = scores.by_series()
    assert (scores.mase, scores.rmsse) == (first.mase, first.rmsse)
    assert np.isnan([second.mase, second.rmsse]).all()
    assert np.isfinite(second.mae)


@given(st.floats(1e-6, 1e6), st.integers(0, 99))
def test_units_do_not_matter_to_what_is_scaled(unit, seed):
    """Metres or millimetres: the same score."""
    batch = draw(2, 3, 2, seed)
    forecast = guess(batch)
    names = ["mase", "rmsse", "smape", "wql"]
    context = Context(quantiles=LEVELS)
    output = guess_quantiles(batch)
    here = score([(output, batch)], names, context)
    there = score(
        [(type(output)(output.values * unit, LEVELS), Batch(batch.past * unit, batch.targets * unit))], names, context
    )
    assert dict(here) == pytest.approx(dict(there), rel=1e-9)
    assert here.mase == score([(Point(forecast), batch)], ["mase"]).mase


def test_the_last_value_of_a_walk_has_a_scaled_error_of_one():
    """What MASE means: as good one step ahead as the naive forecast was in the past."""
    rows = np.random.default_rng(0).normal(size=(4001, 1)).cumsum(0)
    past, future = rows[:-1], rows[1:]
    batch = Batch(torch.tensor(past)[:, None], torch.tensor(future)[:, None])
    scores = score([(Point(batch.past), batch)], ["mase", "rmsse"], Context(scale=SeasonalScale.of(rows)))
    assert dict(scores) == pytest.approx({"mase": 1.0, "rmsse": 1.0})


def test_zero_forecast_of_zero_is_right():
    zeros = torch.zeros(1, 2, 1)
    assert score([(Point(zeros), Batch(zeros, zeros))], ["smape"]).smape == 0
    assert score([(Point(zeros), Batch(zeros, zeros + 1))], ["smape"]).smape == 2


@pytest.mark.parametrize("name", POINTS)
def test_a_missing_forecast_is_no_good_forecast(name):
    """Only missing targets are left out: a model that broke down must not win."""
    batch = draw(3, 4, 2)
    forecast = guess(batch)
    forecast[1, 2, 0] = nan
    found = score([(Point(forecast), batch)], [name])
    if name != "pearson":  # a window without a correlation is left out, whichever side it comes from
        assert np.isnan(found[name])
    assert np.isfinite(found.by_series()[1][name])
