"""Split-conformal intervals, against plain formulas and on data that meets their assumption."""

import numpy as np
import pytest
import torch
from forecaster_parts import small, waves
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from torch import Tensor, nn

from olinear.core import Traits
from olinear.core.errors import ConfigError
from olinear.data.windows import Windows
from olinear.forecaster.intervals import LEAST_DEVIATION, Intervals, lookback_scale

modest = settings(max_examples=40)
nan = float("nan")


class Zero(nn.Module):
    """Forecasts 0, so that a residual is the target."""

    def __init__(self, horizon: int = 1):
        super().__init__()
        self.horizon = horizon

    def forward(self, x: Tensor) -> Tensor:
        return x.new_zeros(len(x), self.horizon, x.shape[2])


class LastValue(Zero):
    def forward(self, x: Tensor) -> Tensor:
        return x[:, -1:].expand(-1, self.horizon, -1)


def calibrated(residuals: list[float]) -> Intervals:
    """From one window for each residual, all of them with a lookback that does not move."""
    inputs = torch.zeros(len(residuals) + 1, 1)
    targets = torch.tensor([[0.0], *([one] for one in residuals)])
    return Intervals.calibrate(Zero(), Windows(inputs, 1, 1, targets=targets))


def plain_quantile(scores: np.ndarray, level: int) -> float:
    """The rule in whole numbers: of n scores the ⌈(n + 1) · level⌉-th smallest; infinite beyond the largest."""
    ordered = sorted(scores[~np.isnan(scores)])
    rank = -(-(len(ordered) + 1) * level // 100)
    return ordered[rank - 1] if rank <= len(ordered) else np.inf


def shared_quantile(scores: np.ndarray, level: int, freedom: int) -> np.ndarray:
    """Where a step has too few scores for a level, `w h n -> n`: one distribution for all series, and Student's."""
    size = np.nanmean(scores, axis=(0, 1))
    relative = (scores / size)[~np.isnan(scores)]
    quantile = min(plain_quantile(relative, level), relative.max())
    share = 0.5 + level / 200
    return quantile * size * stats.t.ppf(share, freedom) / stats.norm.ppf(share)


@modest
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 3), st.integers(0, 8))
def test_every_step_and_series_by_the_plain_formula(seed, horizon, n_series, missing):
    """Series by series, step by step, level by level; missing targets are left out."""
    rng = np.random.default_rng(seed)
    lookback, rows = 5, 40
    values = rng.normal(size=(rows, n_series)).astype(np.float32)
    targets = values.copy()
    targets[rng.integers(0, rows, missing), rng.integers(0, n_series, missing)] = nan
    windows = Windows(values, lookback, horizon, targets=targets)
    found = Intervals.calibrate(LastValue(horizon), windows, batch_size=7)
    origins = range(lookback, rows - horizon + 1)
    assert found.windows == len(origins)
    every = np.array(
        [
            abs(targets[o : o + horizon] - values[o - 1]) / np.maximum(values[o - lookback : o].std(0), LEAST_DEVIATION)
            for o in origins
        ]
    )  # w h n
    shared = {level: shared_quantile(every, level, 35 // horizon * n_series) for level in (95, 99)}
    for series in range(n_series):
        for step in range(horizon):
            scores = np.array(
                [
                    abs(targets[o + step, series] - values[o - 1, series])
                    / max(values[o - lookback : o, series].std(), LEAST_DEVIATION)
                    for o in origins
                ]
            )
            for level in (1, 50, 80, 90, 95, 99):
                half = found.half_widths(level, np.ones(n_series))
                assert half.shape == (horizon, n_series)
                expected = plain_quantile(scores, level)
                if np.isinf(expected):  # too few for this level: shared, and never below the largest
                    expected = max(
                        shared[level][series], np.nanmax(scores), half_below(found, level, n_series)[step, series]
                    )
                    assert half[step, series] == pytest.approx(expected, rel=0.02)
                else:
                    assert half[step, series] == pytest.approx(expected, abs=1e-5)


def half_below(found: Intervals, level: int, n_series: int) -> np.ndarray:
    """A level's quantile is at least that of the level below."""
    return found.half_widths(level - 1, np.ones(n_series))


@pytest.mark.parametrize("count", [1, 2, 9, 10, 19, 39, 99, 100, 199, 399, 999])
def test_the_rank_is_exact(count):
    """Rounding of 0.55 · 100 to 55.00…01 would take the next residual, and the interval would be too wide."""
    residuals = (np.arange(count) + 1) * np.where(np.arange(count) % 2, 1.0, -1.0)
    found = calibrated(residuals.tolist())
    for level in range(1, 100):
        half = found.half_widths(level, np.array([LEAST_DEVIATION])).item()
        plain = plain_quantile(np.abs(residuals), level)
        if np.isinf(plain):
            assert half > count * stats.t.ppf(0.5 + level / 200, count) / stats.norm.ppf(0.5 + level / 200) * 0.98, (
                level
            )
        else:
            assert half == pytest.approx(plain, rel=1e-5), level


@modest
@given(st.lists(st.floats(-100, 100, width=32), min_size=1, max_size=60))
def test_intervals_grow_with_the_level(residuals):
    found = calibrated(residuals)
    half = np.ravel([found.half_widths(level, np.ones(1)) for level in range(1, 100)])
    assert (half >= 0).all()
    assert (np.diff(half) >= 0).all()


@pytest.mark.parametrize("shape", ["normal", "skewed"])
@pytest.mark.parametrize("level", [50, 80, 95])
def test_coverage_on_exchangeable_data_is_nominal(shape, level):
    """The assumption of the method met: as many new values lie inside as the level says."""
    rng = np.random.default_rng(level)
    noise = rng.normal(size=(60_000, 1)) if shape == "normal" else rng.exponential(size=(60_000, 1)) - 1
    tensor = torch.as_tensor(noise, dtype=torch.float32)
    found = Intervals.calibrate(Zero(), Windows(tensor[:30_000], 20, 1))
    per_scale = found.half_widths(level, np.ones(1)).item()
    inside = [
        (y[:, 0].abs() <= per_scale * lookback_scale(x)).double().mean()
        for x, y in (batch.pair for batch in Windows(tensor[30_000:], 20, 1).batches(1000))
    ]
    assert np.mean(inside) == pytest.approx(level / 100, abs=0.015)


@pytest.mark.parametrize(("count", "level"), [(9, 80), (19, 90), (7, 50)])
def test_few_windows_cover_the_level_too(count, level):
    """With a handful of residuals the rule is exact where it comes out even, on average over many samples."""
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(600):
        sample = rng.normal(size=count + 1)
        half = calibrated(sample[:-1].tolist()).half_widths(level, np.array([LEAST_DEVIATION]))
        inside.append(abs(sample[-1]) <= half.item())
    assert np.mean(inside) == pytest.approx(level / 100, abs=0.04)


def test_quiet_times_have_narrow_intervals():
    found = calibrated([-1.0, 0.0, 1.0, 2.0])
    narrow, wide = (found.half_widths(80, np.array([scale])) for scale in (0.5, 2.0))
    np.testing.assert_allclose(wide, 4 * narrow)
    assert narrow.item() > 0


def test_a_lookback_that_does_not_move_has_the_least_scale():
    """Or the interval after a quiet hour would have no width at all."""
    x = torch.tensor([[1.0, 0.0, 3.0], [1.0, 0.01, 5.0], [1.0, 0.0, 1.0]])[None]
    expected = [LEAST_DEVIATION, LEAST_DEVIATION, np.std([3.0, 5.0, 1.0])]
    np.testing.assert_allclose(lookback_scale(x)[0], expected, rtol=1e-6)
    data = waves()
    data.loc[130:, "a"] = 0.5
    answer = small().fit(data).predict(levels=[90])
    assert (answer["a-hi-90"] - answer["a-lo-90"]).min() > 0


def test_a_series_never_seen_is_as_wide_as_the_widest():
    inputs = torch.zeros(21, 3)
    steps = torch.arange(21.0)
    targets = torch.stack([steps, torch.full((21,), nan), 2 * steps], dim=1)
    half = Intervals.calibrate(Zero(), Windows(inputs, 1, 1, targets=targets)).half_widths(90, np.ones(3))
    assert half[0, 1] == half[0, 2] > half[0, 0] > 0


def test_nothing_seen_at_all_is_a_finite_interval():
    targets = torch.full((6, 1), nan)
    half = Intervals.calibrate(Zero(), Windows(torch.zeros(6, 1), 1, 1, targets=targets)).half_widths(90, np.ones(1))
    assert np.isfinite(half).all()


def test_a_level_between_two_per_cent_takes_the_wider():
    found = calibrated(np.linspace(-50, 50, 301).tolist())
    assert found.half_widths(80.2, np.ones(1)) == found.half_widths(81, np.ones(1)) > found.half_widths(80, np.ones(1))


@pytest.mark.parametrize("level", [0.99, 99.01, -1, 0, 100, nan])
def test_levels_out_of_range(level):
    with pytest.raises(ConfigError, match="between 1 and 99 per cent"):
        calibrated([1.0]).half_widths(level, np.ones(1))


def test_calibration_is_in_evaluation_mode():
    """Dropout while calibrating would widen every interval."""
    model = nn.Sequential(Zero(), nn.Dropout(0.5)).train()
    Intervals.calibrate(model, Windows(torch.zeros(6, 1), 1, 1))
    assert not model.training


def test_what_never_was_negative_gets_no_negative_bound():
    """Rain, counts, prices: the lower bound stops at 0, the upper is left alone, and series with both signs are too."""
    data = waves().assign(a=lambda frame: np.maximum(frame["a"], 0.0))
    forecaster = small().fit(data)
    answer = forecaster.predict(levels=[50, 95])
    assert (answer["a-lo-95"] == np.minimum(answer["a"], 0.0)).any()
    for level in (50, 95):
        low, high, forecast = answer[f"a-lo-{level}"], answer[f"a-hi-{level}"], answer["a"]
        half = high - forecast
        np.testing.assert_allclose(low, np.where(forecast - half < 0, np.minimum(forecast, 0), forecast - half))
        both = answer["b"] - answer[f"b-lo-{level}"]
        np.testing.assert_allclose(both, answer[f"b-hi-{level}"] - answer["b"])
    assert (answer["b-lo-95"] < 0).any()


class BatchMean(LastValue):
    """A forecast that depends on the other windows of its batch."""

    traits = Traits(batch_dependent=True)

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x).mean(0, keepdim=True).expand(len(x), -1, -1)


def test_calibration_forecasts_as_predict_does():
    """`predict` has one window alone: so a model that looks at its whole batch is given one window at a time."""
    windows = Windows(torch.randn(60, 2, generator=torch.Generator().manual_seed(0)), 5, 3)
    found = Intervals.calibrate(BatchMean(3), windows)
    np.testing.assert_array_equal(found.quantiles, Intervals.calibrate(LastValue(3), windows).quantiles)
