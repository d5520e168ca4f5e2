"""From a user's frame, wide or long, of pandas, polars or pyarrow, to a `Panel`."""

import re
import warnings
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from olinear.errors import DataError
from olinear.frames.panel import FrameStyle, Panel, Values, on_grid

LONG_NAMES = ("unique_id", "ds", "y")
TIME_NAMES = ("time", "date", "datetime", "timestamp", "ds", "day", "week", "month", "year")
_OFFSET = re.compile(r"\s*([+-]\d\d:?\d\d|Z)$")


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
        time, id, value: column names. Long is told by `id` or `value`, or by the names unique_id, ds and y.
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
        style = FrameStyle(backend, "long", time, id, value, indexed)  # type: ignore[arg-type]
        times, values, series = _read_long(table, style, notes)
    else:
        time = time or _find_time(table, set())
        style = FrameStyle(backend, "wide", time, indexed=indexed)  # type: ignore[arg-type]
        times = _times(table[time], notes)
        series, values = _read_columns(table, time, notes)
    return on_grid(times, values, series, style, freq, notes)


def _open(frame: Any) -> tuple["nw.DataFrame[Any]", bool]:
    indexed = False
    if isinstance(frame, pd.Series):
        frame = frame.to_frame()
    if isinstance(frame, pd.DataFrame):
        if isinstance(frame.index, pd.PeriodIndex):
            frame = frame.set_axis(frame.index.to_timestamp())
        if isinstance(frame.index, pd.DatetimeIndex):
            indexed = True
            frame = frame.rename_axis(frame.index.name or "time").reset_index()
        frame = frame.rename(columns=str)
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
    """The time column: by its type, by its name, or the first one if its text reads as dates."""
    names = [name for name in table.columns if name not in others]
    for name in names:
        if isinstance(table.schema[name], nw.Datetime) or table.schema[name] == nw.Date:
            return name
    for name in names:
        if name.strip().lower() in TIME_NAMES:
            return name
    if names and table.schema[names[0]] in (nw.String, nw.Object):
        try:
            _times(table[names[0]].head(5), [])
        except DataError:
            pass
        else:
            return names[0]
    raise DataError(f"no time column found among {', '.join(map(repr, table.columns))}: name it with time=")


def _times(column: "nw.Series[Any]", notes: list[str]) -> pd.Index:
    """A column as times: instants (their zone kept), dates, text, or whole numbers."""
    if column.null_count():
        row = int(np.flatnonzero(column.is_null().to_numpy())[0]) + 1
        raise DataError(f"the time column {column.name!r} is empty in row {row}: drop the row or fill it in")
    if column.dtype.is_integer():
        return pd.Index(column.to_numpy().astype(np.int64))
    if isinstance(column.dtype, nw.Datetime) or column.dtype == nw.Date:
        times = pd.DatetimeIndex(column.to_numpy())
        zone = getattr(column.dtype, "time_zone", None)
        if zone and times.tz is None:
            times = times.tz_localize("UTC")
        return times.tz_convert(zone) if zone else times
    if column.dtype.is_numeric():
        raise DataError(f"the time column {column.name!r} holds fractions: use dates or whole numbers")
    return _parse_text([str(cell) for cell in column.to_list()], column.name, notes)


def _parse_text(text: list[str], name: str, notes: list[str]) -> pd.Index:
    offsets = {match[1] if match else "" for match in map(_OFFSET.search, text)}
    if len(offsets) > 1:
        text = [_OFFSET.sub("", cell) for cell in text]
        notes.append(f"times in {name!r} have changing UTC offsets and were read as local wall time")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas warns while it guesses between day-first and month-first
        for options in ({}, {"dayfirst": True}, {"format": "mixed"}):
            try:
                return pd.DatetimeIndex(pd.to_datetime(pd.Series(text), **options))
            except (ValueError, OverflowError, TypeError):
                continue
        bad = pd.to_datetime(pd.Series(text), errors="coerce", format="mixed", utc=True).isna()
    row = int(bad.argmax())
    raise DataError(
        f"column {name!r} is not a time in row {row + 1} ({text[row]!r}): mend it, or name the time column with time="
    )


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
        raise DataError(f"no numeric column beside {time!r}: pass a table with at least one series of numbers")
    return list(columns), np.stack(list(columns.values()), axis=1)


def _numbers(column: "nw.Series[Any]") -> Values:
    if column.dtype.is_numeric():
        return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    cells = pd.Series(column.to_list(), dtype=object)
    numbers = pd.to_numeric(cells, errors="coerce").astype(np.float64)
    bad = numbers.isna() & cells.notna()
    if bad.any():
        row = int(bad.argmax())
        raise DataError(
            f"column {column.name!r} has no number in row {row + 1} ({str(cells[row])[:40]!r}): "
            "mend the cell, or drop the column"
        )
    return numbers.to_numpy()


def _read_long(table: "nw.DataFrame[Any]", style: FrameStyle, notes: list[str]) -> tuple[pd.Index, Values, list[str]]:
    """One row for each series and time, laid out as rows × series; what is absent is missing."""
    times = _times(table[style.time], notes)
    numbers = _numbers(table[style.value])
    series_of, series = pd.factorize(pd.Series([str(name) for name in table[style.id].to_list()]))
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
