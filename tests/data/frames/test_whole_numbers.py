"""A time axis of whole numbers: its step, its holes, its future."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olinear.core.errors import ConfigError, DataError
from olinear.data.frames import Frequency, find_frequency

modest = settings(max_examples=80)


@given(st.integers(-3000, 3000), st.integers(1, 50), st.integers(1, 30))
@modest
def test_whole_numbers_step_by_their_difference(start, step, count):
    times = pd.Index(start + step * np.arange(count))
    found = find_frequency(times)
    assert found == Frequency(str(step if count > 1 else 1), "integer")
    assert list(found.grid(times)) == list(times)
    last = int(times[-1])
    assert list(found.after(last, 3)) == [last + int(found.step) * ahead for ahead in (1, 2, 3)]


def test_whole_numbers_with_a_hole_keep_their_grid():
    times = pd.Index([1990, 1991, 1993, 1994, 1995])
    assert list(find_frequency(times).grid(times)) == list(range(1990, 1996))


def test_irregular_whole_numbers_name_the_break():
    with pytest.raises(DataError, match=r"irregular: 5 follows 4.*'2'.*freq='rows'"):
        find_frequency(pd.Index([0, 2, 4, 5, 6, 8, 10]))


def test_whole_numbers_that_are_mostly_holes_are_refused():
    """20240131 is followed by 20240201: as numbers that is a hole of 70 rows."""
    days = pd.date_range("2024-01-01", periods=90).strftime("%Y%m%d").astype(np.int64)
    with pytest.raises(DataError, match=r"missing, the first after 20240131.*freq='rows'"):
        find_frequency(pd.Index(days))


@pytest.mark.parametrize("last", [10**15, 2**62])
def test_whole_numbers_beyond_all_memory_are_refused(last):
    with pytest.raises(DataError, match=r"the first after 2.*freq='rows'"):
        find_frequency(pd.Index([0, 1, 2, last]))


def test_uneven_whole_numbers_as_rows_go_on_by_the_usual_step():
    """The way out that the error names has to lead somewhere."""
    times = pd.Index([0, 2, 4, 5, 6, 8, 10])
    found = find_frequency(times, "rows")
    assert list(found.grid(times)) == list(times)
    assert list(found.after(10, 3)) == [12, 14, 16]
    assert found.season == 1


def test_whole_numbers_may_be_given_their_step():
    times = pd.Index([0, 2, 4, 8, 10])
    assert find_frequency(times, "2") == Frequency("2", "integer")
    with pytest.raises(DataError, match=r"2 follows 0.*'4'"):
        find_frequency(times, "4")


@pytest.mark.parametrize("name", ["D", "0", "9" * 30, "²"])
def test_a_step_that_is_none_for_whole_numbers_is_refused(name):
    with pytest.raises((ConfigError, DataError), match=name):
        find_frequency(pd.Index([1, 2, 3]), name)
