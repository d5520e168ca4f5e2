"""Reading frames: what is found, what is mended with a note, and what is refused with the place and a remedy."""

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from olinear.errors import ConfigError, DataError, OLinearError
from olinear.frames import Panel, read_panel

nan = np.nan
DAYS = pd.date_range("2024-01-01", periods=6)
every_backend = pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])


def native(frame: pd.DataFrame, backend: str) -> Any:
    if backend == "polars":
        return pl.from_pandas(frame)
    return pa.Table.from_pandas(frame, preserve_index=False) if backend == "pyarrow" else frame


def wide(times: Any = DAYS, name: str = "time", **columns: Any) -> pd.DataFrame:
    """A time column and series beside it, numbered by row if none are given."""
    return pd.DataFrame({name: times, **(columns or {"a": np.arange(len(times), dtype=np.float64)})})


def long(series: tuple[Any, ...] = ("b", "a"), times: Any = DAYS) -> pd.DataFrame:
    rows = np.arange(len(times), dtype=np.float64)
    parts = [pd.DataFrame({"unique_id": name, "ds": times, "y": rows + 10 * at}) for at, name in enumerate(series)]
    return pd.concat(parts, ignore_index=True)


# --- where the time is


@every_backend
def test_the_time_is_found_by_its_type_wherever_it_stands(backend):
    read = read_panel(native(pd.DataFrame({"a": np.arange(6.0), "stamp": DAYS, "date": 1.0}), backend))
    assert read.style.time == "stamp"
    assert read.series == ["a", "date"]
    assert read.times.equals(DAYS)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "America/Argentina/Buenos_Aires", "Etc/GMT+5"])
@pytest.mark.parametrize("start", ["2024-03-01", "2024-10-25"])
@every_backend
def test_every_zone_is_read_as_a_time(backend, zone, start):
    """Zones with an underscore or a sign in their name too, and over a change of the clocks."""
    times = pd.date_range(start, periods=24 * 20, freq="h", tz=zone)
    read = read_panel(native(wide(times, "stamp"), backend))
    assert read.times.equals(times)
    assert read.notes == []


@pytest.mark.parametrize("name", ["time", "Date", "DATETIME", "timestamp", "ds", " week ", "year"])
@every_backend
def test_the_time_is_found_by_its_name(backend, name):
    read = read_panel(native(pd.DataFrame({"a": np.arange(6.0), name: DAYS.strftime("%Y-%m-%d")}), backend))
    assert read.style.time == name
    assert read.times.equals(DAYS)


@every_backend
def test_the_first_column_is_the_time_if_its_text_reads_as_dates(backend):
    read = read_panel(native(wide(DAYS.strftime("%Y-%m-%d"), "Datum"), backend))
    assert (read.style.time, read.series) == ("Datum", ["a"])


@every_backend
def test_the_first_text_column_that_reads_as_dates_is_the_time(backend):
    """A row number in front of it is no reason to give up."""
    frame = pd.DataFrame({"row": range(6), "Datum": DAYS.strftime("%Y-%m-%d"), "a": np.arange(6.0)})
    read = read_panel(native(frame, backend))
    assert (read.style.time, read.series) == ("Datum", ["row", "a"])


@every_backend
def test_columns_may_be_named(backend):
    frame = native(wide(DAYS, "Tag", time=np.arange(6.0), ds=1.0), backend)
    assert read_panel(frame, time="Tag").series == ["time", "ds"]


@pytest.mark.parametrize("frame", [wide([1.5, 2.5], "a"), wide(["x", "y"], "shop"), wide(["1", "2"], "code")])
def test_without_a_time_column_the_columns_are_listed(frame):
    with pytest.raises(DataError, match=rf"no time column found among '{frame.columns[0]}', .*: name it with time="):
        read_panel(frame.rename(columns={"a": "b"}) if "shop" in frame or "code" in frame else frame.assign(b=1.0))


@pytest.mark.parametrize("role", ["time", "id", "value"])
@every_backend
def test_a_named_column_that_does_not_exist_is_refused_with_the_columns(backend, role):
    with pytest.raises(DataError, match="no column 'nope': the columns are 'time', 'a'"):
        read_panel(native(wide(), backend), **{role: "nope"})


