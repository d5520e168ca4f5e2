"""Every form a date is written in: a day taken for a month would pass unseen otherwise."""

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from olinear.core.errors import DataError
from olinear.data.datasets import read_table

FORMS = {
    "ISO": "{0:%Y-%m-%d %H:%M:%S}",
    "ISO date": "{0:%Y-%m-%d}",
    "ISO with T": "{0:%Y-%m-%dT%H:%M:%S}",
    "y/m/d": "{0.year}/{0.month}/{0.day}",
    "y/m/d h:m": "{0.year}/{0.month}/{0.day} {0.hour}:{0:%M}",
    "m/d/y": "{0.month}/{0.day}/{0.year}",
    "m/d/y h:m": "{0.month}/{0.day}/{0.year} {0.hour}:{0:%M}",
    "m/d/y h:m:s": "{0.month}/{0.day}/{0.year} {0.hour}:{0:%M:%S}",
    "UTC": "{0:%Y-%m-%d %H:%M:%S}+00:00",
    "UTC by Z": "{0:%Y-%m-%dT%H:%M:%S}Z",
}


def read_dates(folder, cells):
    path = folder / "data.csv"
    path.write_text("date,a\n" + "".join(f"{cell},1\n" for cell in cells))
    return read_table(path).times


@pytest.mark.parametrize("form", FORMS)
def test_every_date_form(tmp_path, form):
    """Days up to 31 in months up to 12, so that a day taken for a month would show."""
    days = pd.date_range("2013-12-28", periods=400, freq="D")
    found = read_dates(tmp_path, [FORMS[form].format(day) for day in days])
    assert (found.tz is not None) == form.startswith("UTC")
    assert list(found.tz_localize(None)) == list(days)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.datetimes(pd.Timestamp("1970-01-01").to_pydatetime(), pd.Timestamp("2100-01-01").to_pydatetime()),
            st.sampled_from([name for name in FORMS if not name.startswith("UTC")]),
        ),
        min_size=1,
        max_size=20,
    )
)
def test_forms_may_be_mixed(tmp_path, cells):
    """Cell by cell, whatever came first: the day is always right, and nothing warns."""
    found = read_dates(tmp_path, [FORMS[form].format(moment) for moment, form in cells])
    assert [time.date() for time in found] == [moment.date() for moment, _ in cells]


def test_offsets_may_change(tmp_path):
    """As they do with summer time: instants are told in UTC."""
    found = read_dates(tmp_path, ["2024-03-31 01:00:00+01:00", "2024-03-31 03:00:00+02:00", "2024-03-31 04:00:00+0200"])
    assert list(found) == list(pd.date_range("2024-03-31 00:00", periods=3, freq="h", tz="UTC"))


@pytest.mark.parametrize("cell", ["yesterday", "", "14/9/2014", "2014-13-01", "9.14.2014"])
def test_a_cell_that_is_no_date(tmp_path, cell):
    with pytest.raises(DataError, match=r"no date in row 2 .*month first"):
        read_dates(tmp_path, ["9/13/2014", cell, "9/15/2014"])


def test_a_column_of_numbers_is_no_date(tmp_path):
    """Otherwise a file without dates would lose its first series, and 2016 be a year."""
    (tmp_path / "data.csv").write_text("a,b\n2016,1\n2017,2\n")
    with pytest.raises(DataError, match="must hold dates, found numbers in 'a'"):
        read_table(tmp_path / "data.csv")


def test_months_come_first_in_website(dataset_folder):
    found = read_table(dataset_folder / "website.csv").times
    assert list(found) == list(pd.date_range("2014-09-14", "2020-08-19", freq="D"))
