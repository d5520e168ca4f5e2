"""The naive forecasts against plain slicing."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from olinear.core import ConfigError, DataError
from olinear.data.windows import Windows
from olinear.evaluation import drift, evaluate, last_value, seasonal_naive

X = torch.randn(5, 8, 3, generator=torch.Generator().manual_seed(0))


def test_last_value_repeats_the_last_row():
    np.testing.assert_array_equal(last_value(4)(X), np.repeat(X.numpy()[:, 7:8, :], 4, axis=1))


@given(st.integers(1, 20), st.integers(1, 8))
def test_the_season_is_repeated(horizon, season):
    """Each step is the value of the same phase in the last season seen."""
    found = seasonal_naive(horizon, season)(X).numpy()
    known = X.numpy()
    for step in range(horizon):
        rows = [row for row in range(8 - season, 8) if (8 + step - row) % season == 0]
        np.testing.assert_array_equal(found[:, step], known[:, rows[0]])


def test_a_season_of_one_is_the_last_value():
    assert torch.equal(seasonal_naive(4, 1)(X), last_value(4)(X))


def test_a_season_needs_its_rows():
    with pytest.raises(DataError, match="a season of 9 steps needs as many rows, found 8"):
        seasonal_naive(4, 9)(X)
    with pytest.raises(ConfigError, match="season must be at least 1, found 0"):
        seasonal_naive(4, 0)


@given(st.floats(-5, 5), st.floats(-5, 5), st.integers(1, 9))
def test_drift_continues_a_line(level, slope, horizon):
    line = level + slope * torch.arange(8.0 + horizon, dtype=torch.float64)[None, :, None]
    torch.testing.assert_close(drift(horizon)(line[:, :8]), line[:, 8:])


def test_drift_goes_through_the_first_and_the_last_value():
    x = X.numpy()
    np.testing.assert_allclose(drift(3)(X)[:, 2], x[:, 7] + 3 * (x[:, 7] - x[:, 0]) / 7, rtol=1e-5, atol=1e-6)
    assert torch.equal(drift(2)(X[:, :1]), last_value(2)(X[:, :1]))


@pytest.mark.parametrize("forecast", [last_value(4), seasonal_naive(4, 6), drift(4)])
def test_they_can_be_evaluated_like_models(forecast):
    windows = Windows(torch.randn(40, 2), 8, 4)
    assert evaluate(forecast, windows).windows == len(windows)
