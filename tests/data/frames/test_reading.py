"""Reading frames: what is found, what is mended with a note, and what is refused with the place and a remedy."""

import datetime
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_parts import DAYS, every_backend, long, native, wide
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from olinear.core.errors import DataError, OLinearError
from olinear.data.frames import Panel, read_panel

nan = np.nan


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
    again = read_panel(wide(DAYS, "date", a=np.arange(6.0), b=np.arange(6.0) + 10), like=before.style)
    assert (again.style.layout, again.style.time) == ("wide", "date")
    np.testing.assert_array_equal(again.values, before.values)


def test_a_panel_is_read_as_itself():
    read = read_panel(wide())
    assert read_panel(read) is read


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


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
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
