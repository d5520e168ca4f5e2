"""Panels, and frames that come back as the kind a user gave."""

from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from frame_parts import every_backend, native
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from olinear.core.errors import DataError
from olinear.data.frames import FrameStyle, Frequency, Panel, build_frame, make_table, read_panel

nan = np.nan
modest = settings(max_examples=40)
TIMES = pd.date_range("2024-01-01", periods=6, freq="h")
NAMES = {"wide": {"time": "when"}, "long": {"time": "when", "id": "shop", "value": "sales"}}

every_layout = pytest.mark.parametrize("layout", ["wide", "long"])


def panel(values: Any, series: list[str] | None = None, times: pd.Index = TIMES, **style: Any) -> Panel:
    array = np.asarray(values, dtype=np.float64)
    names = series or [f"s{number}" for number in range(array.shape[1])]
    return Panel(array, times[: len(array)], names, Frequency("h"), FrameStyle(**style))


def example(layout: str, times: pd.DatetimeIndex = TIMES) -> pd.DataFrame:
    """Two series of a shop, by columns of the user's own names."""
    rows = len(times)
    if layout == "wide":
        return pd.DataFrame({"when": times, "b": np.arange(rows) / 8, "a": np.arange(rows) * 10.0})
    return pd.DataFrame(
        {
            "shop": np.repeat(["a", "b"], rows),
            "when": times.append(times),
            "sales": np.concatenate([np.arange(rows) / 8, np.arange(rows) * 10.0]),
        }
    )


def assert_same(actual: Any, expected: Any) -> None:
    """Same kind, columns in the same order, types and values."""
    assert type(actual) is type(expected)
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(actual, expected, check_freq=False)
    else:
        assert actual.schema == expected.schema
        assert actual.equals(expected)


# --- round trips


@every_backend
@every_layout
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin", "America/New_York", "Etc/GMT+5"])
def test_a_frame_comes_back_as_it_was(backend, layout, zone):
    frame = native(example(layout, TIMES.tz_localize(zone)), backend)
    read = read_panel(frame, **NAMES[layout])
    assert read.notes == []
    assert read.style == FrameStyle(backend, layout, **NAMES[layout], zone=zone)
    assert_same(build_frame(read, {"": read.values}), frame)


@every_backend
@every_layout
@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_the_unit_of_time_survives(backend, layout, unit):
    """polars refuses to join a forecast to its history if one counts milliseconds and the other microseconds."""
    frame = native(example(layout, TIMES.as_unit(unit)), backend)
    read = read_panel(frame, **NAMES[layout])
    assert_same(build_frame(read, {"": read.values}), frame)


@every_backend
def test_ids_that_are_whole_numbers_stay_so(backend):
    """A forecast whose ids became text could not be joined to the user's own rows."""
    frame = example("long")
    frame["shop"] = pd.factorize(frame["shop"])[0] + 7
    read = read_panel(native(frame, backend), **NAMES["long"])
    assert read.series == ["7", "8"]
    assert_same(build_frame(read, {"": read.values}), native(frame, backend))


@pytest.mark.parametrize("backend", ["polars", "pyarrow"])
def test_nanoseconds_are_not_rounded(backend):
    times = pd.date_range("2024-01-01", periods=5, freq="250ns", unit="ns")
    read = read_panel(native(example("wide", times), backend))
    back = nw.from_native(build_frame(read, {"": read.values}))["when"].to_numpy()
    np.testing.assert_array_equal(back, times.to_numpy())


@pytest.mark.parametrize("backend", ["polars", "pyarrow"])
def test_dates_stay_dates(backend):
    """A day column without hours in, the same out, so that the two can be joined."""
    days = pd.date_range("2024-01-01", periods=6)
    frame = native(example("wide", days), backend)
    frame = (
        frame.with_columns(pl.col("when").cast(pl.Date))
        if backend == "polars"
        else frame.set_column(0, "when", frame["when"].cast(pa.date32()))
    )
    read = read_panel(frame)
    assert list(read.times) == list(days)  # in pandas 2 `equals` compares units, too
    assert_same(build_frame(read, {"": read.values}), frame)


