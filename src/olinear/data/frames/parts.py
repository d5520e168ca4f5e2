"""Times that stand in several columns: year, month, day and hour, or a date and a clock time."""

from collections.abc import Collection, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from olinear.data.frames.columns import WHOLE_CELL, holds_whole
from olinear.data.frames.dates import full_year
from olinear.data.frames.dialect import TIME_NAMES
from olinear.data.frames.tables import Table
from olinear.data.frames.times import reads_as_clock, reads_as_times

UNITS = ("year", "month", "day", "hour", "minute", "second")
CALLED = {
    "year": ("year", "yyyy", "yy", "yr", "jahr"),
    "month": ("month", "mo", "mon", "monat"),
    "day": ("day", "dd", "dy", "tag"),
    "hour": ("hour", "hh", "hr", "stunde"),
    "minute": ("minute", "mn", "min"),
    "second": ("second", "ss", "sec"),
}


def find_parts(table: Table, others: Collection[str]) -> tuple[str, ...]:
    """The columns of year, month and so on, where they are all the time that there is."""
    names = [name for name in table.names if name not in others]
    if not any(_is_called(name, "year") for name in names) or any(table.holds_times(name) for name in names):
        return ()
    if any(name.strip().lower() in TIME_NAMES and reads_as_times(table[name]) for name in names):
        return ()
    parts: list[str] = []
    for unit in UNITS:
        found = [name for name in names if _is_called(name, unit) and name not in parts and holds_whole(table[name])]
        if not found:
            break
        parts.append(found[0])
    if len(parts) < 2 or any(reads_as_times(table[name]) for name in names if name not in parts):
        return ()
    return tuple(parts)


def _is_called(name: str, unit: str) -> bool:
    """In any case of letters, but for MM, which is months, and mm, which is minutes."""
    name = name.strip()
    if name in ("MM", "mm"):
        return unit == ("month" if name == "MM" else "minute")
    return name.lower() in CALLED[unit]


def rest_of_date(table: Table, time: str, others: Collection[str]) -> tuple[str, ...]:
    """The date and the column of clock times or of hours that goes with it, if together they differ in each row."""
    for name in table.names:
        if name == time or name in others:
            continue
        hours = _is_called(name, "hour") and holds_whole(table[name]) and _within(table[name], 0, 24)
        if hours or reads_as_clock(table[name]):
            both = pd.DataFrame({"date": table[time].to_list(), "clock": table[name].to_list()}, dtype=object)
            if not both.duplicated().any():
                return time, name
    return ()


def _within(column: "nw.Series[Any]", low: int, high: int) -> bool:
    numbers = [int(float(cell)) for cell in column.to_list()]
    return low <= min(numbers) and max(numbers) <= high


def join_parts(table: Table, parts: Sequence[str], name: str) -> "nw.Series[Any]":
    """The time of each row as text."""
    columns = [table[part].to_list() for part in parts]
    if not holds_whole(table[parts[0]]) or (len(parts) == 2 and _is_called(parts[1], "hour")):
        dates = [cell.strftime("%Y-%m-%d") if hasattr(cell, "strftime") else str(cell).strip() for cell in columns[0]]
        clocks = [f"{int(cell):02}:00" if WHOLE_CELL.fullmatch(str(cell)) else str(cell).strip() for cell in columns[1]]
        texts = [f"{date} {clock}" for date, clock in zip(dates, clocks, strict=True)]
    else:
        texts = [_written([int(float(cell)) for cell in row]) for row in zip(*columns, strict=True)]
    return nw.from_native(pd.Series(np.array(texts, dtype=object), name=name), series_only=True)


def _written(numbers: Sequence[int]) -> str:
    year, month, *rest = numbers
    day, hour, minute, second, *_ = [*rest, *(1, 0, 0, 0)[len(rest) :]]
    return f"{year if year > 99 else full_year(year):04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}"
