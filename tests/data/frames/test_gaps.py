"""Bridged gaps, against pandas and by hand."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from olinear.data.frames.gaps import bridge_gaps, hide_first_targets

nan = np.nan
modest = settings(max_examples=60)
tables = st.tuples(st.integers(1, 12), st.integers(1, 4)).flatmap(
    lambda shape: arrays(np.float64, shape, elements=st.one_of(st.just(nan), st.floats(-1e3, 1e3)))
)


@modest
@given(tables)
def test_gaps_are_bridged_as_pandas_does(values):
    expected = pd.DataFrame(values).ffill().bfill().fillna(0.0)
    np.testing.assert_array_equal(bridge_gaps(values), expected)


@modest
@given(tables, st.data())
def test_no_bridge_looks_into_the_future(values, data):
    """A row once a series has begun is the same whatever comes after it; a straight line would tell what does."""
    row = data.draw(st.integers(0, len(values) - 1))
    begun = ~np.isnan(values[: row + 1]).all(axis=0)
    np.testing.assert_array_equal(bridge_gaps(values)[row, begun], bridge_gaps(values[: row + 1])[row, begun])


@modest
@given(tables)
def test_present_values_and_the_input_are_untouched(values):
    before = values.copy()
    filled = bridge_gaps(values)
    present = ~np.isnan(before)
    np.testing.assert_array_equal(values, before)
    np.testing.assert_array_equal(filled[present], before[present])
    assert not np.isnan(filled).any()
    assert not np.shares_memory(filled, values)


def test_carried_forward_held_before_the_first_zero_where_empty():
    values = [[nan, 1, nan], [2, nan, nan], [nan, nan, nan], [nan, 4, nan], [8, nan, nan]]
    expected = [[2, 1, 0], [2, 1, 0], [2, 1, 0], [2, 4, 0], [8, 4, 0]]
    np.testing.assert_array_equal(bridge_gaps(values), expected)


def test_infinite_values_are_not_hidden():
    """They are no gaps, and training names them as what is wrong with the data."""
    values = [[1.0, 1.0], [np.inf, 2.0], [3.0, -np.inf]]
    np.testing.assert_array_equal(bridge_gaps(values), values)


def test_any_memory_layout():
    """A transposed array (as from a frame's blocks) is filled like any other."""
    values = np.array([[1.0, nan, 3.0], [nan, 5.0, nan]]).T
    np.testing.assert_array_equal(bridge_gaps(values), [[1, 5], [1, 5], [3, 5]])


def test_without_gaps_nothing_changes():
    values = np.arange(6, dtype=np.float32).reshape(3, 2)
    filled = bridge_gaps(values)
    assert filled.dtype == np.float64
    np.testing.assert_array_equal(filled, values)


def test_a_late_series_loses_its_first_targets():
    """Before row 2 the bridge shows the very value of row 2: no window may be asked for it."""
    values = np.array([[nan, 1, nan], [nan, nan, nan], [3, 3, nan], [4, 4, nan], [5, nan, nan], [6, 6, nan]])
    expected = [[nan, 1, nan], [nan, nan, nan], [nan, 3, nan], [nan, 4, nan], [5, nan, nan], [6, 6, nan]]
    before = values.copy()
    np.testing.assert_array_equal(hide_first_targets(values, 2), expected)
    np.testing.assert_array_equal(values, before)


@modest
@given(tables, st.integers(1, 4), st.integers(1, 3))
def test_no_target_left_was_shown_by_the_bridge(values, horizon, lookback):
    """Where a window looks back only at rows before a series began, it is asked for nothing of that series' start."""
    targets = hide_first_targets(values, horizon)
    for series in range(values.shape[1]):
        present = np.flatnonzero(~np.isnan(values[:, series]))
        for start in range(len(values) - lookback - horizon + 1):
            middle = start + lookback
            if len(present) and present[0] >= middle:
                assert np.isnan(targets[middle : middle + horizon, series]).all()