@every_backend
def test_whole_number_times_come_back(backend):
    frame = native(pd.DataFrame({"year": range(1990, 1996), "a": np.arange(6.0)}), backend)
    read = read_panel(frame)
    assert_same(build_frame(read, {"": read.values}), frame)


@every_backend
@pytest.mark.parametrize("offset", ["+05:30", "-03:00"])
def test_times_with_an_offset_come_back_as_the_same_instants(backend, offset):
    """polars knows no bare offsets: whatever zone it gets, the instants must hold."""
    text = [f"2024-01-01T0{hour}:00:00{offset}" for hour in range(6)]
    read = read_panel(native(pd.DataFrame({"time": text, "a": np.arange(6.0)}), backend))
    back = nw.from_native(build_frame(read, {"": read.values}))["time"].dt.convert_time_zone("UTC")
    assert [str(stamp) for stamp in back.to_list()] == [str(pd.Timestamp(cell).tz_convert("UTC")) for cell in text]


@pytest.mark.parametrize("zone", [None, "Europe/Berlin", "America/New_York"])
@pytest.mark.parametrize("name", ["when", "time"])
def test_an_index_of_times_comes_back_as_index(zone, name):
    frame = pd.DataFrame({"b": np.arange(6.0), "a": 1.5}, index=TIMES.tz_localize(zone).rename(name))
    read = read_panel(frame)
    assert (read.style.time, read.style.indexed) == (name, True)
    assert_same(build_frame(read, {"": read.values}), frame)


def test_an_index_of_times_comes_back_in_a_long_frame_too():
    frame = example("long").set_index("when")
    read = read_panel(frame, id="shop", value="sales")
    assert_same(build_frame(read, {"": read.values}), frame)


def test_a_nameless_index_is_called_time():
    read = read_panel(pd.DataFrame({"a": np.arange(6.0)}, index=TIMES))
    assert build_frame(read, {"": read.values}).index.equals(TIMES.rename("time"))


def test_a_lazy_frame_comes_back_collected():
    frame = pl.from_pandas(example("wide"))
    read = read_panel(frame.lazy())
    assert_same(build_frame(read, {"": read.values}), frame)


@every_backend
@every_layout
def test_the_future_has_the_types_of_the_past(backend, layout):
    """Forecast rows are appended to the history, so their columns have to be of the same type."""
    frame = native(example(layout, TIMES.as_unit("ms").tz_localize("Europe/Berlin")), backend)
    read = read_panel(frame, **NAMES[layout])
    times = read.frequency.after(read.times[-1], 3)
    ahead = build_frame(replace(read, times=times, values=read.values[:3]), {"": read.values[:3]})
    assert nw.from_native(ahead).schema == nw.from_native(frame).schema


@modest
@given(
    arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(1, 4)), elements=st.floats(-1e9, 1e9)),
    st.sampled_from(["pandas", "polars", "pyarrow"]),
    st.sampled_from(["wide", "long"]),
)
def test_values_survive_bit_for_bit(values, backend, layout):
    style = {"backend": backend, "layout": layout, "time": "ds"}
    before = panel(values, **style)
    again = read_panel(build_frame(before, {"": values}))
    np.testing.assert_array_equal(again.values, values)
    assert again.series == before.series
    assert again.times.equals(before.times)


# --- building


@every_backend
def test_wide_puts_the_columns_of_a_series_side_by_side(backend):
    made = build_frame(panel([[1, 2], [3, 4]], backend=backend), {"": np.ones((2, 2)), "-lo": np.zeros((2, 2))})
    assert nw.from_native(made).columns == ["time", "s0", "s0-lo", "s1", "s1-lo"]