def test_objects_that_are_neither_text_nor_dates_are_no_times():
    frame = pd.DataFrame({"row": pd.Series(range(6), dtype=object), "Datum": DAYS.strftime("%Y-%m-%d"), "a": 1.0})
    assert read_panel(frame).style.time == "Datum"


def test_the_names_of_an_earlier_frame_are_taken_up():
    """New rows for a model are read as its training rows were, whatever else they hold."""
    named = {"unique_id": "shop", "ds": "day", "y": "sales"}
    before = read_panel(long().rename(columns=named), id="shop", value="sales")
    again = read_panel(long().rename(columns=named).assign(date=DAYS[0]), like=before.style)
    assert again.style == before.style
    np.testing.assert_array_equal(again.values, before.values)


def test_the_names_of_an_earlier_frame_give_way_where_they_do_not_fit():
    """A model fitted on a long frame goes on from a wide one of the same series."""
    before = read_panel(long())
    again = read_panel(wide(DAYS, "date", b=np.arange(6.0), a=np.arange(6.0) + 10), like=before.style)
    assert (again.style.layout, again.style.time) == ("wide", "date")
    np.testing.assert_array_equal(again.values, before.values)


def test_a_panel_is_read_as_itself():
    read = read_panel(wide())
    assert read_panel(read) is read


# --- how time is written


@pytest.mark.parametrize(
    "form",
    [
        *["%Y-%m-%d", "%Y/%m/%d", "%Y%m%d", "%Y-%m-%dT%H:%M:%S", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y", "%d/%m/%Y %H:%M"],
        *["%m/%d/%Y", "%m/%d/%y", "%m/%d/%Y %I:%M %p", "%d %B %Y", "%d-%b-%Y"],
    ],
)
@every_backend
def test_days_are_read_in_the_usual_forms(backend, form):
    """Through the end of a month and of a year, where a swap of day and month would show."""
    days = pd.date_range("2023-12-05", periods=50)
    read = read_panel(native(wide(days.strftime(form)), backend))
    assert read.times.equals(days)
    assert read.notes == []


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y"])
def test_midnight_may_lack_its_hour(form):
    """Spreadsheets write 31/01/2024 for 31/01/2024 00:00."""
    times = pd.date_range("2024-01-28", periods=40, freq="6h")
    read = read_panel(wide([time.strftime(form if time.hour == 0 else f"{form} %H:%M") for time in times]))
    assert read.times.equals(times)


@pytest.mark.parametrize("form", ["%m-%Y", "%Y-%m"])
def test_months_are_read_as_their_first_day(form):
    months = pd.date_range("2022-01-01", periods=30, freq="MS")
    assert read_panel(wide(months.strftime(form))).times.equals(months)


@pytest.mark.parametrize("offset", ["+05:30", "-0300", "Z", "+00:00"])
@every_backend
def test_text_with_one_offset_is_aware(backend, offset):
    text = [f"2024-01-0{day} 06:00:00{offset}" for day in range(1, 7)]
    read = read_panel(native(wide(text), backend))
    assert read.notes == []
    assert list(read.times) == [pd.Timestamp(cell) for cell in text]


@pytest.mark.parametrize("form", ["%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M:%S.%f%z", "%Y-%m-%d %H:%M%z"])
@every_backend
def test_text_with_changing_offsets_is_wall_time_with_a_note(backend, form):
    times = pd.date_range("2024-03-01", periods=60, tz="Europe/Berlin")
    read = read_panel(native(wide(times.strftime(form)), backend))
    assert read.times.equals(times.tz_localize(None))
    assert read.notes == ["times in 'time' have changing UTC offsets and were read as local wall time"]


def test_changing_offsets_of_whole_hours_are_offsets_too():
    """Postgres writes +01, not +01:00."""
    times = pd.date_range("2024-03-01", periods=60, tz="Europe/Berlin")
    read = read_panel(wide([str(time)[:-3] for time in times]))
    assert read.times.equals(times.tz_localize(None))
    assert "changing UTC offsets" in read.notes[0]


def test_an_hour_that_comes_twice_in_wall_time_is_named():
    times = pd.date_range("2024-10-26", periods=60, freq="h", tz="Europe/Berlin")
    with pytest.raises(DataError, match="2024-10-27 02:00:00 occurs more than once"):
        read_panel(wide([time.isoformat() for time in times]))


@pytest.mark.parametrize(
    ("freq", "step"), [("D", "D"), ("W", "7D"), ("M", "MS"), ("Q", "3MS"), ("Y", "12MS"), ("h", "h")]
)
def test_periods_are_dated_by_their_start(freq, step):
    periods = pd.period_range("2020-01-01", periods=12, freq=freq)
    read = read_panel(pd.DataFrame({"a": np.arange(12.0)}, index=periods))
    assert read.times.equals(periods.to_timestamp().rename(read.times.name))
    assert read.frequency.step == step
    assert read.style.indexed


@every_backend
def test_date_columns_are_read(backend):
    read = read_panel(native(wide([day.date() for day in DAYS]), backend))
    assert read.times.equals(DAYS)
    assert read.frequency.step == "D"


@pytest.mark.parametrize("kind", ["category", "string", "object", "timestamp[us][pyarrow]", "date32[pyarrow]"])
def test_other_types_of_pandas_hold_times_too(kind):
    cells = DAYS if "[" in kind else DAYS.strftime("%Y-%m-%d")
    cells = [day.date() for day in DAYS] if kind.startswith("date32") else cells
    assert read_panel(wide(pd.Series(cells).astype(kind))).times.equals(DAYS)


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "Int64"])
@every_backend
def test_whole_numbers_are_steps(backend, dtype):
    read = read_panel(native(wide(pd.array(np.arange(3, 9), dtype=dtype), "step"), backend), time="step")
    assert read.frequency.kind == "integer"
    assert list(read.times) == [3, 4, 5, 6, 7, 8]


