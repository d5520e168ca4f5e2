"""Scales of series that are new, and cells that no sensor measured."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from olinear.data.frames import StandardScaler, find_spikes, is_new

nan = np.nan


def test_a_new_series_is_scaled_by_its_own_rows():
    """By mean 0 and deviation 1, for want of training rows, its raw units would rule every loss."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(100, 3))
    values[:, 1] = np.where(np.arange(100) < 85, nan, 5000 + 300 * values[:, 1])
    values[:80, 2] = 4.0
    train, later = values[:80], values[80:]
    np.testing.assert_array_equal(is_new(train), [False, True, True])
    found, alone = StandardScaler.fit(train, later), StandardScaler.fit(train)
    assert (found.mean[0], found.deviation[0]) == (alone.mean[0], alone.deviation[0])
    assert found.mean[1] == pytest.approx(values[85:, 1].mean())
    assert found.deviation[1] == pytest.approx(values[85:, 1].std())
    assert found.deviation[2] == pytest.approx(values[:, 2].std())
    assert np.nanmax(abs(found.transform(values))) < 20


@given(st.integers(0, 2**32 - 1))
def test_without_new_series_later_rows_change_nothing(seed):
    rng = np.random.default_rng(seed)
    train = rng.normal(size=(40, 4))
    train[rng.random((40, 4)) < 0.3] = nan
    train[:10] = rng.normal(size=(10, 4))
    found, alone = StandardScaler.fit(train, 1000 * rng.normal(size=(9, 4))), StandardScaler.fit(train)
    np.testing.assert_array_equal(found.mean, alone.mean)
    np.testing.assert_array_equal(found.deviation, alone.deviation)


@pytest.mark.parametrize("cell", [1e20, -1e20, 1e7])
@pytest.mark.parametrize("rows", [30, 500])
def test_one_cell_is_found(cell, rows):
    values = np.random.default_rng(0).normal(5, 2, (rows, 2))
    values[rows // 3, 1] = cell
    assert np.argwhere(find_spikes(values)).tolist() == [[rows // 3, 1]]


@given(st.sampled_from(["normal", "lognormal", "walk", "rain", "step", "counter", "constant"]), st.integers(0, 999))
def test_what_may_have_been_measured_is_left_alone(kind, seed):
    """Heavy tails, jumps, a series that is nearly always zero: 10,000 deviations is far."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=300)
    values = {
        "normal": noise,
        "lognormal": np.exp(2 * noise),
        "walk": np.cumsum(noise),
        "rain": np.where(rng.random(300) < 0.005, 1e9, 0.0),
        "step": np.where(np.arange(300) < 150, 0.0, 1e9) + noise,
        "counter": 1e12 + np.arange(300.0),
        "constant": np.full(300, 3.0),
    }[kind]
    assert not find_spikes(values[:, None]).any()


def test_few_cells_tell_nothing():
    values = np.r_[np.random.default_rng(0).normal(size=10), 1e20][:, None]
    assert not find_spikes(values).any()
    assert not find_spikes(np.full((50, 1), nan)).any()
