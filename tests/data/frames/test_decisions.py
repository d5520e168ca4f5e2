"""Settings of reading, what is decided without them, and the notes that say so."""

import numpy as np
import pandas as pd
import pytest
from file_parts import saved
from frame_parts import DAYS, long, wide

from olinear.core import Note
from olinear.core.errors import ConfigError, DataError
from olinear.data.frames import FrameStyle, Panel, read_panel, write_file

nan = np.nan
VALUES = np.array([3.5, 1.25, 2.5, 7.0, 4.5, 6.0])


def codes(panel: Panel) -> dict[str, tuple[str, ...]]:
    assert all(isinstance(note, Note) for note in panel.notes)
    return {note.code: note.about for note in panel.notes}


# --- which series


@pytest.mark.parametrize("wanted", [("b", "a"), "b,a", ["b", "a"]])
def test_the_series_that_are_asked_for_come_in_that_order(wanted):
    assert read_panel(wide(a=VALUES, b=VALUES, c=VALUES), series=wanted).series == ["b", "a"]
    assert read_panel(long(("a", "b", "c")), series=wanted).series == ["b", "a"]


def test_a_name_with_a_comma_is_one_name():
    frame = wide(**{"a": VALUES, "b": VALUES, "a,b": VALUES})
    assert read_panel(frame, series="a,b").series == ["a,b"]
    assert read_panel(frame, drop="a,b").series == ["a", "b"]


@pytest.mark.parametrize("setting", ["series", "drop"])
def test_a_name_that_is_none_is_refused(setting):
    with pytest.raises(DataError, match="there is no column 'nope'"):
        read_panel(wide(a=VALUES), **{setting: "nope"})
    with pytest.raises(DataError, match="there is no series 'nope'"):
        read_panel(long(), **{setting: "nope"})


def test_what_is_dropped_is_not_looked_at():
    frame = wide(a=VALUES, b=["1", "x", "2", "3", "4", "5"])
    with pytest.raises(DataError, match="column 'b' has no number in row 2"):
        read_panel(frame)
    assert read_panel(frame, drop="b").series == ["a"]


def test_a_part_of_the_time_is_a_series_only_if_it_is_asked_for():
    times = pd.date_range("2024-01-01", periods=50, freq="h")
    frame = wide(times, a=np.arange(50.0), hour=times.hour, month=times.month, week=np.arange(50))
    read = read_panel(frame)
    assert read.series == ["a", "week"]  # which is no week of these times
    assert codes(read)["series-left-out"] == ("hour", "month")
    assert read_panel(frame, series=["hour", "a"]).series == ["hour", "a"]


# --- marks for missing values


@pytest.mark.parametrize("mark", ["-9999", -9999, "-9999.0"])
def test_a_mark_for_missing_values_is_taken_out_of_numbers_too(mark):
    cells = np.where(np.arange(6) == 2, -9999, VALUES)
    np.testing.assert_array_equal(read_panel(wide(a=cells), na=mark).values[:, 0], np.where(cells < 0, nan, cells))
    assert codes(read_panel(wide(a=cells))) == {"sentinel-suspected": ("a",)}


@pytest.mark.parametrize("marks", ["-9999,off", "off, -9999", ["-7777,-9999", "off"]])
def test_marks_may_have_commas_between_them(marks):
    """As the help of the option says; it was one mark that is nowhere."""
    cells = ["3.5", "-9999", "2.5", "off", "4.5", "6"]
    np.testing.assert_array_equal(read_panel(wide(a=cells), na=marks).values[:, 0], [3.5, nan, 2.5, nan, 4.5, 6])


