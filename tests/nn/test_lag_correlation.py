"""`lag_correlation` never builds the lagged copies; these tests do, and ask NumPy and pandas."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olinear.core.errors import DataError
from olinear.nn.functional import lag_correlation

SHAPES = [(9, 1, 1), (200, 1, 3), (9, 2, 1), (300, 2, 3), (20, 12, 2), (50, 7, 3), (71, 64, 2), (1000, 96, 2)]
KINDS = {
    "noise": lambda noise: noise,
    "random walk": lambda noise: noise.cumsum(0),
    "far from zero": lambda noise: 1e6 + noise,
    "tiny": lambda noise: 1e-9 * noise,
}


def lagged_copies(series, lags):
    length = len(series) - lags + 1
    return np.stack([series[lag : lag + length] for lag in range(lags)])


def by_numpy(values, lags):
    return np.mean([np.atleast_2d(np.corrcoef(lagged_copies(series, lags))) for series in values.T], axis=0)


def by_pandas(values, lags):
    return np.mean([pd.DataFrame(lagged_copies(series, lags).T).corr().to_numpy() for series in values.T], axis=0)


def noise(rows, n_series, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, n_series))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("rows", "lags", "n_series"), SHAPES)
def test_equals_numpy_on_the_lagged_copies(rows, lags, n_series, kind):
    values = KINDS[kind](noise(rows, n_series))
    np.testing.assert_allclose(lag_correlation(values, lags), by_numpy(values, lags), atol=1e-9, rtol=0)


@given(
    lags=st.integers(1, 16),
    length=st.integers(8, 40),
    n_series=st.integers(1, 3),
    seed=st.integers(0, 2**32 - 1),
    kind=st.sampled_from(sorted(KINDS)),
)
@settings(max_examples=60)
def test_equals_numpy_for_any_shape(lags, length, n_series, seed, kind):
    values = KINDS[kind](noise(length + lags - 1, n_series, seed))
    result = lag_correlation(values, lags)
    np.testing.assert_allclose(result, by_numpy(values, lags), atol=1e-9, rtol=0)
    np.testing.assert_array_equal(result, result.T)
    np.testing.assert_array_equal(np.diag(result), 1.0)


@given(seed=st.integers(0, 2**32 - 1), share=st.sampled_from([0.01, 0.1, 0.3]), lags=st.integers(1, 10))
@settings(max_examples=30)
def test_missing_values_are_left_out_pair_by_pair(seed, share, lags):
    """A gap must cost the pairs it touches and nothing else: pandas' pairwise-complete correlation."""
    values = 1e3 + noise(80, 2, seed).cumsum(0)
    values[np.random.default_rng(seed).random(values.shape) < share] = np.nan
    result = lag_correlation(values, lags)
    np.testing.assert_allclose(result, by_pandas(values, lags), atol=1e-9, rtol=0)
    np.testing.assert_array_equal(result, result.T)


def test_one_gappy_series_beside_a_complete_one():
    values = noise(60, 2)
    values[20:30, 1] = np.nan
    np.testing.assert_allclose(lag_correlation(values, 6), by_pandas(values, 6), atol=1e-9, rtol=0)


@given(seed=st.integers(0, 2**32 - 1), order=st.permutations(range(4)))
@settings(max_examples=20)
def test_order_of_series_does_not_matter(seed, order):
    values = noise(40, 4, seed)
    np.testing.assert_allclose(lag_correlation(values[:, order], 5), lag_correlation(values, 5), atol=1e-13, rtol=0)


def test_units_of_a_series_do_not_matter():
    """Each series weighs the same in the average, in whatever unit it was measured."""
    values = noise(60, 3)
    rescaled = values * [1e-4, 3.0, 1e5] + [7.0, 0.0, -1e6]
    np.testing.assert_allclose(lag_correlation(rescaled, 8), lag_correlation(values, 8), atol=1e-9, rtol=0)


def test_one_series_may_come_without_its_axis():
    series = noise(30, 1)
    np.testing.assert_array_equal(lag_correlation(series[:, 0].tolist(), 4), lag_correlation(series, 4))


def left_out():
    """Series that have no correlation in at least one of five lagged copies."""
    jitter = np.where(np.arange(37) % 3, 0.3, 0.1 + 0.2)  # 0.30000000000000004
    lone = np.full(37, np.nan)
    lone[3] = 2.0
    gappy = np.full(37, 1e6 / 3)
    gappy[[4, 9, 10]] = np.nan
    sparse = np.full(37, np.nan)
    sparse[::10] = [1.0, 5.0, 2.0, 3.0]  # no two values one row apart
    constants = {f"constant {level}": np.full(37, level) for level in (0.0, 0.1, 1e6, 1e6 / 3, -1e6 / 7)}
    steps = {}
    for level in (0.0, 0.1, 1e6):
        for row in (0, -1):  # constant in every copy but one, up to the rounding of running sums
            steps[f"{level} but for row {row}"] = series = np.full(37, level)
            series[row] = 1.3 * level + 1
    return {
        **constants,
        **steps,
        "rounding jitter": jitter,
        "lone value": lone,
        "gappy constant": gappy,
        "sparse": sparse,
    }


@pytest.mark.parametrize("name", left_out())
def test_series_without_correlation_are_left_out(name):
    """A constant sensor must not turn the matrix into NaN, nor rounding of its mean pass for a signal."""
    values = noise(37, 2)
    with_it = np.column_stack([values[:, 0], left_out()[name], values[:, 1]])
    np.testing.assert_allclose(lag_correlation(with_it, 5), lag_correlation(values, 5), atol=1e-13, rtol=0)


@pytest.mark.parametrize("name", left_out())
def test_nothing_but_series_without_correlation_is_refused(name):
    with pytest.raises(DataError, match="no series varies"):
        lag_correlation(left_out()[name], 5)


@pytest.mark.parametrize("infinite", [np.inf, -np.inf])
def test_an_infinite_value_is_named(infinite):
    values = noise(20, 3)
    values[4, 1] = infinite
    with pytest.raises(DataError, match="row 4, series 1"):
        lag_correlation(values, 3)


@pytest.mark.parametrize("lags", [0, -1, 20, 21])
def test_lags_must_leave_two_windows(lags):
    with pytest.raises(DataError, match=f"between 1 and rows - 1 = 19, found {lags}"):
        lag_correlation(noise(20, 2), lags)


def test_a_third_axis_is_refused():
    with pytest.raises(DataError, match=r"\(rows, series\), found \(2, 3, 4\)"):
        lag_correlation(np.zeros((2, 3, 4)), 1)