@every_backend
def test_years_are_found_by_name(backend):
    read = read_panel(native(wide(range(1990, 1996), "year"), backend))
    assert list(read.frequency.after(int(read.times[-1]), 2)) == [1996, 1997]


# --- times that cannot be used


@pytest.mark.parametrize("cell", [None, "", "  ", "NaT", "nan"])
@every_backend
def test_an_empty_time_is_named_by_its_row(backend, cell):
    with pytest.raises(DataError, match=r"'time' .*row 2"):
        read_panel(native(wide(["2024-01-01", cell, "2024-01-03", "2024-01-04"]), backend))


@every_backend
def test_an_empty_stamp_is_named_by_its_row(backend):
    with pytest.raises(DataError, match="column 'time' is empty in row 3: drop the row or fill it in"):
        read_panel(native(wide([*DAYS[:2], pd.NaT, *DAYS[3:]]), backend))


@pytest.mark.parametrize("cell", ["2024-02-30", "yesterday-ish", "31/31/2024", "10000-01-01"])
@every_backend
def test_an_unreadable_time_is_named_by_row_and_text(backend, cell):
    with pytest.raises(DataError, match=rf"'time' is not a time in row 3 \('{cell}'\): mend it, or name the time"):
        read_panel(native(wide(["2024-01-01", "2024-01-02", cell, "2024-01-04"]), backend))


@every_backend
def test_fractions_are_no_times(backend):
    with pytest.raises(DataError, match="'time' holds fractions: use dates or whole numbers"):
        read_panel(native(wide(np.arange(6) / 2), backend))


@every_backend
def test_numbers_too_large_to_count_with_are_no_times(backend):
    """Their differences would not fit into 64 bits."""
    with pytest.raises(DataError, match="'time' has numbers too large"):
        read_panel(native(wide(np.array([-(2**62), 0, 2**62])), backend))


@every_backend
def test_a_repeated_time_is_named_with_the_remedy(backend):
    with pytest.raises(DataError, match=r"2024-01-02 00:00:00 occurs more than once: keep one row for each time"):
        read_panel(native(wide(DAYS[[0, 1, 2, 1]]), backend))


def test_a_calendar_frequency_does_not_fit_whole_numbers():
    with pytest.raises(ConfigError, match="leave freq out"):
        read_panel(wide(range(6)), freq="D")


# --- order and grid


