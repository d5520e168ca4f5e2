"""Reading values and long frames: what counts as a number, a gap, a series."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from frame_parts import DAYS, every_backend, long, native, wide

from olinear.core.errors import DataError
from olinear.data.frames import read_panel

nan = np.nan


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
    with pytest.raises(DataError, match=rf"column 'a' has no number in row 4 \('{cell}'\): correct the cell, or drop"):
        read_panel(native(wide(a=["1", "2", "3", cell, "5", "6"]), backend))


def test_a_long_cell_is_shortened():
    with pytest.raises(DataError) as caught:
        read_panel(wide(a=["x" * 10_000] * 6))
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "cells",
    [
        DAYS - DAYS[0],
        pd.Series([[1]] * 6),
        np.full(6, 1j),
        pd.Series([10**400] * 6, dtype=object),
    ],
    ids=["durations", "lists", "complex", "beyond floats"],
)
def test_what_is_no_number_is_refused_by_name(cells):
    with pytest.raises(DataError, match="column 'b'"):
        read_panel(wide(a=np.arange(6.0), b=cells))


@pytest.mark.parametrize("cells", [pd.Categorical(["low", "high"] * 3), ["low", "high"] * 3, DAYS[::-1]])
def test_text_and_further_times_are_left_out_unless_they_were_asked_for(cells):
    frame = wide(a=np.arange(6.0), b=cells)
    read = read_panel(frame)
    assert read.series == ["a"]
    assert [(note.code, note.about) for note in read.notes] == [("series-left-out", ("b",))]
    with pytest.raises(DataError, match="column 'b'"):
        read_panel(frame, series=["a", "b"])


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@every_backend
def test_an_infinite_value_is_named_by_column_and_time(backend, value):
    with pytest.raises(
        DataError, match="'b' has an infinite value at 2024-01-03 00:00:00: correct it or make it missing"
    ):
        read_panel(native(wide(a=np.arange(6.0), b=[0, 1, value, 3, 4, 5]), backend))


@every_backend
def test_a_series_without_any_value_is_left_out_unless_it_was_asked_for(backend):
    frame = native(wide(a=np.arange(6.0), b=np.full(6, nan)), backend)
    read = read_panel(frame)
    assert read.series == ["a"]
    assert [(note.code, note.about) for note in read.notes] == [("series-left-out", ("b",))]
    with pytest.raises(DataError, match="'b' has no value at all: drop it"):
        read_panel(frame, series=["a", "b"])
    ids = native(long().assign(y=[1.0, 2, 3, 4, 5, 6] + [nan] * 6), backend)
    assert read_panel(ids).series == ["a"]
    assert [(note.code, note.about) for note in read_panel(ids).notes] == [("series-left-out", ("b",))]
    with pytest.raises(DataError, match="'b' has no value at all: drop it"):
        read_panel(ids, series="b")


@pytest.mark.parametrize("columns", [[], ["holiday"]])
@every_backend
def test_without_a_numeric_column_nothing_can_be_forecast(backend, columns):
    frame = wide(holiday=[True] * 6)[["time", *columns]]
    with pytest.raises(DataError, match="no numeric column next to 'time': pass a table with at least one series"):
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
    "thing", [[1, 2], {"a": [1]}, np.ones((3, 2)), None, b"data.csv", pl.Series([1]), pa.array([1])]
)
def test_what_is_no_frame_is_refused_by_its_type(thing):
    with pytest.raises(DataError, match=f"must be a pandas, polars or pyarrow frame, found {type(thing).__name__}"):
        read_panel(thing)


# --- long


@every_backend
def test_long_is_told_by_the_usual_names(backend):
    read = read_panel(native(long().assign(note="x"), backend))
    assert (read.style.layout, read.series) == ("long", ["a", "b"])
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
    ("named", "columns", "message"),
    [
        ({"value": "sales"}, ["ds", "sales"], "needs a column 'unique_id': name yours with id="),
        ({"id": "shop"}, ["shop", "ds"], "'y'.* with value="),
        ({"id": "shop"}, ["shop", "ds", "sales", "price"], "pass value='sales' or value='price'"),
    ],
)
def test_a_long_frame_says_which_column_it_lacks(named, columns, message):
    frame = long().rename(columns={"unique_id": "shop", "y": "sales"}).assign(price=1.0)[columns]
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
    """Nor for the order of series, by which a model is fitted: shop2 comes before shop10, whoever is first."""
    frame = long(("shop2", "shop10", "shop1"))
    shuffled = read_panel(native(frame.sample(frac=1, random_state=3), backend))
    assert shuffled.series == read_panel(frame).series == ["shop1", "shop2", "shop10"]
    np.testing.assert_array_equal(shuffled.values, read_panel(frame).values)


@every_backend
def test_a_repeated_row_of_a_series_is_named_by_both(backend):
    frame = pd.concat([long(), long().iloc[[8]]], ignore_index=True)
    with pytest.raises(DataError, match="series 'b' has the time 2024-01-03 00:00:00 more than once: keep one row"):
        read_panel(native(frame, backend))


@pytest.mark.parametrize(
    ("ids", "names"), [((11, 7), ["7", "11"]), ((True, False), ["False", "True"]), ((1.5, 2.5), ["1.5", "2.5"])]
)
@every_backend
def test_ids_need_not_be_text(backend, ids, names):
    assert read_panel(native(long(ids), backend)).series == names


@every_backend
def test_ids_may_be_categories(backend):
    frame = long().astype({"unique_id": pd.CategoricalDtype(["unused", "a", "b"])})
    read = read_panel(native(frame, backend))
    assert read.series == ["a", "b"]
    assert read.missing == 0


@every_backend
def test_an_empty_id_is_named_by_its_row(backend):
    """It would become a series of the name 'nan' or 'None'."""
    frame = long().assign(unique_id=["a"] * 6 + [None] * 6)
    with pytest.raises(DataError, match=r"'unique_id'.*row 7"):
        read_panel(native(frame, backend))


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (["1"] * 9 + ["x", "1", "1"], r"column 'y' has no number in row 10 \('x'\)"),
        ([1.0] * 9 + [np.inf, 1, 1], "'b' has an infinite value at 2024-01-04 00:00:00"),
        ([nan] * 12, "no series has a value in 'y'"),
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
