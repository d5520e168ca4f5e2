"""From a user's frame, wide or long, of pandas, polars or pyarrow, to a `Panel`."""

from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from olinear.core import DataError
from olinear.data.frames.panel import FrameStyle, Panel, Values, on_grid
from olinear.data.frames.times import holds_times, read_times, reads_as_times

LONG_NAMES = ("unique_id", "ds", "y")
TIME_NAMES = ("time", "date", "datetime", "timestamp", "ds", "day", "week", "month", "year")


def read_panel(
    frame: Any,
    *,
    time: str | None = None,
    id: str | None = None,
    value: str | None = None,
    freq: str | None = None,
    like: FrameStyle | None = None,
) -> Panel:
    """Read a frame as a panel.

    Args:
        frame: wide (a time column and one numeric column a series) or long (a row for each series and time), of
            pandas, polars or pyarrow. A pandas frame may carry its times as the index.
        time, id, value: column names. Long is recognised by `id` or `value`, or by the names unique_id, ds and y.
        freq: a pandas frequency, `rows` for rows of uneven length, or None to find it.
        like: the style of a frame read before, whose names and layout are taken up where they fit.
    """
    if isinstance(frame, Panel):
        return frame
    table, indexed = _open(frame)
    backend = str(table.implementation.value)
    names = table.columns
    for column in (time, id, value):
        if column is not None and column not in names:
            raise DataError(f"there is no column {column!r}: the columns are {', '.join(map(repr, names))}")
    if not len(table):
        raise DataError("the data has no rows: pass a table with a time column and at least one numeric column")
    if like is not None:
        time = time or (like.time if like.time in names else None)
        if like.layout == "long" and {like.id, like.value} <= set(names):
            id, value = id or like.id, value or like.value
    notes: list[str] = []
    if id is not None or value is not None or set(LONG_NAMES) <= set(names):
        id, value = id or LONG_NAMES[0], value or LONG_NAMES[2]
        for role, column in (("id", id), ("value", value)):
            if column not in names:
                raise DataError(f"a long frame needs a column {column!r}: name yours with {role}=")
        time = time or ("ds" if "ds" in names else _find_time(table, {id, value}))
        dates, numbered = table.schema[time] == nw.Date, table.schema[id].is_signed_integer()
        style = FrameStyle(backend, "long", time, id, value, indexed, dates, numbered)  # type: ignore[arg-type]
        times, values, series = _read_long(table, style, notes)
    else:
        time = time or _find_time(table, set())
        style = FrameStyle(backend, "wide", time, indexed=indexed, dates=table.schema[time] == nw.Date)  # type: ignore[arg-type]
        times = read_times(table[time], notes)
        series, values = _read_columns(table, time, notes)
    return on_grid(times, values, series, style, freq, notes)


def _open(frame: Any) -> tuple["nw.DataFrame[Any]", bool]:
    indexed = False
    if isinstance(frame, pd.Series):
        frame = frame.to_frame()
    if isinstance(frame, pd.DataFrame):
        if isinstance(frame.columns, pd.MultiIndex):
            raise DataError(f"columns have several levels, such as {frame.columns[0]}: give each one name of text")
        frame = frame.rename(columns=str)
        if isinstance(frame.index, pd.PeriodIndex):
            frame = frame.set_axis(frame.index.to_timestamp())
        if isinstance(frame.index, pd.DatetimeIndex):
            indexed, index = True, str(frame.index.name or "time")
            if index in frame.columns:
                raise DataError(f"the index of times and a column are both called {index!r}: rename or drop one")
            frame = frame.rename_axis(index).reset_index()
    names = pd.Index(frame.columns if isinstance(frame, pd.DataFrame) else getattr(frame, "column_names", []))
    if not names.is_unique:
        raise DataError(f"several columns are called {names[names.duplicated()][0]!r}: rename or drop all but one")
    try:
        table = nw.from_native(frame)
    except TypeError as error:
        raise DataError(f"data must be a pandas, polars or pyarrow frame, found {type(frame).__name__}") from error
    if isinstance(table, nw.LazyFrame):
        table = table.collect()
    if not isinstance(table, nw.DataFrame) or table.implementation.value not in ("pandas", "polars", "pyarrow"):
        raise DataError(f"data must be a pandas, polars or pyarrow frame, found {type(frame).__name__}")
    return table, indexed


def _find_time(table: "nw.DataFrame[Any]", others: set[str]) -> str:
    """The time column: by its type, by its name, or the first one whose text reads as dates."""
    names = [name for name in table.columns if name not in others]
    for tells in (
        lambda name: holds_times(table[name]),
        lambda name: name.strip().lower() in TIME_NAMES,
        lambda name: reads_as_times(table[name]),
    ):
        for name in names:
            if tells(name):
                return name
    raise DataError(f"no time column found among {', '.join(map(repr, table.columns))}: name it with time=")


def _read_columns(table: "nw.DataFrame[Any]", time: str, notes: list[str]) -> tuple[list[str], Values]:
    """Every numeric column but the time; booleans are left out."""
    columns = {}
    for name in table.columns:
        if name == time:
            continue
        if table.schema[name] == nw.Boolean:
            notes.append(f"column {name!r} holds booleans and was left out")
            continue
        columns[name] = _numbers(table[name])
    if not columns:
        raise DataError(f"no numeric column next to {time!r}: pass a table with at least one series of numbers")
    return list(columns), np.stack(list(columns.values()), axis=1)


def _numbers(column: "nw.Series[Any]") -> Values:
    if column.dtype.is_integer() and column.implementation.is_pyarrow():
        return column.to_numpy().astype(np.float64)  # NumPy rounds; pyarrow refuses what float64 does not hold exactly
    if column.dtype.is_numeric():
        return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    cells = pd.Series(column.to_list(), dtype=object)
    try:
        numbers = pd.to_numeric(cells, errors="coerce")
        if np.iscomplexobj(numbers):
            raise TypeError("complex numbers")
        numbers = numbers.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise DataError(
            f"column {column.name!r} does not fit into real numbers of 64 bits ({error}): correct it, or drop "
            "the column"
        ) from error
    bad = numbers.isna() & cells.notna()
    if bad.any():
        row = int(bad.argmax())
        raise DataError(
            f"column {column.name!r} has no number in row {row + 1} ({str(cells[row])[:40]!r}): "
            "correct the cell, or drop the column"
        )
    return numbers.to_numpy()


def _read_long(table: "nw.DataFrame[Any]", style: FrameStyle, notes: list[str]) -> tuple[pd.Index, Values, list[str]]:
    """One row for each series and time, laid out as rows × series; what is absent is missing."""
    times = read_times(table[style.time], notes)
    numbers = _numbers(table[style.value])
    ids = pd.Series(table[style.id].to_list(), dtype=object)
    if ids.isna().any():
        row = int(ids.isna().argmax()) + 1
        raise DataError(f"the id column {style.id!r} is empty in row {row}: drop the row or name its series")
    series_of, series = pd.factorize(ids.map(str))
    distinct = times.unique().sort_values()
    row_of = distinct.get_indexer(times)
    cell = row_of * len(series) + series_of
    repeated = pd.Series(cell).duplicated()
    if repeated.any():
        at = int(repeated.argmax())
        raise DataError(
            f"series {series[series_of[at]]!r} has the time {times[at]} more than once: keep one row for each"
        )
    values = np.full((len(distinct), len(series)), np.nan)
    values[row_of, series_of] = numbers
    return distinct, values, [str(name) for name in series]