@every_backend
def test_unsorted_rows_are_sorted_with_a_note_and_values_follow(backend):
    order = [3, 0, 5, 1, 4, 2]
    read = read_panel(native(wide().iloc[order], backend))
    assert read.times.equals(DAYS)
    np.testing.assert_array_equal(read.values[:, 0], np.arange(6.0))
    assert read.notes == ["rows were not in the order of time and have been sorted"]


def test_rows_are_sorted_by_instant_where_the_clocks_go_back():
    """02:00 comes twice: the first is summer time."""
    times = pd.date_range("2024-10-27", periods=8, freq="h", tz="Europe/Berlin")
    read = read_panel(wide(times[::-1], a=np.arange(8.0)[::-1]))
    assert read.times.equals(times)
    np.testing.assert_array_equal(read.values[:, 0], np.arange(8.0))


@every_backend
def test_missing_rows_become_gaps_with_a_note(backend):
    times = pd.date_range("2024-01-01", periods=20, freq="h", tz="Europe/Berlin")
    read = read_panel(native(wide(times, a=np.arange(20.0)).drop(index=[4, 5, 9]), backend))
    assert read.times.equals(times)
    assert list(np.flatnonzero(np.isnan(read.values[:, 0]))) == [4, 5, 9]
    np.testing.assert_array_equal(read.values[[3, 6, 19], 0], [3, 6, 19])
    assert read.notes == ["3 rows are missing from the h grid and count as gaps"]


def test_too_many_missing_rows_are_refused_with_the_way_out():
    frame = wide(pd.date_range("2024-01-01", periods=20, freq="h")).drop(index=range(8, 16))
    with pytest.raises(DataError, match=r"8 of the 20 rows .* the first after 2024-01-01 07:00:00: .*freq='rows'"):
        read_panel(frame)


def test_rows_as_steps_leave_no_gaps():
    frame = wide(pd.date_range("2024-01-01", periods=20, freq="h")).drop(index=range(8, 16))
    read = read_panel(frame, freq="rows")
    assert (len(read), read.missing, read.notes) == (12, 0, [])


def test_one_row_is_enough_with_a_frequency():
    assert len(read_panel(wide().head(1), freq="D")) == 1
    with pytest.raises(DataError, match="from 1 row: pass more rows, or freq="):
        read_panel(wide().head(1))


# --- values

NUMBERS = {
    "integers": np.array([1, 2, 3], dtype=np.int16),
    "unsigned": np.array([1, 2, 3], dtype=np.uint64),
    "single": np.array([1, 2, 3], dtype=np.float32),
    "nullable integers": pd.array([1, None, 3], dtype="Int64"),
    "nullable floats": pd.array([1.0, None, 3.0], dtype="Float64"),
    "arrow integers": pd.array([1, None, 3], dtype="int64[pyarrow]"),
    "decimals": [Decimal("1"), None, Decimal("3")],
    "text": ["1", None, " 3.0 "],
    "objects": pd.Series([1, None, 3.0], dtype=object),
    "categories": pd.Categorical([1, None, 3]),
}


@pytest.mark.parametrize("kind", NUMBERS)
@every_backend
def test_numbers_of_any_type_are_read(backend, kind):
    read = read_panel(native(wide(DAYS[:3], a=NUMBERS[kind]), backend))
    middle = 2.0 if kind in ("integers", "unsigned", "single") else nan
    np.testing.assert_array_equal(read.values, [[1], [middle], [3]])
    assert read.values.dtype == np.float64


@pytest.mark.parametrize("number", [2**53 + 1, 2**62])
@every_backend
def test_whole_numbers_beyond_the_precision_of_doubles_are_rounded(backend, number):
    """Byte counters and identifiers reach them; float64 is what the model has."""
    read = read_panel(native(wide(a=np.full(6, number)), backend))
    np.testing.assert_array_equal(read.values[:, 0], float(number))


@every_backend
def test_booleans_are_left_out_with_a_note(backend):
    read = read_panel(native(wide(a=np.arange(6.0), holiday=[True, False] * 3), backend))
    assert read.series == ["a"]
    assert read.notes == ["column 'holiday' holds booleans and was left out"]


def test_a_series_with_times_is_read():
    read = read_panel(pd.Series(np.arange(6.0), index=DAYS, name="load"))
    assert read.series == ["load"]
    np.testing.assert_array_equal(read.values[:, 0], np.arange(6.0))


