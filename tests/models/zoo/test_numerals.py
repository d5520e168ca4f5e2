"""How LLMTime writes numbers: what is written is read back within half of its last digit."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from olinear.models.zoo.blocks.numerals import (
    LARGEST,
    Scaling,
    decode,
    encode,
    to_symbols,
    to_text,
    widest,
    without_gaps,
)

NUMBERS = st.floats(-1000, 1000)
SERIES = arrays(np.float64, st.integers(2, 30), elements=st.floats(-1e6, 1e6))


@given(arrays(np.float64, st.integers(1, 20), elements=NUMBERS), st.integers(1, 6))
def test_a_number_comes_back_within_half_of_its_last_digit(values, digits):
    found = decode("".join(encode(values, digits)), digits)
    assert np.abs(found - values).max() <= 0.5 * 10.0**-digits * (1 + 1e-6)
    assert (np.sign(found) == np.where(values < 0, -1, 1)).all()


@given(arrays(np.float64, st.integers(1, 20), elements=NUMBERS), st.integers(1, 6))
def test_what_was_read_is_written_the_same(values, digits):
    text = "".join(encode(values, digits))
    assert "".join(encode(decode(text, digits), digits)) == text
    assert to_text(to_symbols(text)) == text


def test_numerals_by_hand():
    assert encode(np.array([0.1234, 0.0509, 0.0, 1.0, 12.5, -0.25, -0.0001]), 3) == [
        "123,", "50,", "0,", "1000,", "12500,", "-250,", "-0,"
    ]  # fmt: skip
    np.testing.assert_allclose(decode("123,-50,0,007,-0,12", 3), [0.1235, -0.0505, 0.0005, 0.0075, -0.0005])
    assert len(decode("", 3)) == len(decode("12", 3)) == 0


@pytest.mark.parametrize("digits", [1, 3, 6])
def test_there_is_a_longest_numeral(digits):
    (longest,) = encode(np.array([1e300]), digits)
    assert longest == f"{LARGEST}{'0' * digits},"
    assert len(longest) - 1 == widest(digits)


@given(SERIES, st.floats(0.01, 1), st.floats(0, 2))
def test_scaling_goes_and_comes_back(series, alpha, beta):
    scaling = Scaling.of(series, alpha, beta)
    if series.max() == series.min():
        assert scaling.is_constant
    if not scaling.is_constant:
        np.testing.assert_allclose(scaling.inverse(scaling.forward(series)), series, rtol=1e-9, atol=1e-6)
        assert scaling.forward(series).min() >= 0


@given(SERIES, st.floats(0.01, 1), st.floats(0.1, 2), st.floats(0.01, 100), st.floats(-100, 100))
def test_units_do_not_change_what_is_written(series, alpha, beta, factor, shift):
    """Whether degrees are in Celsius or in Fahrenheit; but for rounding."""
    if np.ptp(series) > 1.0:
        here, there = (Scaling.of(each, alpha, beta).forward(each) for each in (series, factor * series + shift))
        np.testing.assert_allclose(here, there, rtol=1e-5, atol=1e-5)


def test_scaling_by_hand():
    """The quantile becomes 1, and the least value has room below it."""
    series = np.array([2.0, 4.0, 6.0, 8.0, 12.0])
    scaling = Scaling.of(series, 0.75, 0.3)
    assert math.isclose(scaling.offset, 2.0 - 0.3 * 10.0)
    assert math.isclose(scaling.unit, 8.0 - scaling.offset)
    np.testing.assert_allclose(scaling.forward(np.array([8.0, scaling.offset])), [1.0, 0.0], atol=1e-12)


def test_a_gap_is_bridged():
    nan = math.nan
    np.testing.assert_array_equal(without_gaps(np.array([nan, nan, 3.0, nan, 5.0, nan])), [3, 3, 3, 3, 5, 5])
    np.testing.assert_array_equal(without_gaps(np.array([nan, nan])), [0, 0])
