"""The step of a time axis: forecasts are dated by it, and gaps are counted along it."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from olinear.core.errors import DataError
from olinear.data.frames import Frequency, find_frequency

modest = settings(max_examples=80)

# A usual frequency by its pandas name, and the steps of its natural cycle.
USUAL = {
    **{"10s": 360, "min": 1440, "5min": 288, "15min": 96, "30min": 48, "h": 24, "2h": 12, "6h": 4, "12h": 2},
    **{"D": 7, "2D": 3, "B": 5, "W-SUN": 52, "W-WED": 52, "2W-MON": 26},
    **{"MS": 12, "ME": 12, "BMS": 12, "BME": 12, "2MS": 6, "6ME": 2},
    **{"QS": 4, "QE": 4, "QE-NOV": 4, "QS-FEB": 4, "BQS": 4, "BQE": 4},
    **{"YS": 1, "YE": 1, "YE-JUN": 1, "BYS": 1, "BYE": 1, "2YS": 1},
}


def some_times(name: str, count: int = 40, zone: str | None = None) -> pd.DatetimeIndex:
    return pd.date_range("2023-01-10", periods=count, freq=name, tz=zone)


# --- found


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("name", USUAL)
def test_a_usual_grid_goes_on_as_pandas_would(name, zone):
    """Found or given: forecasts get the dates a user would write down."""
    times = some_times(name, zone=zone)
    expected = pd.date_range(times[-1], periods=31, freq=name)[1:]
    for frequency in (find_frequency(times), find_frequency(times, name)):
        assert frequency.kind == "calendar"
        assert frequency.grid(times).equals(times)
        assert frequency.after(times[-1], 30).equals(expected)
        assert frequency.season == USUAL[name]


@modest
@given(
    st.sampled_from(sorted(USUAL)),
    st.datetimes(pd.Timestamp("1990-01-01"), pd.Timestamp("2050-01-01")),
    st.sets(st.integers(1, 58), max_size=11),
)
def test_holes_do_not_hide_the_grid(name, start, holes):
    """Up to a fifth of the rows missing anywhere, any start: the same grid, and the same future."""
    times = pd.date_range(pd.Timestamp(start).floor("h"), periods=60, freq=name)
    found = find_frequency(times.delete(sorted(holes)))
    assert found.grid(times).equals(times)
    assert found.after(times[-1], 5).equals(pd.date_range(times[-1], periods=6, freq=name)[1:])


def test_business_days_with_holidays_are_business_days():
    """A daily grid would put a third of the rows into weekends."""
    times = pd.date_range("2024-01-01", periods=120, freq="B")
    holidays = times.get_indexer(["2024-01-01", "2024-03-29", "2024-04-01", "2024-05-01"])
    found = find_frequency(times.delete(holidays))
    assert found == Frequency("B")
    assert list(found.after(pd.Timestamp("2024-03-28"), 2)) == [pd.Timestamp("2024-03-29"), pd.Timestamp("2024-04-01")]


def test_one_working_week_is_daily():
    """Without a weekend in sight nothing says that Saturday is missing."""
    assert find_frequency(pd.date_range("2024-01-01", "2024-01-05")) == Frequency("D")


def test_half_days_within_a_working_week_are_half_days():
    assert find_frequency(pd.date_range("2024-01-01 12:00", "2024-01-05", freq="12h")) == Frequency("12h")


@pytest.mark.parametrize("start", ["2024-03-31", "2024-10-27"])
def test_a_day_of_23_or_25_hours_is_a_day(start):
    assert find_frequency(pd.date_range(start, periods=2, freq="D", tz="Europe/Berlin")) == Frequency("D")


@pytest.mark.parametrize("start", ["2024-03-30", "2024-10-26"])
def test_hours_go_on_through_a_change_of_clocks(start):
    times = pd.date_range(start, periods=72, freq="h", tz="Europe/Berlin")
    found = find_frequency(times)
    assert found == Frequency("h")
    assert (np.diff(found.grid(times).asi8) == np.diff(times.asi8)[0]).all()
    last = times[20]  # the clocks change within the next day
    future = found.after(last, 24)
    assert future[-1] - last == pd.Timedelta(hours=24)
    assert future.equals(times[21:45])


@pytest.mark.parametrize("start", ["2024-03-20", "2024-10-20"])
@pytest.mark.parametrize("hour", [0, 7])
def test_days_keep_their_hour_through_a_change_of_clocks(start, hour):
    times = pd.date_range(f"{start} {hour}:00", periods=30, freq="D", tz="Europe/Berlin")
    found = find_frequency(times)
    assert found == Frequency("D")
    assert found.grid(times).equals(times)
    assert set(found.after(times[5], 20).hour) == {hour}


@pytest.mark.parametrize(
    ("zone", "start"),
    [
        ("Europe/Berlin", "2024-03-25 02:30"),  # 02:30 is skipped on the 31st
        ("Europe/Berlin", "2024-10-21 02:30"),  # 02:30 comes twice on the 27th
        ("Africa/Cairo", "2023-04-23 00:00"),  # midnight is skipped on the 28th
    ],
)
def test_a_daily_hour_that_the_clocks_skip_or_repeat(zone, start):
    """One odd night a year must not end in an error of pandas: there is one stamp a day, the others keep the hour."""
    wall = pd.date_range(start, periods=12, freq="D")
    times = wall.tz_localize(zone, nonexistent="shift_forward", ambiguous=np.ones(12, dtype=bool))
    found = find_frequency(times[:4])
    future = found.after(times[3], 8)
    assert list(future.tz_localize(None).normalize()) == list(wall[4:].normalize())
    assert (future == times[4:]).sum() >= 7
    assert len(find_frequency(times, "D").grid(times)) == 12


def test_a_month_may_begin_with_an_hour_that_the_clocks_skip():
    """In Paraguay the first of October 2023 began at 01:00."""
    months = pd.date_range("2023-01-01", periods=14, freq="MS")
    times = months.tz_localize("America/Asuncion", nonexistent="shift_forward")
    found = find_frequency(times)
    assert found == Frequency("MS")
    assert found.grid(times).equals(times)


# --- season


@pytest.mark.parametrize(
    ("step", "season"),
    [
        *[("s", 3600), ("ms", 1), ("90min", 16), ("36h", 1), ("3D", 2), ("7D", 52), ("14D", 26), ("10D", 1)],
        *[("2B", 2), ("W-FRI", 52), ("3MS", 4), ("12MS", 1), ("2QS-JAN", 2), ("SME-15", 24)],
    ],
)
def test_season_counts_steps_in_the_natural_cycle(step, season):
    """The seasonal-naive yardstick and the default lookback rest on it."""
    assert Frequency(step).season == season


def test_rows_have_the_season_of_their_dates_and_whole_numbers_none():
    assert Frequency("B", "rows").season == 5
    assert Frequency("1", "integer").season == 1


def test_a_frequency_says_what_it_is():
    assert str(Frequency("15min")) == "15min"
    assert str(Frequency("B", "rows")) == "rows (dated by B)"


# --- refused


@pytest.mark.parametrize(
    ("name", "first"),
    [("D", "2023-01-10 01:00:00 follows 2023-01-10 00:00:00"), ("MS", "2023-01-10 00:00:00 comes first")],
)
def test_a_given_frequency_that_does_not_fit_names_the_first_break(name, first):
    with pytest.raises(DataError, match=rf"irregular: {first}.*{name!r}.*freq='rows'"):
        find_frequency(some_times("h"), name)


def test_an_irregular_grid_names_the_break_and_what_comes_before():
    times = some_times("h").insert(10, pd.Timestamp("2023-01-10 09:20"))
    with pytest.raises(DataError, match=r"2023-01-10 09:20:00 follows 2023-01-10 09:00:00.*'h'.*freq='rows'"):
        find_frequency(times)


def test_a_quarter_of_the_grid_may_be_missing_and_no_more():
    """Beyond that it is hardly the right grid, and a model would mostly learn from invented rows."""
    times = some_times("h", 40)
    assert find_frequency(times.delete(range(20, 30)), "h") == Frequency("h")
    with pytest.raises(DataError, match=r"11 of the 40 rows .*'h' are missing, the first after 2023-01-10 19:00:00"):
        find_frequency(times.delete(range(20, 31)), "h")
    with pytest.raises(DataError, match="freq='rows'"):
        find_frequency(times.delete(range(20, 31)))


@pytest.mark.parametrize("name", [None, "us"])
def test_a_grid_beyond_all_memory_is_refused_before_it_is_laid(name):
    """One mistyped year in a fine grid: the answer is the row at fault, not a MemoryError."""
    start = pd.Timestamp("2024-01-01")
    times = pd.DatetimeIndex([start, *(start + pd.to_timedelta([1, 2, 3], unit="us")), pd.Timestamp("2084-01-01")])
    with pytest.raises(DataError, match=r"2024-01-01 00:00:00.000003.*freq='rows'"):
        find_frequency(times, name)


def test_a_future_beyond_the_calendar_is_refused():
    with pytest.raises(DataError, match="leave the calendar"):
        Frequency("YE-DEC").after(pd.Timestamp("2024-12-31").as_unit("us"), 400_000)


@pytest.mark.parametrize("name", [None, "rows"])
def test_one_row_has_no_step(name):
    with pytest.raises(DataError, match="from 1 row: pass more rows, or freq="):
        find_frequency(some_times("h", 1), name)


def test_one_row_with_a_frequency_is_enough():
    times = some_times("h", 1)
    assert find_frequency(times, "h").grid(times).equals(times)


# --- rows as steps


def test_trading_days_as_rows_go_on_with_business_days():
    times = pd.date_range("2024-01-01", periods=60, freq="B").delete([5, 20, 33, 34])
    found = find_frequency(times, "rows")
    assert found.kind == "rows"
    assert found.grid(times).equals(times)  # no holiday becomes a gap
    assert list(found.after(pd.Timestamp("2024-03-22"), 3)) == list(pd.date_range("2024-03-25", periods=3, freq="B"))


def test_uneven_minutes_as_rows_go_on_by_the_usual_step():
    minutes = np.cumsum([0, 5, 5, 6, 5, 40, 5, 5, 1])
    times = pd.Timestamp("2024-01-01") + pd.to_timedelta(minutes, unit="min")
    found = find_frequency(times, "rows")
    assert found == Frequency("5min", "rows")
    assert found.after(times[-1], 2).equals(times[-1] + pd.to_timedelta([5, 10], unit="min"))


@pytest.mark.parametrize("last", ["2024-03-22", "2024-03-23", "2024-03-24"])
def test_the_future_starts_after_the_last_row_also_beside_the_grid(last):
    """A row dated on a Saturday is followed by Monday, and the count is kept."""
    future = Frequency("B", "rows").after(pd.Timestamp(last), 4)
    assert list(future) == list(pd.date_range("2024-03-25", periods=4, freq="B"))


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("step", ["B", "h", "MS", "W-MON"])
def test_the_future_and_the_grid_count_in_the_unit_of_the_past(unit, step):
    """Else they could not be joined; whichever unit this pandas prefers."""
    times = pd.date_range("2024-01-01", periods=30, freq=step).as_unit(unit)
    found = find_frequency(times)
    assert {found.grid(times).unit, found.after(times[-1], 3).unit} == {unit}


def test_a_step_finer_than_the_unit_of_the_past_is_kept():
    future = Frequency("500ms").after(pd.Timestamp("2024-01-01").as_unit("s"), 2)
    assert [stamp.microsecond for stamp in future] == [500_000, 0]