def test_number_names_become_text():
    assert read_panel(pd.DataFrame({0: DAYS, 1: np.arange(6.0), 2: 1.0})).series == ["1", "2"]


@pytest.mark.parametrize("cell", ["oops", "1,5", "", "-"])
@every_backend
def test_text_in_a_numeric_column_is_named_by_row_and_cell(backend, cell):
    with pytest.raises(DataError, match=rf"column 'a' has no number in row 4 \('{cell}'\): mend the cell, or drop"):
        read_panel(native(wide(a=["1", "2", "3", cell, "5", "6"]), backend))


def test_a_long_cell_is_shortened():
    with pytest.raises(DataError) as caught:
        read_panel(wide(a=["x" * 10_000] * 6))
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "cells",
    [
        pd.Categorical(["low", "high"] * 3),
        DAYS,
        DAYS - DAYS[0],
        pd.Series([[1]] * 6),
        np.full(6, 1j),
        pd.Series([10**400] * 6, dtype=object),
    ],
    ids=["categories", "times", "durations", "lists", "complex", "beyond floats"],
)
def test_what_is_no_number_is_refused_by_name(cells):
    with pytest.raises(DataError, match="column 'b'"):
        read_panel(wide(a=np.arange(6.0), b=cells))


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@every_backend
def test_an_infinite_value_is_named_by_column_and_time(backend, value):
    with pytest.raises(DataError, match="'b' has an infinite value at 2024-01-03 00:00:00: mend it or make it missing"):
        read_panel(native(wide(a=np.arange(6.0), b=[0, 1, value, 3, 4, 5]), backend))


@every_backend
def test_a_series_without_any_value_is_named(backend):
    with pytest.raises(DataError, match="'b' has no value at all: drop it"):
        read_panel(native(wide(a=np.arange(6.0), b=np.full(6, nan)), backend))


@pytest.mark.parametrize("columns", [[], ["holiday"]])
@every_backend
def test_without_a_numeric_column_nothing_can_be_forecast(backend, columns):
    frame = wide(holiday=[True] * 6)[["time", *columns]]
    with pytest.raises(DataError, match="no numeric column beside 'time': pass a table with at least one series"):
        read_panel(native(frame, backend))


@every_backend
def test_no_rows(backend):
    with pytest.raises(DataError, match="no rows: pass a table with a time column and at least one numeric column"):
        read_panel(native(wide().head(0), backend))


@pytest.mark.parametrize("frame", [pd.DataFrame(), pl.DataFrame(), pa.table({})])
def test_nothing_at_all(frame):
    with pytest.raises(DataError, match="no rows"):
        read_panel(frame)


@pytest.mark.parametrize(
    "thing", [[1, 2], {"a": [1]}, np.ones((3, 2)), None, "data.csv", pl.Series([1]), pa.array([1])]
)
def test_what_is_no_frame_is_refused_by_its_type(thing):
    with pytest.raises(DataError, match=f"must be a pandas, polars or pyarrow frame, found {type(thing).__name__}"):
        read_panel(thing)


# --- names that clash


def test_columns_of_one_name_are_refused():
    with pytest.raises(DataError, match="'a'"):
        read_panel(pd.DataFrame(np.ones((6, 2)), columns=["a", "a"], index=DAYS))


def test_columns_that_become_one_name_as_text_are_refused():
    with pytest.raises(DataError, match="'1'"):
        read_panel(pd.DataFrame({"time": DAYS, 1: 1.0, "1": 2.0}))


@pytest.mark.parametrize("name", [None, "time"])
def test_an_index_of_times_beside_a_column_of_its_name_is_refused(name):
    with pytest.raises(DataError, match="'time'"):
        read_panel(pd.DataFrame({"time": np.arange(6.0)}, index=DAYS.rename(name)))


def test_columns_of_two_levels_are_refused():
    columns = pd.MultiIndex.from_product([["load"], ["a", "b"]])
    with pytest.raises(DataError, match="load"):
        read_panel(pd.DataFrame(np.ones((6, 2)), columns=columns, index=DAYS))


# --- long


