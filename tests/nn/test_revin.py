"""RevIN against NumPy: normalise, undo, and leave nothing behind."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from olinear.nn import RevIN


def affine_revin(n_series, seed=0):
    rng = np.random.default_rng(seed)
    revin = RevIN(n_series).double()
    revin.weight.data = torch.from_numpy(rng.uniform(0.2, 3, n_series))
    revin.bias.data = torch.from_numpy(rng.normal(size=n_series))
    return revin


def windows(*shape, seed=0):
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.normal(size=shape) * rng.uniform(0.5, 50, shape[-1]) + rng.normal(size=shape[-1]) * 100)


def with_gaps(x):
    x = x.clone()
    x[0, [1, 4], 0] = torch.nan
    x[1, :, 2] = torch.nan
    x[1, 3:, 1] = torch.nan
    return x


def test_forward_equals_numpy():
    revin, x = affine_revin(3), windows(2, 8, 3)
    z, stats = revin(x)
    mean, variance = x.numpy().mean(1, keepdims=True), x.numpy().var(1, keepdims=True)
    expected = (x.numpy() - mean) / np.sqrt(variance + 1e-5)
    expected = expected * revin.weight.detach().numpy() + revin.bias.detach().numpy()
    np.testing.assert_allclose(z.detach(), expected, rtol=1e-12)
    np.testing.assert_allclose(stats.mean, mean)
    np.testing.assert_allclose(stats.deviation, np.sqrt(variance + 1e-5))


def test_starts_as_plain_normalisation():
    x = windows(2, 8, 3)
    z, _ = RevIN(3).double()(x)
    plain, _ = RevIN(3, affine=False)(x)
    torch.testing.assert_close(z, plain)
    assert not list(RevIN(3, affine=False).parameters())


def test_inverse_equals_numpy():
    """The forecast has another length than the lookback, and ε² keeps a weight of 0 from dividing by zero."""
    revin, x, y = affine_revin(3), windows(2, 8, 3), windows(2, 5, 3, seed=1)
    revin.weight.data[1] = 0.0
    _, stats = revin(x)
    expected = (y.numpy() - revin.bias.detach().numpy()) / (revin.weight.detach().numpy() + 1e-10)
    expected = expected * np.sqrt(x.numpy().var(1, keepdims=True) + 1e-5) + x.numpy().mean(1, keepdims=True)
    np.testing.assert_allclose(revin.inverse(y, stats).detach(), expected, rtol=1e-9)


@given(
    batch=st.integers(1, 3),
    lookback=st.integers(1, 10),
    n_series=st.integers(1, 4),
    affine=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=40)
def test_inverse_undoes_forward(batch, lookback, n_series, affine, seed):
    revin = affine_revin(n_series, seed) if affine else RevIN(n_series, affine=False)
    x = windows(batch, lookback, n_series, seed=seed)
    z, stats = revin(x)
    torch.testing.assert_close(revin.inverse(z, stats), x, rtol=1e-8, atol=1e-6)  # ε² = 1e-10 beside the weight


def test_statistics_are_constants_to_the_gradient():
    """Then dz/dx is w / deviation alone; through the statistics the sum over a window would have gradient 0."""
    revin, x = affine_revin(2), windows(2, 6, 2).requires_grad_()
    z, stats = revin(x)
    assert not stats.mean.requires_grad
    assert not stats.deviation.requires_grad
    z.sum().backward()
    torch.testing.assert_close(x.grad, (revin.weight / stats.deviation).detach().expand(2, 6, 2))


def test_missing_values_are_left_out_of_the_statistics():
    x = with_gaps(windows(2, 8, 3))
    _, stats = RevIN(3).double()(x)
    known = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)]  # (1, 2) has no value at all
    for batch, series in known:
        column = x.numpy()[batch, :, series]
        np.testing.assert_allclose(stats.mean[batch, 0, series], np.nanmean(column))
        np.testing.assert_allclose(stats.deviation[batch, 0, series], np.sqrt(np.nanvar(column) + 1e-5))


def test_missing_values_become_the_mean():
    """The mean is 0 after normalisation, so what a model sees in a gap is the bias."""
    revin, x = affine_revin(3), with_gaps(windows(2, 8, 3))
    z, stats = revin(x)
    assert z.isfinite().all()
    bias = revin.bias.expand_as(x)
    torch.testing.assert_close(z[x.isnan()], bias[x.isnan()])
    torch.testing.assert_close(revin.inverse(z, stats)[x.isnan()], stats.mean.expand_as(x)[x.isnan()])
    present = ~x.isnan()
    torch.testing.assert_close(revin.inverse(z, stats)[present], x[present], rtol=1e-8, atol=1e-6)


def test_a_lookback_without_any_value_has_mean_zero():
    revin = RevIN(1)
    z, stats = revin(torch.full((1, 5, 1), torch.nan))
    torch.testing.assert_close(z, torch.zeros(1, 5, 1))
    torch.testing.assert_close(revin.inverse(torch.zeros(1, 2, 1), stats), torch.zeros(1, 2, 1))
    torch.testing.assert_close(stats.deviation, torch.full((1, 1, 1), 1e-5**0.5))


def test_gaps_leave_finite_gradients():
    """NaN times 0 is NaN: a gap that leaks into the backward pass would stop training."""
    revin, x = affine_revin(3), with_gaps(windows(2, 8, 3))
    z, stats = revin(x)
    revin.inverse(z, stats).square().sum().backward()
    assert revin.weight.grad.isfinite().all()
    assert revin.bias.grad.isfinite().all()


@pytest.mark.parametrize("level", [0.0, 3.0, -1e4])
def test_a_constant_lookback_is_put_back_where_it_was(level):
    revin, x = RevIN(2), torch.full((1, 6, 2), level)
    z, stats = revin(x)
    torch.testing.assert_close(z, torch.zeros_like(x))
    torch.testing.assert_close(revin.inverse(z, stats), x)


def test_calls_do_not_disturb_one_another():
    """Statistics travel with the caller: a second batch between forward and inverse changes nothing."""
    revin, one, other = affine_revin(3), windows(2, 8, 3), windows(4, 8, 3, seed=1)
    before = {name: value.clone() for name, value in revin.state_dict().items()}
    z_one, stats_one = revin(one)
    z_other, stats_other = revin(other)
    torch.testing.assert_close(revin.inverse(z_one, stats_one), one, rtol=1e-8, atol=1e-6)
    torch.testing.assert_close(revin.inverse(z_other, stats_other), other, rtol=1e-8, atol=1e-6)
    torch.testing.assert_close(revin.state_dict(), before, rtol=0, atol=0)


def test_eps_is_what_was_asked_for():
    _, stats = RevIN(1, eps=4.0)(torch.ones(1, 3, 1))
    torch.testing.assert_close(stats.deviation, torch.full((1, 1, 1), 2.0))
