"""Losses against NumPy."""

import math
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from olinear.training import LOSSES

COSTS = {
    "l1": lambda error, step: abs(error),
    "l2": lambda error, step: error**2,
    "weighted_l1": lambda error, step: abs(error) / math.sqrt(step),
}


def by_loop(name: str, forecast: Tensor, target: Tensor) -> float:
    """The mean of what each value that is not missing costs."""
    costs = [
        COSTS[name](float(forecast[b, h, n]) - float(target[b, h, n]), h + 1)
        for b, h, n in product(*map(range, target.shape))
        if not math.isnan(target[b, h, n])
    ]
    return sum(costs) / len(costs)


def some(b: int, h: int, n: int, seed: int) -> tuple[Tensor, Tensor]:
    forecast, target = torch.randn(2, b, h, n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return forecast, target


sizes = st.integers(1, 5)
every_loss = pytest.mark.parametrize("name", sorted(COSTS))


def test_every_loss_is_tested():
    assert set(LOSSES) == set(COSTS)


@every_loss
@settings(max_examples=25)
@given(sizes, sizes, sizes, st.integers(0, 999), st.booleans())
def test_against_a_plain_loop(name, b, h, n, seed, gaps):
    forecast, target = some(b, h, n, seed)
    if gaps:
        target.flatten()[1::3] = math.nan
    loss = LOSSES[name](forecast, target)
    assert loss.shape == ()
    assert float(loss) == pytest.approx(by_loop(name, forecast, target), rel=1e-12)


def test_against_numpy():
    forecast, target = some(3, 4, 2, seed=0)
    error, weights = (forecast - target).numpy(), np.arange(1, 5) ** -0.5
    assert float(LOSSES["l1"](forecast, target)) == pytest.approx(np.mean(np.abs(error)))
    assert float(LOSSES["l2"](forecast, target)) == pytest.approx(np.mean(error**2))
    assert float(LOSSES["weighted_l1"](forecast, target)) == pytest.approx(np.mean(np.abs(error) * weights[:, None]))


@every_loss
def test_missing_targets_neither_cost_nor_teach(name):
    """NaN times zero is NaN: one missing value must not spoil the gradients of all the others."""
    forecast, target = some(3, 4, 2, seed=0)
    forecast.requires_grad_()
    target[:, 1] = math.nan
    LOSSES[name](forecast, target).backward()
    assert (forecast.grad[:, 1] == 0).all()
    assert (forecast.grad[:, [0, 2, 3]] != 0).all()
    assert forecast.grad.isfinite().all()


@every_loss
def test_nothing_but_missing_targets_is_no_loss(name):
    forecast = torch.randn(2, 3, 2, requires_grad=True)
    loss = LOSSES[name](forecast, torch.full((2, 3, 2), math.nan))
    loss.backward()
    assert float(loss.detach()) == 0.0
    assert (forecast.grad == 0).all()


def test_the_first_step_counts_most():
    """1, 1/√2, 1/√3, 1/2 over four steps: the weights of the paper's loss."""
    target = torch.zeros(1, 4, 1)
    losses = [float(LOSSES["weighted_l1"](row[None, :, None], target)) for row in torch.eye(4)]
    assert losses == pytest.approx([1 / 4, 0.7071068 / 4, 0.5773503 / 4, 0.5 / 4], rel=1e-6)


@every_loss
def test_a_perfect_forecast_costs_nothing_and_gradients_flow(name):
    target = torch.randn(2, 3, 2)
    assert float(LOSSES[name](target, target)) == 0.0
    forecast = (target + 1).requires_grad_()
    LOSSES[name](forecast, target).backward()
    assert (forecast.grad > 0).all()
