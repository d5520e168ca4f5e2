"""A frequency by its name: every spelling that pandas ever had, and an error for any other."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olinear.core.errors import ConfigError
from olinear.data.frames import Frequency, parse_frequency

modest = settings(max_examples=80)


OLD = {
    **{"H": "h", "T": "min", "15T": "15min", "S": "s", "30S": "30s", "L": "ms", "U": "us", "N": "ns", "2H": "2h"},
    **{"M": "ME", "3M": "3ME", "BM": "BME", "Q": "QE-DEC", "Q-NOV": "QE-NOV", "BQ": "BQE-DEC", "BH": "bh"},
    **{"A": "YE-DEC", "A-JUN": "YE-JUN", "Y": "YE-DEC", "AS": "YS-JAN", "AS-APR": "YS-APR"},
    **{"BA": "BYE-DEC", "BY": "BYE-DEC", "BAS": "BYS-JAN", "d": "D", "b": "B", "w": "W-SUN"},
}


@pytest.mark.parametrize("name", OLD)
def test_names_from_before_pandas_2_2_work(name):
    """Scripts and papers are full of them; a saved model holds the present name and reads it again."""
    assert parse_frequency(name) == OLD[name]
    assert parse_frequency(OLD[name]) == OLD[name]


@pytest.mark.parametrize("name", ["s", "ms", "us", "ns", " h ", "5 min", "B", "W", "W-TUE", "C", "MS", "QS-FEB", "YE"])
def test_present_names_mean_what_pandas_means(name):
    parsed = parse_frequency(name)
    assert pd.tseries.frequencies.to_offset(parsed) == pd.tseries.frequencies.to_offset(name.strip())
    assert parse_frequency(parsed) == parsed


@pytest.mark.parametrize(
    "name", ["x", "hourly", "", "15", "-1h", "1.5h", "W-FOO", "D-MON", "ROWS", "h,D", "0h", "0D", "9" * 20 + "h"]
)
def test_an_unknown_name_is_refused_with_examples(name):
    with pytest.raises(ConfigError, match="is not known: use one such as '15min', 'h', 'D'") as caught:
        parse_frequency(name)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize(("name", "meant"), [("5MIN", "5min"), ("w-mon", "W-MON"), ("c", "C"), ("US", "us")])
def test_spellings_that_pandas_warns_of_are_no_warning(name, meant):
    """A user of a library cannot act on a warning from below it."""
    assert parse_frequency(name) == meant


@modest
@given(st.text(max_size=6) | st.from_regex(r"[0-9]{0,3}[A-Za-z]{1,3}(-[A-Z]{3})?", fullmatch=True))
def test_any_text_is_a_frequency_or_a_config_error(name):
    try:
        parsed = parse_frequency(name)
    except ConfigError:
        return
    assert Frequency(parsed).season >= 1