def test_a_mark_that_can_be_one_number_or_two_is_refused_but_where_commas_are_decimal():
    cells = ["3,5", "-99,9", "2,5", "99", "4,5", "9"]
    with pytest.raises(ConfigError, match="can be one mark or two: pass decimal=','"):
        read_panel(wide(a=cells), na="-99,9")
    found = read_panel(wide(a=cells), na="-99,9", decimal=",").values[:, 0]
    np.testing.assert_array_equal(found, [3.5, nan, 2.5, 99, 4.5, 9])


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        ({30: 1e15}, "outlier-suspected"),
        ({30: 999.0}, "sentinel-suspected"),
        (dict.fromkeys(range(50), 3.0), "series-constant"),
        (dict.fromkeys(range(4, 50), nan), "series-short"),
        (dict.fromkeys(range(40, 50), nan), "series-stale"),
        ({row: float(2**60 + 512 * row) for row in range(50)}, "number-precision"),
        ({row: 1e-200 * (1 + row % 5) for row in range(50)}, "number-precision"),
    ],
)
def test_what_is_doubtful_in_a_series_is_said(cells, code):
    rows = np.random.default_rng(0).normal(size=(50, 2))
    assert codes(read_panel(wide(pd.date_range("2024-01-01", periods=50), a=rows[:, 0], b=rows[:, 1]))) == {}
    rows[list(cells), 1] = list(cells.values())
    found = read_panel(wide(pd.date_range("2024-01-01", periods=50), a=rows[:, 0], b=rows[:, 1]))
    assert codes(found)[code] == ("b",)


def test_nothing_is_doubted_in_a_series_without_a_value():
    """Its highest value is not beyond 2^53."""
    few = wide(pd.date_range("2024-01-01", periods=6), a=VALUES, b=np.full(6, nan))
    assert codes(read_panel(few, known=("a", "b"))) == {}


# --- times


def test_what_earlier_rows_decided_is_kept_for_few_ones():
    """The first twelve days of March: for themselves, they could be the third of each month."""
    year = pd.date_range("2024-01-01", periods=366)
    style = read_panel(wide(year.strftime("%d/%m/%Y"))).style
    few = wide(pd.DatetimeIndex(["2024-03-05", "2024-03-06"]).strftime("%d/%m/%Y"))
    with pytest.raises(DataError, match="dayfirst=True or dayfirst=False"):
        read_panel(few, freq="rows")
    assert list(read_panel(few, like=style).times) == list(pd.DatetimeIndex(["2024-03-05", "2024-03-06"]))


@pytest.mark.parametrize("pattern", ["%Q", "%", "%-d.%m.%Y"])
def test_a_pattern_that_is_none_is_refused_as_such(pattern):
    with pytest.raises(ConfigError, match=r"time_format .* is not possible"):
        read_panel(wide(DAYS.strftime("%d.%m.%Y")), time_format=pattern)


def test_the_unit_that_was_decided_is_kept():
    style = FrameStyle(time_format="excel")
    assert list(read_panel(wide(range(45292, 45298)), like=style).times) == list(pd.date_range("2024-01-01", periods=6))


@pytest.mark.parametrize(
    ("unit", "numbers"),
    [
        ("epoch_s", DAYS.as_unit("s").asi8),
        ("epoch_ms", DAYS.as_unit("ms").asi8),
        ("yyyymmdd", DAYS.strftime("%Y%m%d").astype(int)),
        ("excel", range(45292, 45298)),
    ],
)
@pytest.mark.parametrize("as_text", [False, True])
def test_whole_numbers_that_are_dates_are_read_as_such_with_a_note(unit, numbers, as_text):
    cells = [str(number) for number in numbers] if as_text else np.array(numbers)
    read = read_panel(wide(cells, "date"))
    assert read.times.equals(DAYS)
    assert codes(read) == {"time-unit": ("date",)}
    assert read.style.time_format == unit
    assert read_panel(wide(cells, "date"), time_format=unit).times.equals(DAYS)
    assert read_panel(wide(cells, "date"), time_format="steps", freq="rows").frequency.counts


def test_numbers_that_can_be_days_of_excel_or_steps_ask_for_it():
    with pytest.raises(DataError, match="pass time_format='steps' or time_format='excel'"):
        read_panel(wide(range(45292, 45298)))


