"""Theorem 1 as a forecaster: against processes whose best forecast is known, and against Ridge."""

import numpy as np
import pytest
import torch
from scipy.linalg import toeplitz
from scipy.stats import norm

from olinear.core.errors import ConfigError, DataError
from olinear.data.windows import Windows
from olinear.models.zoo.blocks.closed_form import Moments
from olinear.models.zoo.gaussian import Gaussian
from olinear.models.zoo.ridge import Ridge

T, H = 12, 6
FIRST, SECOND = 0.6, 0.25  # x_k = 0.6 x_{k-1} + 0.25 x_{k-2} + noise of variance 1


def draw(rows=4000, n_series=4, seed=0):
    """The process, each series by itself, from its own past: `[rows, series]`."""
    noise = np.random.default_rng(seed).normal(size=(rows + 100, n_series))
    values = np.zeros_like(noise)
    for step in range(2, len(noise)):
        values[step] = FIRST * values[step - 1] + SECOND * values[step - 2] + noise[step]
    return values[100:]


def covariances(count):
    """The process' autocovariances, by the Yule-Walker equations."""
    ratio = FIRST / (1 - SECOND)
    sequence = [1.0, ratio]
    while len(sequence) < count:
        sequence.append(FIRST * sequence[-1] + SECOND * sequence[-2])
    return np.array(sequence) / (1 - FIRST * ratio - SECOND * sequence[2])


def best_forecast(x):  # b t n
    """The recursion itself, without its noise: `b h n`."""
    steps = [x[:, -2], x[:, -1]]
    for _ in range(H):
        steps.append(FIRST * steps[-1] + SECOND * steps[-2])
    return np.stack(steps[2:], 1)


def best_variance():
    """Of its error: the squares of what each noise has become, summed up."""
    response = [0.0, 1.0]
    while len(response) < H + 1:
        response.append(FIRST * response[-1] + SECOND * response[-2])
    return np.cumsum(np.square(response[1:]))


def solved(model, values):
    model = model.double()
    model.solve(Windows(values, T, H))
    return model


def some_windows(values, count=50):
    return Windows(values, T, H).batch(torch.arange(count)).pair


class TestKnownProcess:
    def test_best_forecast_from_the_true_moments(self):
        """With the covariance of an AR(2) process, only the last two values count, and they count as they should."""
        model = Gaussian(4, T, H, jitter=0.0, normalise=False).double()
        level = torch.full((T + H,), 3.0, dtype=torch.float64)
        model.learn(0, Moments(level, torch.from_numpy(toeplitz(covariances(T + H)))))
        model.solved.fill_(True)
        x = torch.from_numpy(draw(T + 20)[None, :T])
        np.testing.assert_allclose(model(x + 3), best_forecast(x.numpy()) + 3, atol=1e-10)
        np.testing.assert_allclose(model.variance[:, 0], best_variance(), rtol=1e-10)

    @pytest.mark.parametrize("individual", [True, False])
    def test_best_forecast_from_its_draws(self, individual):
        """The estimate's error falls as 1/√windows: of 16,000 windows it is some hundredths of the deviation, 2.3."""
        model = solved(Gaussian(4, T, H, normalise=False, individual=individual), draw())
        x, _ = some_windows(draw(200, seed=1))
        error = model(x).numpy() - best_forecast(x.numpy())
        assert np.sqrt((error**2).mean()) < (0.25 if individual else 0.12)
        np.testing.assert_allclose(model.variance.numpy().mean(1), best_variance(), rtol=0.05)

    @pytest.mark.parametrize("level", [50, 80, 95])
    @pytest.mark.parametrize("normalise", [True, False])
    def test_intervals_cover_their_level(self, level, normalise):
        model = solved(Gaussian(4, T, H, normalise=normalise), draw())
        windows = Windows(draw(seed=1), T, H)
        x, y = windows.batch(torch.arange(len(windows))).pair
        low, high = model.interval(x, level)
        covered = ((low <= y) & (y <= high)).double().mean((0, 2))  # h
        assert (100 * covered - level).abs().max() < (6 if normalise else 3)

    def test_interval_is_the_normal_quantile_of_the_known_variance(self):
        model = solved(Gaussian(4, T, H, normalise=False), draw())
        x, _ = some_windows(draw(200, seed=1))
        low, high = model.interval(x, 90)
        half = norm.ppf(0.95) * np.sqrt(model.variance.numpy())
        np.testing.assert_allclose((high - low) / 2, np.broadcast_to(half, low.shape), rtol=1e-9)
        np.testing.assert_allclose((high + low) / 2, model(x), atol=1e-12)


