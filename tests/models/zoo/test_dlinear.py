"""DLinear against an explicit loop, its two starts and its parameter count."""

import numpy as np
import pytest
import torch
from zoo_parts import count, randomised, weights_of, windows

from olinear.core.errors import ConfigError
from olinear.models.zoo.dlinear import DLinear


def by_hand(x, w, window, individual):
    """One series of one window at a time: pad, average, two matrix products."""
    batch, _, n_series = x.shape
    y = np.empty((batch, len(w["season.bias"][0] if individual else w["season.bias"]), n_series))
    for b in range(batch):
        for i in range(n_series):
            column = x[b, :, i]
            padded = np.concatenate([[column[0]] * (window // 2), column, [column[-1]] * (window // 2)])
            trend = np.array([padded[start : start + window].mean() for start in range(len(column))])
            parts = {"season": column - trend, "trend": trend}
            own = {name: value[i] if individual else value for name, value in w.items()}
            y[b, :, i] = sum(own[f"{name}.weight"] @ part + own[f"{name}.bias"] for name, part in parts.items())
    return y


@pytest.mark.parametrize("individual", [False, True])
@pytest.mark.parametrize("window", [5, 25])
def test_equals_an_explicit_loop(individual, window):
    model = randomised(DLinear(3, 12, 5, window=window, individual=individual))
    x = windows(2, 12, 3)
    np.testing.assert_allclose(model(x).detach(), by_hand(x.numpy(), weights_of(model), window, individual), rtol=1e-10)


def test_parameter_counts():
    """0.02 M in the paper's table of costs."""
    assert count(DLinear(7, 96, 96)) == 18_624
    assert count(DLinear(7, 96, 96, individual=True)) == 7 * 18_624


@pytest.mark.parametrize("individual", [False, True])
def test_the_mean_start_forecasts_the_mean(individual):
    """All weights 1/t: season and trend sum to the series, so the forecast is the window's mean plus the biases."""
    model, x = DLinear(3, 12, 5, init="mean", individual=individual).double(), windows(2, 12, 3)
    biases = (model.season.bias + model.trend.bias).expand(3, 5).mT
    torch.testing.assert_close(model(x), x.mean(1, keepdim=True) + biases)


def test_the_uniform_start_is_pytorchs():
    weights = DLinear(1, 64, 500).season.weight.detach()
    assert float(weights.abs().max()) <= 1 / 8
    assert float(weights.std()) == pytest.approx(1 / 8 / 3**0.5, rel=0.02)


def test_series_of_their_own_keep_their_order():
    assert DLinear(3, 8, 4).permutes_series
    assert not DLinear(3, 8, 4, individual=True).permutes_series


def test_bad_options_are_refused():
    with pytest.raises(ConfigError, match="init must be 'uniform' or 'mean', found 'zero'"):
        DLinear(3, 8, 4, init="zero")
    with pytest.raises(ConfigError, match="window must be at least 1, found 0"):
        DLinear(3, 8, 4, window=0)