@every_backend
def test_long_is_told_by_the_usual_names(backend):
    read = read_panel(native(long().assign(note="x"), backend))
    assert (read.style.layout, read.series) == ("long", ["b", "a"])
    np.testing.assert_array_equal(read.values, np.stack([np.arange(6.0), np.arange(6.0) + 10], axis=1))
    assert read.times.equals(DAYS)


@pytest.mark.parametrize("named", [{"id": "shop", "value": "sales"}, {"id": "shop", "value": "sales", "time": "day"}])
@every_backend
def test_long_columns_may_be_named(backend, named):
    frame = long().rename(columns={"unique_id": "shop", "ds": "day", "y": "sales"})
    read = read_panel(native(frame, backend), **named)
    assert (read.style.time, read.style.id, read.style.value) == ("day", "shop", "sales")
    assert read.values.shape == (6, 2)


@pytest.mark.parametrize(
    ("named", "message"),
    [({"value": "sales"}, "needs a column 'unique_id': name yours with id="), ({"id": "shop"}, "'y'.* with value=")],
)
def test_a_long_frame_says_which_column_it_lacks(named, message):
    frame = long().rename(columns={"unique_id": "shop", "y": "sales"})
    with pytest.raises(DataError, match=message):
        read_panel(frame, **named)


@every_backend
def test_series_of_unequal_start_and_length_share_one_grid(backend):
    frame = native(long().drop(index=[0, 1, 11]), backend)
    read = read_panel(frame)
    assert read.times.equals(DAYS)
    np.testing.assert_array_equal(read.values, [[nan, 10], [nan, 11], [2, 12], [3, 13], [4, 14], [5, nan]])
    assert read.missing == 3


@every_backend
def test_a_time_absent_from_every_series_is_a_gap(backend):
    read = read_panel(native(long().drop(index=[2, 8]), backend))
    assert np.isnan(read.values[2]).all()
    assert read.missing == 2
    assert read.notes == ["1 rows are missing from the D grid and count as gaps"]


@every_backend
def test_the_order_of_long_rows_does_not_matter(backend):
    shuffled = read_panel(native(long().sample(frac=1, random_state=3), backend)).pick(["b", "a"])
    np.testing.assert_array_equal(shuffled.values, read_panel(long()).values)


@every_backend
def test_a_repeated_row_of_a_series_is_named_by_both(backend):
    frame = pd.concat([long(), long().iloc[[8]]], ignore_index=True)
    with pytest.raises(DataError, match="series 'a' has the time 2024-01-03 00:00:00 more than once: keep one row"):
        read_panel(native(frame, backend))


@pytest.mark.parametrize(
    ("ids", "names"), [((7, 11), ["7", "11"]), ((True, False), ["True", "False"]), ((1.5, 2.5), ["1.5", "2.5"])]
)
@every_backend
def test_ids_need_not_be_text(backend, ids, names):
    assert read_panel(native(long(ids), backend)).series == names


@every_backend
def test_ids_may_be_categories(backend):
    frame = long().astype({"unique_id": pd.CategoricalDtype(["unused", "a", "b"])})
    read = read_panel(native(frame, backend))
    assert read.series == ["b", "a"]
    assert read.missing == 0


@every_backend
def test_an_empty_id_is_named_by_its_row(backend):
    """It would become a series of the name 'nan' or 'None'."""
    frame = long().assign(unique_id=["b"] * 6 + [None] * 6)
    with pytest.raises(DataError, match=r"'unique_id'.*row 7"):
        read_panel(native(frame, backend))


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1"] * 9 + ["x", "1", "1"], r"column 'y' has no number in row 10 \('x'\)"),
        ([1.0] * 9 + [np.inf, 1, 1], "'a' has an infinite value at 2024-01-04 00:00:00"),
        ([1.0] * 6 + [nan] * 6, "'a' has no value at all"),
    ],
)
@every_backend
def test_bad_values_of_a_long_frame_are_named(backend, cells, message):
    with pytest.raises(DataError, match=message):
        read_panel(native(long().assign(y=cells), backend))


@every_backend
def test_long_times_may_be_text_or_numbers(backend):
    text = read_panel(native(long(times=DAYS.strftime("%Y-%m-%d")), backend))
    assert text.times.equals(DAYS)
    steps = read_panel(native(long(times=range(6)), backend))
    assert steps.frequency.kind == "integer"
    np.testing.assert_array_equal(steps.values, text.values)