class TestAgreesWithRidge:
    """Σ_x⁻¹ Σ_xy of sample moments are the normal equations of least squares, and what is added to Σ_x is a penalty."""

    @pytest.mark.parametrize("individual", [True, False])
    @pytest.mark.parametrize(("normalise", "strength"), [(True, 1e-6), (True, 0.1), (False, 0.0), (False, 1e-3)])
    def test_with_one_strength(self, normalise, strength, individual):
        values, options = draw(300), {"normalise": normalise, "individual": individual}
        gaussian = solved(Gaussian(4, T, H, jitter=strength, **options), values)
        ridge = solved(Ridge(4, T, H, penalty=strength, **options), values)
        x, _ = some_windows(values)
        torch.testing.assert_close(gaussian(x), ridge(x), rtol=1e-7, atol=1e-7)

    def test_with_hardly_any(self):
        """Normalised windows make Σ_x singular, in a direction that no normalised window has: the limit is the same."""
        values = draw(300)
        x, _ = some_windows(values)
        gaussian, ridge = solved(Gaussian(4, T, H, jitter=1e-9), values), solved(Ridge(4, T, H, penalty=0.0), values)
        torch.testing.assert_close(gaussian(x), ridge(x), rtol=0, atol=1e-6)

    def test_variance_is_that_of_the_residuals(self):
        """Of least squares on the training windows, in float64: the second half of Theorem 1."""
        values = draw(300)
        model = solved(Gaussian(4, T, H, jitter=0.0, normalise=False), values)
        windows = Windows(values, T, H)
        x, y = windows.batch(torch.arange(len(windows))).pair
        torch.testing.assert_close(model.variance[:, 0], (model(x) - y).square().mean((0, 2)), rtol=1e-8, atol=0)


def test_intervals_are_in_the_units_of_the_window():
    """A window on another level and scale gets the same forecast and interval on that level and scale."""
    model = solved(Gaussian(4, T, H), draw(300))
    x, _ = some_windows(1000 * draw(300))
    for moved, still in zip(model.interval(5 * x - 700, 80), model.interval(x, 80), strict=True):
        torch.testing.assert_close(moved, 5 * still - 700, rtol=1e-6, atol=1e-3)


def test_individual_variances_belong_to_their_series():
    values = draw() * [1.0, 2.0, 3.0, 4.0]
    model = solved(Gaussian(4, T, H, normalise=False, individual=True), values)
    np.testing.assert_allclose(model.variance, np.outer(best_variance(), [1.0, 4.0, 9.0, 16.0]), rtol=0.15)


def test_a_constant_series_has_no_width():
    values = draw(300)
    values[:, 1] = 2.0
    model = solved(Gaussian(4, T, H, individual=True, normalise=False), values)
    low, high = model.interval(some_windows(values)[0], 95)
    torch.testing.assert_close(low[..., 1], high[..., 1])
    assert (high - low)[..., [0, 2, 3]].min() > 1


@pytest.mark.parametrize("level", [0, 100, -5])
def test_refuses_levels_that_no_interval_has(level):
    model = solved(Gaussian(4, T, H), draw(100))
    with pytest.raises(ConfigError, match="level must lie between 1 and 99 per cent"):
        model.interval(torch.zeros(1, T, 4, dtype=torch.float64), level)


def test_refuses_what_cannot_be_inverted():
    values = draw(300)
    values[:, 1] = 2.0
    with pytest.raises(DataError, match="not positive definite with jitter=0: pass a larger one"):
        solved(Gaussian(4, T, H, individual=True, jitter=0.0), values)
    with pytest.raises(ConfigError, match="jitter must be 0 or more, found -1"):
        Gaussian(4, T, H, jitter=-1)
