"""What a single column is: the time, a part of it, a number of the row, booleans, text."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from olinear.core import DataError, Note
from olinear.data.frames.dialect import MONTH, TIME_NAMES, WHEN
from olinear.data.frames.numbered import STEPS, find_unit
from olinear.data.frames.numbers import MISSING
from olinear.data.frames.panel import listed
from olinear.data.frames.tables import Table
from olinear.data.frames.times import (
    WHOLE,
    holds_times,
    reads_as_clock,
    reads_as_numbered,
    reads_as_times,
    same_times,
)

LESSER_NAMES = {"day", "week", "month", "year", "hour", "index", "step"}  # that a part of the time has too
ROW_NAMES = re.compile(r"Unnamed: \d+|index|level_0|#|no\.?|nr\.?|id|row_?id", re.IGNORECASE)
NAMELESS = re.compile(r"\d+|column_\d+|Unnamed: \d+")  # columns that nobody named
WHOLE_CELL = re.compile(r"-?\d{1,9}")
TEXT = (nw.String, nw.Object, nw.Categorical, nw.Enum)
BOOLEANS = {"true", "false", "yes", "no", "t", "f", "y", "n"}


def find_time(table: Table, others: Collection[str]) -> str:
    """The time column: by its type, its name, its text, or whole numbers that are dates or count; a name comes last."""
    names = [name for name in table.names if name not in others]
    counter = names[:1]

    def called(usual: Collection[str], name: str) -> bool:
        return name.strip().lower() in usual

    ways: tuple[Callable[[str], bool], ...] = (
        table.holds_times,
        lambda name: called(TIME_NAMES, name) and _may_be_time(table[name]),
        lambda name: reads_as_times(table[name]),
        lambda name: called(LESSER_NAMES, name) and _may_be_time(table[name]) and table.distinct(name) == len(table),
        lambda name: reads_as_numbered(table[name]),
        lambda name: called(TIME_NAMES | LESSER_NAMES, name),
        lambda name: reads_as_clock(table[name]),
        lambda name: name in counter and bool(NAMELESS.fullmatch(name)) and counts_steps(table[name]),
    )
    for found in ways:
        times = [name for name in names if found(name)]
        if times:
            usual = [name for name in times if called(TIME_NAMES, name)]
            return usual[0] if usual else _first_of(table, times)
    across = [name for name in table.names if WHEN.fullmatch(name) or MONTH.fullmatch(name)]
    if len(across) > 2:
        raise DataError(
            f"no time column found, and times such as {across[0]!r} in the header: transpose the table, so that each "
            "row is a time and each column a series"
        )
    raise DataError(f"no time column found among {', '.join(map(repr, table.names))}: name it with time=")


def _first_of(table: Table, times: list[str]) -> str:
    """Of several columns of times the one that differs in most rows, or the start of intervals; else it is refused."""
    counts = [table.distinct(name) for name in times]
    times = [name for name, count in zip(times, counts, strict=True) if count == max(counts)]
    first = table[times[0]]
    for other in times[1:]:
        if not (_meet(first, table[other]) or same_times(first, table[other])):
            ways = f"time={times[0]!r} or time={other!r}"
            raise DataError(f"the columns {times[0]!r} and {other!r} both hold times: pass {ways}")
    return times[0]


def _meet(starts: "nw.Series[Any]", ends: "nw.Series[Any]") -> bool:
    """Whether most intervals end where the next begins."""
    following = starts.to_list()[1:]
    return sum(end == start for end, start in zip(ends.to_list(), following, strict=False)) > len(following) / 2


def holds_whole(column: "nw.Series[Any]") -> bool:
    """Whether all cells are whole numbers."""
    if column.dtype.is_integer():
        return not column.is_null().any()
    if column.dtype not in TEXT:
        return False
    return all(WHOLE_CELL.fullmatch(str(cell).strip()) for cell in column.unique().to_list())


def counts_steps(column: "nw.Series[Any]") -> bool:
    """Whether whole numbers go up by the same step in every row."""
    if column.dtype.is_integer():
        numbers = column.cast(nw.Int64).to_numpy() if not column.is_null().any() else np.array([])
    elif column.dtype in TEXT:
        texts = [str(cell).strip() for cell in column.to_list()]
        if not all(map(WHOLE.fullmatch, texts)):
            return False
        numbers = np.array([int(float(text)) for text in texts])
    else:
        return False
    steps = np.diff(numbers)
    return len(steps) > 1 and bool((steps == steps[0]).all()) and bool(steps[0] > 0)


def _may_be_time(column: "nw.Series[Any]") -> bool:
    """Whether a column of a usual name holds what can be times."""
    if holds_times(column) or column.dtype.is_integer():
        return True
    if column.dtype.is_numeric():
        numbers = np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
        if not np.isfinite(numbers).all():
            return False
        return bool((numbers == np.floor(numbers)).all()) or find_unit(numbers, "", []) != STEPS
    cells = [str(cell).strip() for cell in column.head(5).to_list()]
    return reads_as_times(column) or (column.dtype in TEXT and all(map(WHOLE.fullmatch, cells)))


def part_of_time(name: str, values: "np.ndarray[tuple[int], np.dtype[np.float64]]", times: pd.Index) -> bool:
    """Whether a column only repeats a part of the time: its name says so, and its values are that part."""
    if not isinstance(times, pd.DatetimeIndex):
        return False
    parts = _PARTS.get(re.sub(r"[\s_-]", "", name.lower()))
    if parts is None:
        return False
    found = np.asarray(parts(times), dtype=np.float64)
    known = ~np.isnan(values)
    shifts = (found, found + 1, (found + 1) % 7, (found + 1) % 7 + 1, found - 1) if "day" in name.lower() else (found,)
    return bool(known.any()) and any(np.array_equal(values[known], each[known]) for each in shifts)


_PARTS: Mapping[str, Callable[[pd.DatetimeIndex], object]] = {
    **dict.fromkeys(("year", "years", "yr", "jahr"), lambda times: times.year),
    **dict.fromkeys(("quarter", "qtr"), lambda times: times.quarter),
    **dict.fromkeys(("month", "months", "mon", "monat"), lambda times: times.month),
    **dict.fromkeys(("week", "weeks", "weekofyear", "isoweek", "woche"), lambda times: times.isocalendar().week),
    **dict.fromkeys(("day", "days", "dayofmonth", "tag"), lambda times: times.day),
    **dict.fromkeys(("dayofyear", "yearday", "doy"), lambda times: times.dayofyear),
    **dict.fromkeys(("weekday", "dayofweek", "dow", "wday", "isoweekday"), lambda times: times.dayofweek),
    **dict.fromkeys(("isweekend", "weekend"), lambda times: times.dayofweek >= 5),
    **dict.fromkeys(("hour", "hours", "hourofday", "hr", "stunde"), lambda times: times.hour),
    **dict.fromkeys(("minute", "minutes"), lambda times: times.minute),
    **dict.fromkeys(("second", "seconds"), lambda times: times.second),
}


def counts_rows(name: str, values: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> bool:
    """Whether a column without a name of its own only numbers the rows."""
    if not ROW_NAMES.fullmatch(name.strip() or "#"):
        return False
    return bool((np.diff(values) == 1).all()) and len(values) > 1


def is_boolean(column: "nw.Series[Any]") -> bool:
    """Whether a column holds booleans, as such or as words."""
    if column.dtype == nw.Boolean:
        return True
    if column.dtype not in TEXT:
        return False
    first = column.head(20).to_list()
    if not all(str(cell).strip().lower() in BOOLEANS or str(cell) in MISSING for cell in first):
        return False
    words = {str(cell).strip().lower() for cell in column.unique().to_list() if cell is not None} - {"", "none", "nan"}
    return bool(words) and words <= BOOLEANS


def left_out(reasons: Mapping[str, Sequence[str]]) -> list[Note]:
    """One note for each reason for which columns are no series."""
    notes = []
    for reason, names in reasons.items():
        if not names:
            continue
        one = len(names) == 1
        subject = f"column {names[0]!r}" if one else f"columns {listed(names)}"
        verb = reason if one else reason.replace("holds", "hold").replace("has", "have").replace("repeats", "repeat")
        verb = verb if one else verb.replace("numbers", "number")
        notes.append(Note("series-left-out", f"{subject} {verb} and {'was' if one else 'were'} left out", names))
    return notes
