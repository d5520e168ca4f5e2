"""Standardising: the scale on which every published score is given."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from olinear.data.frames import StandardScaler

modest = settings(max_examples=60)
cells = st.integers(-(10**6), 10**6).map(lambda number: number / 8)
tables = st.tuples(st.integers(2, 12), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=cells)
)


def with_gaps(values: np.ndarray, seed: int) -> np.ndarray:
    """Some cells missing, the first row never."""
    values = values.copy()
    missing = np.random.default_rng(seed).random(values.shape) < 0.3
    missing[0] = False
    values[missing] = np.nan
    return values


@modest
@given(tables, st.integers(0, 99))
def test_statistics_are_those_of_the_values_present(values, seed):
    values = with_gaps(values, seed)
    scaler = StandardScaler.fit(values)
    deviation = np.nanstd(values, axis=0)
    constant = np.nanmax(values, axis=0) == np.nanmin(values, axis=0)
    np.testing.assert_allclose(scaler.mean, np.nanmean(values, axis=0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(scaler.deviation, np.where(constant, 1.0, deviation), rtol=1e-9)


@modest
@given(tables, st.integers(0, 99))
def test_inverse_undoes_transform_and_gaps_stay(values, seed):
    gappy = with_gaps(values, seed)
    scaler = StandardScaler.fit(gappy)
    scaled = scaler.transform(gappy)
    np.testing.assert_array_equal(np.isnan(scaled), np.isnan(gappy))
    tolerance = 1e-6 * (1 + np.abs(values - scaler.mean).max())  # scaled values are float32
    np.testing.assert_allclose(scaler.inverse_transform(scaled), gappy, rtol=0, atol=tolerance)


@modest
@given(tables)
def test_training_rows_get_mean_zero_and_deviation_one(values):
    scaled = StandardScaler.fit(values).transform(values).astype(np.float64)
    constant = values.max(axis=0) == values.min(axis=0)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(scaled.std(axis=0), np.where(constant, 0.0, 1.0), atol=1e-5)


def test_later_rows_are_scaled_by_training_rows():
    """Statistics that saw the test rows would leak them."""
    scaler = StandardScaler.fit([[1.0], [3.0]])  # mean 2, deviation 1
    np.testing.assert_array_equal(scaler.transform([[2.0], [12.0]]), [[0.0], [10.0]])


@pytest.mark.parametrize("level", [0.0, 0.1, -7.3, 1e9])
def test_a_constant_series_is_only_centred(level):
    """Also where the mean of equal numbers is off by a rounding error: a deviation of 1e-17 would blow it up."""
    values = np.full((997, 1), level)
    scaler = StandardScaler.fit(values)
    assert scaler.deviation == 1.0
    np.testing.assert_allclose(scaler.transform(values), 0, atol=1e-6)
    np.testing.assert_allclose(scaler.transform(values + 2), 2, atol=1e-6)


def test_an_empty_series_stays_missing():
    scaler = StandardScaler.fit([[np.nan, 1.0], [np.nan, 3.0]])
    assert (scaler.mean[0], scaler.deviation[0]) == (0.0, 1.0)
    assert np.isnan(scaler.transform([[np.nan, 1.0]])[0, 0])


def test_dtypes_are_single_out_and_double_back():
    values = np.arange(6, dtype=np.int64).reshape(3, 2)
    scaler = StandardScaler.fit(values)
    scaled = scaler.transform(values)
    assert scaled.dtype == np.float32
    assert scaler.inverse_transform(scaled).dtype == np.float64
