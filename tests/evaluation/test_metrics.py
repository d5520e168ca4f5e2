"""Scores are means over every window: the numbers that are compared with the paper's."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from olinear.evaluation import evaluate, last_value
from olinear.nn import OLinear
from olinear.windows import Windows


def errors(model, windows: Windows) -> np.ndarray:
    """Forecast minus target of every window, one at a time by slicing."""
    values, rows = windows.values, []
    for start in windows.starts:
        middle = start + windows.lookback
        forecast = model(values[None, start:middle])[0].detach()
        rows.append((forecast - windows.targets[middle : middle + windows.horizon]).double().numpy())
    return np.stack(rows)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 40), st.integers(1, 30), st.integers(0, 99))
def test_scores_are_means_over_all_windows(room, batch_size, seed):
    """The last, smaller batch counts by its windows, neither dropped nor weighted as a full one."""
    values = torch.randn(12 + room - 1, 3, generator=torch.Generator().manual_seed(seed)).cumsum(0)
    windows = Windows(values, 8, 4)
    scores = evaluate(last_value(4), windows, batch_size)
    error = errors(last_value(4), windows)
    assert scores.windows == room
    assert scores.mse == pytest.approx(np.mean(error**2), rel=1e-6)
    assert scores.mae == pytest.approx(np.mean(np.abs(error)), rel=1e-6)


def test_scores_of_a_module_over_strided_windows():
    torch.manual_seed(0)
    model = OLinear(2, 8, 4, model_dim=8, blocks=1).eval()
    windows = Windows(torch.randn(40, 2), 8, 4, range(1, 28, 2))
    scores = evaluate(model, windows, 5)
    error = errors(model, windows)
    assert scores.windows == 14
    assert scores.mse == pytest.approx(np.mean(error**2), rel=1e-5)
    assert scores.mae == pytest.approx(np.mean(np.abs(error)), rel=1e-5)


def test_a_perfect_forecast_scores_zero():
    windows = Windows(torch.ones(20, 2), 8, 4)
    scores = evaluate(last_value(4), windows)
    assert (scores.mse, scores.mae) == (0.0, 0.0)


def test_missing_targets_are_left_out():
    values = torch.randn(40, 2, generator=torch.Generator().manual_seed(0)).cumsum(0)
    targets = values.clone()
    targets[5:25, 1] = torch.nan
    windows = Windows(values, 8, 4, targets=targets)
    scores = evaluate(last_value(4), windows, 5)
    error = errors(last_value(4), windows)
    assert scores.mse == pytest.approx(np.nanmean(error**2), rel=1e-6)
    assert scores.mae == pytest.approx(np.nanmean(np.abs(error)), rel=1e-6)


def test_missing_forecasts_are_no_good_forecasts():
    """A model that broke down must not win the comparison."""
    scores = evaluate(lambda x: x[:, -4:] * torch.nan, Windows(torch.randn(30, 2), 8, 4))
    assert np.isnan(scores.mse)
    assert np.isnan(scores.mae)


def test_dropout_is_off_and_nothing_else_changes():
    """Scoring a model must neither train it nor disturb the random state of the caller."""
    model = OLinear(2, 8, 4, model_dim=8, blocks=1, dropout=0.5).train()
    windows = Windows(torch.randn(30, 2), 8, 4)
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    values, random = windows.values.clone(), torch.get_rng_state()
    first = evaluate(model, windows, 7)
    model.train()
    assert evaluate(model, windows, 7) == first
    assert not model.training
    assert torch.equal(torch.get_rng_state(), random)
    assert torch.equal(windows.values, values)
    assert all(torch.equal(tensor, weights[name]) for name, tensor in model.state_dict().items())
    assert all(parameter.grad is None for parameter in model.parameters())


def test_no_gradients_are_recorded():
    """A graph kept over a whole test set would fill the memory."""
    seen = []

    class Watcher(nn.Module):
        def forward(self, x):
            seen.append(torch.is_grad_enabled())
            return x[:, -4:]

    evaluate(Watcher(), Windows(torch.randn(30, 2), 8, 4))
    assert seen == [False]
    assert torch.is_grad_enabled()


def test_last_value_repeats_the_last_row():
    x = torch.randn(5, 8, 3)
    expected = np.repeat(x.numpy()[:, 7:8, :], 4, axis=1)
    np.testing.assert_array_equal(last_value(4)(x), expected)
