"""Reading times: every way they are written, and those that cannot be used."""

import numpy as np
import pandas as pd
import pytest
from frame_parts import DAYS, every_backend, native, wide

from olinear.core.errors import ConfigError, DataError
from olinear.data.frames import FrameStyle, read_panel

nan = np.nan


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
    decided = "time-unit" if form == "%Y%m%d" else "time-dayfirst"
    plain = form.startswith("%Y-") or form in ("%Y/%m/%d", "%d %B %Y", "%d-%b-%Y")
    assert [note.code for note in read.notes] == ([] if plain else [decided])


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
def test_days_with_changing_offsets_are_wall_time_with_a_note(backend, form):
    """Midnights of a zone lie on no grid of UTC."""
    times = pd.date_range("2024-03-01", periods=60, tz="Europe/Berlin")
    read = read_panel(native(wide(times.strftime(form)), backend))
    assert read.times.equals(times.tz_localize(None))
    assert read.notes == ["times in 'time' have changing UTC offsets and were read as local wall time"]
    assert read.notes[0].code == "time-zone"


def test_changing_offsets_of_whole_hours_are_offsets_too():
    """Postgres writes +01, not +01:00."""
    times = pd.date_range("2024-03-01", periods=60, tz="Europe/Berlin")
    read = read_panel(wide([str(time)[:-3] for time in times]))
    assert read.times.equals(times.tz_localize(None))
    assert "changing UTC offsets" in read.notes[0]


def test_hours_with_changing_offsets_are_instants():
    """With the hour that comes twice in autumn; whose zone it is, they do not say."""
    times = pd.date_range("2024-10-26", periods=60, freq="h", tz="Europe/Berlin")
    frame = wide([time.isoformat() for time in times])
    read = read_panel(frame)
    assert read.times.equals(times.tz_convert("UTC"))
    assert [note.code for note in read.notes] == ["time-zone"]
    assert read_panel(frame, tz="Europe/Berlin").times.equals(times)
    assert read_panel(frame, like=FrameStyle(zone="Europe/Berlin")).times.equals(times)


def test_an_hour_that_comes_twice_without_offsets_asks_for_the_zone():
    times = pd.date_range("2024-10-26", periods=60, freq="h", tz="Europe/Berlin")
    frame = wide(times.tz_localize(None))
    with pytest.raises(DataError, match="2024-10-27 02:00:00 occurs more than once: pass tz="):
        read_panel(frame)
    assert read_panel(frame, tz="Europe/Berlin").times.equals(times)


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
    assert list(read.times) == list(DAYS)  # in pandas 2 `equals` compares units, too
    assert read.frequency.step == "D"


@pytest.mark.parametrize("kind", ["category", "string", "object", "timestamp[us][pyarrow]", "date32[pyarrow]"])
def test_other_types_of_pandas_hold_times_too(kind):
    cells = DAYS if "[" in kind else DAYS.strftime("%Y-%m-%d")
    cells = [day.date() for day in DAYS] if kind.startswith("date32") else cells
    assert list(read_panel(wide(pd.Series(cells).astype(kind))).times) == list(DAYS)


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
    with pytest.raises(DataError, match=rf"'time' is not a time in row 3 \('{cell}'\): correct it, or name the time"):
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
