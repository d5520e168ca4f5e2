"""Ridge against least squares on windows written out one by one, and what all closed-form forecasters share."""

import numpy as np
import pytest
import torch

from olinear.core.errors import ConfigError, DataError, NotFittedError
from olinear.data.windows import Windows
from olinear.models.zoo.blocks import closed_form
from olinear.models.zoo.gaussian import Gaussian
from olinear.models.zoo.ridge import Ridge
from olinear.models.zoo.rlinear import RLinear

T, H = 9, 4


def rows(count=80, n_series=3, seed=0):
    """Random walks with a pull to their levels: `[rows, series]`."""
    rng = np.random.default_rng(seed)
    values = np.zeros((count, n_series))
    for step in range(1, count):
        values[step] = 0.8 * values[step - 1] + rng.normal(size=n_series)
    return values * rng.uniform(0.5, 3, n_series) + rng.normal(size=n_series)


def written_out(values, targets=None, *, normalise=True):
    """Every window of every series without a missing target: `(x - m) / s`, `(y - m) / s` and `s`, a row each."""
    targets = values if targets is None else targets
    inputs, outputs, scales = [], [], []
    for series, wanted in zip(values.T, targets.T, strict=True):
        for first in range(len(series) - T - H + 1):
            x, y = series[first : first + T], wanted[first + T : first + T + H]
            if np.isnan(y).any():
                continue
            mean, scale = (x.mean(), np.sqrt(x.var() + 1e-5)) if normalise else (0.0, 1.0)
            inputs.append((x - mean) / scale)
            outputs.append((y - mean) / scale)
            scales.append(scale)
    return np.stack(inputs), np.stack(outputs), np.array(scales)


def least_squares(x, y, scale, penalty=0.0):
    """W and b of the least Σ s² |y - Wᵀx - b|² + (Σ s²) λ |W|², by an SVD of the rows themselves."""
    spread = np.cov(x.T, aweights=scale**2, ddof=0)
    strength = np.sqrt(scale @ scale * penalty * np.trace(spread) / T)
    design = np.hstack([x, np.ones((len(x), 1))]) * scale[:, None]
    design = np.vstack([design, np.hstack([strength * np.eye(T), np.zeros((T, 1))])])
    solution = np.linalg.lstsq(design, np.vstack([y * scale[:, None], np.zeros((T, H))]), rcond=1e-9)[0]
    return solution[:T], solution[T]


def solved(model, values, targets=None):
    model = model.double()
    model.solve(Windows(values, T, H, targets=targets))
    return model


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("penalty", [0.0, 1e-4, 0.3])
def test_equals_least_squares(penalty, normalise):
    """With penalty 0 and normalised windows the solution is not unique: both are the one of least norm."""
    values = rows()
    model = solved(Ridge(3, T, H, penalty=penalty, normalise=normalise), values)
    weight, bias = least_squares(*written_out(values, normalise=normalise), penalty)
    np.testing.assert_allclose(model.weight, weight, atol=1e-8)
    x = Windows(values, T, H).batch(torch.arange(5)).past
    z, mean, scale = x.numpy(), 0.0, 1.0
    if normalise:
        mean, scale = z.mean(1, keepdims=True), np.sqrt(z.var(1, keepdims=True) + 1e-5)
    wanted = np.einsum("btn,th->bhn", (z - mean) / scale, weight) + bias[:, None]
    np.testing.assert_allclose(model(x), wanted * scale + mean, atol=1e-8)


def test_a_small_penalty_is_nearly_none():
    values = rows()
    weights = [solved(Ridge(3, T, H, penalty=penalty), values).weight for penalty in (0.0, 1e-9)]
    torch.testing.assert_close(*weights, rtol=0, atol=1e-6)


def test_a_large_penalty_leaves_the_mean():
    values = rows()
    model = solved(Ridge(3, T, H, penalty=1e9, normalise=False), values)
    _, outputs, _ = written_out(values, normalise=False)
    x = Windows(values, T, H).batch(torch.arange(5)).past
    np.testing.assert_allclose(model(x), np.broadcast_to(outputs.mean(0)[:, None], (5, H, 3)), atol=1e-6)