def test_a_zone_is_given_to_clock_times_and_instants_are_converted():
    utc = pd.date_range("2024-03-30", periods=48, freq="h", tz="UTC")
    there = utc.tz_convert("Europe/Berlin")
    for times in (utc, utc.strftime("%Y-%m-%dT%H:%MZ"), there.tz_localize(None), utc.as_unit("s").asi8):
        assert list(read_panel(wide(times), tz="Europe/Berlin").times) == list(there)
    assert read_panel(wide(utc.tz_localize(None)), utc=True).times.equals(utc)
    with pytest.raises(ConfigError, match="tz 'Mars/Base' is not known"):
        read_panel(wide(), tz="Mars/Base")
    with pytest.raises(DataError, match=r"02:30:00 .* does not exist in Europe/Berlin"):
        read_panel(wide(pd.date_range("2024-03-31 01:30", periods=6, freq="h")), tz="Europe/Berlin")


# --- ids


@pytest.mark.parametrize(("ids", "numbered"), [(("7", "11"), True), (("007", "011"), False), (("1e5", "NA"), False)])
def test_ids_of_a_file_are_text_unless_all_are_whole_numbers(tmp_path, ids, numbered):
    path = saved(tmp_path, long(ids).to_csv(index=False))
    read = read_panel(path)
    assert sorted(read.series) == sorted(ids)
    assert read.style.numbered == numbered


# --- panels


def test_a_panel_has_to_lie_on_the_grid_too():
    daily = read_panel(wide())
    assert read_panel(daily, freq="D") is daily
    with pytest.raises(DataError, match="of a grid of 'h' are missing"):
        read_panel(daily, freq="h")
    broken = Panel(np.full((6, 1), np.inf), DAYS, ["a"], daily.frequency)
    with pytest.raises(DataError, match="'a' has an infinite value"):
        read_panel(broken)


def test_a_panel_stays_as_it_was():
    panel = read_panel(wide())
    gappy = Panel(panel.values[[0, 1, 2, 4, 5]], DAYS[[0, 1, 2, 4, 5]], ["a"], panel.frequency, notes=[])
    read = read_panel(gappy)
    assert (len(read), codes(read)) == (6, {"grid-filled": ()})
    assert (len(gappy), gappy.notes) == (5, [])


# --- files and frames alike


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "csv.xz", "csv.zip", "parquet", "feather", "xlsx"])
def test_a_file_of_any_kind_gives_the_panel_of_its_frame(tmp_path, ending):
    frame = wide(a=VALUES, b=[1, 2, 3, 4, 5, 6])
    path = tmp_path / f"data.{ending}"
    write_file(frame, str(path))
    read, again = read_panel(path), read_panel(frame)
    assert (read.series, list(read.times)) == (again.series, list(again.times))
    np.testing.assert_array_equal(read.values, again.values)
    assert codes(read) == ({"read-delimiter": ()} if ending == "tsv" else {})


def test_names_in_an_excel_file_stand_under_a_title(tmp_path):
    rows = [["Load of the town", None], [None, None], ["date", "a"], [DAYS[0], 1], [DAYS[1], 2.5], [DAYS[2], "n/a"]]
    pd.DataFrame(rows).to_excel(tmp_path / "data.xlsx", header=False, index=False)
    read = read_panel(tmp_path / "data.xlsx")
    assert (read.series, list(read.times)) == (["a"], list(DAYS[:3]))
    np.testing.assert_array_equal(read.values[:, 0], [1, 2.5, nan])
    assert list(codes(read)) == ["read-preamble"]


def test_many_columns_are_read_in_one_go(monkeypatch):
    """The schema was built again for each: twice the columns took four times the time."""
    import narwhals as nw

    looked = []
    schema = nw.DataFrame.schema.fget
    monkeypatch.setattr(nw.DataFrame, "schema", property(lambda self: looked.append(1) or schema(self)))
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(6, 300)), columns=[f"s{i}" for i in range(300)])
    assert len(read_panel(frame.assign(time=DAYS)).series) == 300
    assert len(looked) <= 3