# --- whatever a frame holds

START = datetime.datetime(2023, 10, 20)
hours = st.integers(0, 3000).map(lambda hour: START + datetime.timedelta(hours=hour))
cell = {
    "floats": st.floats(width=32) | st.just(nan),
    "steps": st.integers(0, 500),
    "huge": st.integers(0, 9) | st.sampled_from([2**53 + 1, 2**62]),
    "text": st.text("ab1-/ .é", max_size=6) | st.sampled_from(["2024-01-01", "1.5", "nan", "", "1e400", "13/01/2024"]),
    "dates": hours.map(lambda time: time.strftime("%d-%m-%Y")),
    "offsets": hours.map(lambda time: time.isoformat() + ("+02:00" if time.month == 10 else "+01:00")),
    "booleans": st.booleans(),
    "decimals": st.decimals(-1000, 1000, places=2),
    "times": hours,
    "zoned": hours.map(lambda time: pd.Timestamp(time, tz="UTC").tz_convert("America/New_York")),
    "days": hours.map(datetime.datetime.date),
    "durations": st.timedeltas(datetime.timedelta(0), datetime.timedelta(9)),
    "mixed": st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text("ab", max_size=2) | hours,
}


@st.composite
def frames(draw: st.DrawFn) -> Any:
    """Columns of any type under names that mean something or nothing, or tame: numbers beside a nearly regular grid."""
    tame = draw(st.booleans())
    rows = draw(st.integers(2 if tame else 0, 8))
    columns: dict[str, Any] = {}
    if tame or draw(st.booleans()):
        grid = pd.date_range(START, periods=9, freq=draw(st.sampled_from(["h", "D", "B", "ME"])))
        grid = draw(st.sampled_from([grid, grid.tz_localize("America/New_York"), grid.strftime("%d-%m-%Y"), range(9)]))
        columns["time"] = [grid[at] for at in draw(st.permutations(range(9)))[:rows]]
        if rows and draw(st.integers(0, 5)) == 0:
            columns["time"][draw(st.integers(0, rows - 1))] = draw(st.sampled_from([None, "", "nan", "x", 1.5]))
    names = st.sampled_from(["ds", "unique_id", "y", "a", "", "month", "0", "time"])
    for name in draw(st.lists(names, min_size=tame, max_size=4, unique=True)):
        kind = draw(st.sampled_from(["floats", "steps", "decimals", "booleans"] if tame else sorted(cell)))
        values = draw(st.lists(cell[kind], min_size=rows, max_size=rows))
        if draw(st.integers(0, 4)) == 0:
            values = [None if draw(st.integers(0, 3)) == 0 else value for value in values]
        columns.setdefault(name, pd.Series(values, dtype=object if kind in ("mixed", "decimals", "days") else None))
    frame = pd.DataFrame(columns, index=range(rows))
    shape = draw(st.sampled_from(["pandas", "polars", "pyarrow", "index", "category"]))
    if shape == "index":
        index = draw(st.lists(hours, min_size=rows, max_size=rows))
        return frame.set_axis(pd.DatetimeIndex(index, name="stamp")).drop(columns="time", errors="ignore")
    if shape == "category":
        return frame.astype(dict.fromkeys(frame.columns[:1], "category"))
    try:
        return native(frame, shape)
    except (TypeError, ValueError, OverflowError, pa.ArrowException):
        return frame  # what polars and pyarrow do not hold


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(frames(), st.sampled_from([None] * 5 + ["rows", "rows", "D", "h", "B", "MS"]))
def test_any_frame_is_read_or_refused_as_an_error_of_olinear(frame, freq):
    """A user meets no error from the depths of another library, and nothing unsound gets through."""
    try:
        read = read_panel(frame, freq=freq)
    except OLinearError:
        return
    assert isinstance(read, Panel)
    assert read.values.shape == (len(read.times), len(read.series)) != (0, 0)
    assert not np.isinf(read.values).any()
    assert read.times.is_monotonic_increasing
    assert read.times.is_unique
    assert not read.times.hasnans
    assert len(read.frequency.after(read.times[-1], 3)) == 3
    assert read.frequency.season >= 1