def test_is_where_rlinear_would_end():
    """The squared error of RLinear with these weights, over all training windows, has no slope."""
    values = rows()
    ridge, model = solved(Ridge(3, T, H, penalty=0.0), values), RLinear(3, T, H, dropout=0.0, affine=False).double()
    model.linear.weight.data, model.linear.bias.data = ridge.weight.mT.clone(), ridge.bias[:, 0].clone()
    windows = Windows(values, T, H)
    x, y = windows.batch(torch.arange(len(windows))).pair
    (model(x) - y).square().mean().backward()
    assert model.linear.weight.grad.abs().max() < 1e-10
    assert model.linear.bias.grad.abs().max() < 1e-10


@pytest.mark.parametrize("normalise", [True, False])
def test_individual_is_each_series_alone(normalise):
    values = rows()
    options = {"penalty": 0.01, "normalise": normalise}
    model = solved(Ridge(3, T, H, individual=True, **options), values)
    x = Windows(values, T, H).batch(torch.arange(5)).past
    for one in range(3):
        alone = solved(Ridge(1, T, H, **options), values[:, one : one + 1])
        torch.testing.assert_close(model(x)[..., one : one + 1], alone(x[..., one : one + 1]))
    assert not model.permutes_series
    assert Ridge(3, T, H).permutes_series


@pytest.mark.parametrize("individual", [True, False])
def test_missing_targets_are_left_out(individual):
    values = rows()
    targets = values.copy()
    targets[20:22, 0] = targets[50, 2] = np.nan
    model = solved(Ridge(3, T, H, individual=individual), values, targets)
    for one in range(3):
        part = slice(one, one + 1) if individual else slice(None)
        weight, bias = least_squares(*written_out(values[:, part], targets[:, part]), 1e-4)
        np.testing.assert_allclose(model.weight[one] if individual else model.weight, weight, atol=1e-8)
        np.testing.assert_allclose(model.bias[:, one if individual else 0], bias, atol=1e-8)


@pytest.mark.parametrize("normalise", [True, False])
def test_a_missing_input_counts_as_the_mean(normalise):
    values = rows()
    model = solved(Ridge(3, T, H, normalise=normalise), values)
    x = Windows(values, T, H).batch(torch.arange(2)).past.clone()
    x[0, 3, 1] = torch.nan
    filled = x.clone()
    filled[0, 3, 1] = x[0, :, 1].nanmean() if normalise else model.centre[0]
    torch.testing.assert_close(model(x)[1:], model(filled)[1:])
    if normalise:  # the deviation is that of the values present
        assert model(x).isfinite().all()
    else:
        torch.testing.assert_close(model(x), model(filled))