@every_backend
def test_long_stacks_the_series(backend):
    values = np.array([[1.0, 2.0], [3.0, 4.0]])
    before = panel(values, ["x", "y"], backend=backend, layout="long", time="ds")
    made = nw.from_native(build_frame(before, {"": values, "-lo": -values}))
    assert made.columns == ["unique_id", "ds", "y", "y-lo"]
    assert made["unique_id"].to_list() == ["x", "x", "y", "y"]
    assert made["y"].to_list() == [1, 3, 2, 4]
    assert made["y-lo"].to_list() == [-1, -3, -2, -4]


@every_backend
@every_layout
def test_extra_columns_stand_beside_the_time(backend, layout):
    """A backtest names the cutoff of each of its rows."""
    values = np.ones((2, 2))
    before = panel(values, backend=backend, layout=layout)
    made = nw.from_native(build_frame(before, {"": values}, {"cutoff": TIMES[:2] - pd.Timedelta(hours=1)}))
    ahead = [row - cutoff for row, cutoff in zip(made["time"].to_list(), made["cutoff"].to_list(), strict=True)]
    assert set(ahead) == {pd.Timedelta(hours=1)}
    assert len(ahead) == (2 if layout == "wide" else 4)


@every_backend
def test_a_plain_table_is_of_the_users_kind(backend):
    """Scores are no time series: no index of times is asked for."""
    style = FrameStyle(backend, indexed=backend == "pandas")
    table = make_table({"series": ["a", "b"], "mae": [0.5, 1.5], "windows": [3, 4]}, style)
    assert type(table) is type(native(pd.DataFrame(), backend))
    assert nw.from_native(table).to_dict(as_series=False) == {
        "series": ["a", "b"],
        "mae": [0.5, 1.5],
        "windows": [3, 4],
    }


# --- picking


def test_pick_follows_the_order_of_the_model():
    """Columns in another order would feed one series to the weights of another."""
    picked = panel([[1, 2, 3], [4, 5, 6]], ["a", "b", "c"]).pick(["c", "a", "b"])
    assert picked.series == ["c", "a", "b"]
    np.testing.assert_array_equal(picked.values, [[3, 1, 2], [6, 4, 5]])


def test_a_missing_series_is_named():
    with pytest.raises(DataError, match="missing from the data: 'c'; the model was fitted with 'a', 'b', 'c'"):
        panel([[1, 2]], ["a", "b"]).pick(["a", "b", "c"])


def test_an_unknown_series_is_named_with_the_remedy():
    with pytest.raises(DataError, match="does not know: 'c': drop them, or fit again with them"):
        panel([[1, 2, 3]], ["a", "b", "c"]).pick(["a", "b"])


def test_long_lists_of_series_are_shortened():
    many = [f"s{number}" for number in range(321)]
    with pytest.raises(DataError) as missing:
        panel([[1.0]], ["a"]).pick(many)
    assert "'s0', 's1', 's2', 's3', 's4' and 316 more" in str(missing.value)
    with pytest.raises(DataError) as unknown:
        panel(np.ones((1, 321)), many).pick(many[:1])
    assert "'s5' and 315 more" in str(unknown.value)
    assert max(len(str(missing.value)), len(str(unknown.value))) < 300


# --- counting and cutting


def test_a_panel_counts_its_rows_and_its_missing_values():
    part = panel([[1, nan], [nan, nan], [3, 4]])
    assert len(part) == 3
    assert part.missing == 3


@pytest.mark.parametrize("span", [slice(1, 3), slice(-2, None), slice(None, 1)])
def test_rows_cuts_values_and_times_together(span):
    whole = panel([[0, 0], [1, 10], [2, 20], [3, 30]])
    part = whole.rows(span)
    np.testing.assert_array_equal(part.values, whole.values[span])
    assert part.times.equals(whole.times[span])
    assert (part.series, part.frequency, part.style) == (whole.series, whole.frequency, whole.style)
