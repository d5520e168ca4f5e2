"""RLinear against NumPy, and where its dropout falls."""

import numpy as np
import pytest
import torch
from torch import nn
from zoo_parts import count, randomised, standardise, weights_of, windows

from olinear.models.zoo.rlinear import RLinear


@pytest.mark.parametrize("individual", [False, True])
def test_equals_numpy(individual):
    model, x = randomised(RLinear(3, 12, 5, individual=individual)), windows(2, 12, 3)
    w = weights_of(model)
    z, mean, deviation = standardise(x.numpy())
    z = z * w["norm.weight"] + w["norm.bias"]
    weight, bias = np.broadcast_to(w["linear.weight"], (3, 5, 12)), np.broadcast_to(w["linear.bias"], (3, 5))
    y = np.stack([z[..., i] @ weight[i].T + bias[i] for i in range(3)], axis=-1)
    expected = (y - w["norm.bias"]) / (w["norm.weight"] + 1e-10) * deviation + mean
    np.testing.assert_allclose(model(x).detach(), expected, rtol=1e-8)


def test_parameter_counts():
    assert count(RLinear(7, 96, 96)) == 9_312 + 14
    assert count(RLinear(7, 96, 96, affine=False)) == 9_312
    assert count(RLinear(7, 96, 96, individual=True)) == 7 * 9_312 + 14


def test_dropout_falls_on_the_normalised_lookback():
    """With the identity in place of the layer, what is dropped comes back as the window's mean."""
    model = RLinear(2, 40, 40, dropout=0.5, affine=False)
    nn.init.eye_(model.linear.weight)
    nn.init.zeros_(model.linear.bias)
    x = windows(4, 40, 2).float()
    dropped = torch.isclose(model(x), x.mean(1, keepdim=True), rtol=1e-4)
    assert 0.4 < dropped.float().mean() < 0.6
    torch.testing.assert_close(model.eval()(x), x)


def test_a_shifted_and_stretched_window_gives_a_shifted_and_stretched_forecast():
    """What RevIN is for; ε breaks it by a hair."""
    model, x = RLinear(3, 12, 5).double().eval(), windows(2, 12, 3)
    torch.testing.assert_close(model(7 * x - 3), 7 * model(x) - 3, rtol=1e-4, atol=1e-4)


def test_permuting_series_with_their_parameters_permutes_forecasts():
    model, x, order = randomised(RLinear(3, 12, 5, individual=True)), windows(2, 12, 3), torch.tensor([2, 0, 1])
    expected = model(x)[..., order]
    for parameter in model.parameters():
        parameter.data = parameter.data[order]
    torch.testing.assert_close(model(x[..., order]), expected)
    assert not model.permutes_series
    assert not RLinear(3, 12, 5).permutes_series
    assert RLinear(3, 12, 5, affine=False).permutes_series