@pytest.mark.parametrize("model", [Ridge, Gaussian])
@pytest.mark.parametrize("individual", [True, False])
def test_batches_change_nothing(model, individual, monkeypatch):
    """Sums over a few windows at a time are the sums over all of them."""
    values = rows()
    whole = solved(model(3, T, H, individual=individual), values)
    monkeypatch.setattr(closed_form, "BATCH_VALUES", 1)
    one_by_one = solved(model(3, T, H, individual=individual), values)
    for name, tensor in whole.state_dict().items():
        torch.testing.assert_close(one_by_one.state_dict()[name], tensor, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("model", [Ridge, Gaussian])
class TestClosedForm:
    """What both forecasters without gradient hold."""

    def test_must_be_solved_first(self, model):
        with pytest.raises(NotFittedError, match=f"this {model.__name__} is not solved yet: call solve"):
            model(3, T, H)(torch.zeros(2, T, 3))

    def test_has_nothing_to_train(self, model):
        assert not list(model(3, T, H).parameters())

    @pytest.mark.parametrize("individual", [True, False])
    def test_is_saved_with_its_solution(self, model, individual):
        values = rows().astype(np.float32)
        first, second = (model(3, T, H, individual=individual) for _ in range(2))
        windows = Windows(values, T, H)
        first.solve(windows)
        second.load_state_dict(first.state_dict())
        x = windows.batch(torch.arange(5)).past
        assert first(x).dtype == torch.float32
        assert torch.equal(first(x), second(x))
        assert torch.equal(first(x), first(x))

    @pytest.mark.parametrize(("n_series", "lookback", "horizon"), [(1, 33, 5), (2, 1, 1), (3, 5, 40)])
    def test_odd_sizes(self, model, n_series, lookback, horizon):
        windows = Windows(rows(120, n_series).astype(np.float32), lookback, horizon)
        forecaster = model(n_series, lookback, horizon)
        forecaster.solve(windows)
        forecast = forecaster(windows.batch(torch.arange(2)).past)
        assert forecast.shape == (2, horizon, n_series)
        assert forecast.isfinite().all()

    def test_solves_anew(self, model):
        values, other = rows(), rows(seed=1)
        twice = solved(solved(model(3, T, H), other), values)
        assert torch.equal(twice.weight, solved(model(3, T, H), values).weight)

    @pytest.mark.parametrize("normalise", [True, False])
    @pytest.mark.parametrize("individual", [True, False])
    def test_rows_after_training_change_nothing(self, model, normalise, individual):
        values, options = rows(), {"normalise": normalise, "individual": individual}
        other = values.copy()
        other[60:] = np.inf
        states = []
        for table in (values, other):
            forecaster = model(3, T, H, **options).double()
            forecaster.solve(Windows(table, T, H, range(60 - T - H + 1)))
            states.append(forecaster.state_dict())
        torch.testing.assert_close(*states, rtol=0, atol=0)

    @pytest.mark.parametrize("individual", [True, False])
    def test_large_levels_do_no_harm(self, model, individual):
        """Covariances are taken about the level of the training rows, not as a difference of large squares."""
        options = {"normalise": False, "individual": individual}
        levels = [1e7, 0.0, -1e7] if individual else 1e7
        low, high = (solved(model(3, T, H, **options), rows() + level) for level in (0.0, np.array(levels)))
        torch.testing.assert_close(high.weight, low.weight, rtol=0, atol=1e-6)

    @pytest.mark.parametrize("normalise", [True, False])
    @pytest.mark.parametrize("individual", [True, False])
    def test_constant_series_stay_constant(self, model, normalise, individual):
        values = rows()
        values[:, 1] = 5.0
        forecaster = solved(model(3, T, H, individual=individual, normalise=normalise), values)
        forecast = forecaster(Windows(values, T, H).batch(torch.arange(5)).past)
        assert forecast.isfinite().all()
        if individual or normalise:
            assert (forecast[..., 1] - 5.0).abs().max() < 0.01

    def test_refuses_other_windows(self, model):
        with pytest.raises(DataError, match=r"windows must have 3 series, lookback 9 and horizon 4, found 2, 9 and 4"):
            model(3, T, H).solve(Windows(rows()[:, :2], T, H))

    def test_refuses_windows_without_targets(self, model):
        values = rows()
        with pytest.raises(DataError, match="every training window lacks a target"):
            model(3, T, H).solve(Windows(values, T, H, targets=np.full_like(values, np.nan)))

    def test_refuses_infinite_values(self, model):
        values, infinite = rows(), rows()
        infinite[40, 1] = np.inf
        for windows in (Windows(infinite, T, H), Windows(values, T, H, targets=infinite)):
            with pytest.raises(DataError, match="the training windows hold infinite values"):
                model(3, T, H).solve(windows)


def test_refuses_a_negative_penalty():
    with pytest.raises(ConfigError, match="penalty must be 0 or more, found -1"):
        Ridge(3, T, H, penalty=-1)


def test_shows_its_settings():
    assert str(Ridge(3, T, H)).splitlines()[0].startswith("Ridge(")
    assert "9, 4, individual=False, normalise=True" in str(Ridge(3, T, H))
