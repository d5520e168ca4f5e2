"""Which column of a table is what: the time, the ids, the values, and in a wide one the series."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import narwhals as nw
import numpy as np
import pandas as pd

from olinear.core import DataError, Note
from olinear.core.settings import ReadingSettings
from olinear.data.frames.numbers import MISSING
from olinear.data.frames.numbered import STEPS, find_unit
from olinear.data.frames.panel import FrameStyle, listed
from olinear.data.frames.tables import Table
from olinear.data.frames.times import WHOLE, holds_times, reads_as_clock, reads_as_numbered, reads_as_times

LONG_NAMES = ("unique_id", "ds", "y")
TIME_NAMES = {"time", "date", "datetime", "timestamp", "ds", "date_time", "zeit", "datum", "zeitstempel", "zeitpunkt"}
TIME_NAMES |= {"fecha", "data", "heure", "hora", "tempo", "period", "unix", "epoch"}
LESSER_NAMES = {"day", "week", "month", "year", "hour", "index"}  # that a part of the time has too
ROW_NAMES = re.compile(r"Unnamed: \d+|index|level_0|#|no\.?|nr\.?", re.IGNORECASE)
TEXT = (nw.String, nw.Object, nw.Categorical, nw.Enum)
BOOLEANS = {"true", "false", "yes", "no", "t", "f", "y", "n"}


@dataclass(frozen=True)
class Roles:
    """The names of the columns by what they are."""

    time: str
    id: str | None = None  # long tables
    value: str | None = None
    others: list[str] = field(default_factory=list)  # columns that may be series

    @property
    def is_long(self) -> bool:
        return self.id is not None


def find_roles(table: Table, settings: ReadingSettings, like: FrameStyle | None, known: Collection[str] = ()) -> Roles:
    """The roles that are named or usual; the time is also found by what columns hold.

    Args:
        table: with at least one row.
        settings: what a user asked for.
        like: the style of a table read before, whose names and layout are taken up where they fit.
        known: the series that such a table had.
    """
    names = table.names
    for column in (settings.time, settings.id, settings.value):
        if column is not None and column not in names:
            raise DataError(f"there is no column {column!r}: the columns are {', '.join(map(repr, names))}")
    time, id, value = settings.time, settings.id, settings.value
    if like is not None:
        time = time or (like.time if like.time in names else None)
        if like.layout == "long" and {like.id, like.value} <= set(names):
            id, value = id or like.id, value or like.value
    if id is not None or value is not None or set(LONG_NAMES) <= set(names):
        id, value = id or LONG_NAMES[0], value or LONG_NAMES[2]
        for role, column in (("id", id), ("value", value)):
            if column not in names:
                raise DataError(f"a long frame needs a column {column!r}: name yours with {role}=")
        return Roles(time or ("ds" if "ds" in names else find_time(table, {id, value})), id, value)
    dropped = set(resolve(settings.drop, names))
    unknown = [name for name in dropped if name not in names] if like is None else []
    if unknown:
        raise DataError(f"there is no column {unknown[0]!r} to drop: the columns are {', '.join(map(repr, names))}")
    time = time or find_time(table, dropped)
    left = dropped | ({*like.left_out} - {*known} if like is not None else set())
    return Roles(time, others=[name for name in names if name != time and name not in left])


def resolve(given: Sequence[str] | None, known: Collection[str]) -> list[str]:
    """Names as they were given; one that is none, but several with commas between them, stands for those."""
    names = []
    for name in given or ():
        parts = [part.strip() for part in name.split(",")]
        names += parts if name not in known and all(part in known for part in parts) else [name]
    return list(dict.fromkeys(names))


def find_time(table: Table, others: Collection[str]) -> str:
    """The time column: by its type, its name, its text, or whole numbers that are dates; a name alone comes last."""
    names = [name for name in table.names if name not in others]

    def called(usual: Collection[str], name: str) -> bool:
        return name.strip().lower() in usual

    ways: tuple[Callable[[str], bool], ...] = (
        lambda name: holds_times(table[name]),
        lambda name: called(TIME_NAMES, name) and _may_be_time(table[name]),
        lambda name: reads_as_times(table[name]),
        lambda name: called(LESSER_NAMES, name) and _may_be_time(table[name]) and table[name].n_unique() == len(table),
        lambda name: reads_as_numbered(table[name]),
        lambda name: called(TIME_NAMES | LESSER_NAMES, name),
        lambda name: reads_as_clock(table[name]),
    )
    for found in ways:
        for name in names:
            if found(name):
                return name
    raise DataError(f"no time column found among {', '.join(map(repr, table.names))}: name it with time=")


def _may_be_time(column: "nw.Series[object]") -> bool:
    """Whether a column of a usual name holds what can be times."""
    if holds_times(column) or column.dtype.is_integer():
        return True
    if column.dtype.is_numeric():
        numbers = np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
        return bool(np.isfinite(numbers).all()) and (bool((numbers == np.floor(numbers)).all()) or find_unit(numbers, "", []) != STEPS)
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


def is_boolean(column: "nw.Series[object]") -> bool:
    """Whether a column holds booleans, as such or as words."""
    if column.dtype == nw.Boolean:
        return True
    if column.dtype not in TEXT:
        return False
    first = column.head(20).to_list()
    if not all(str(cell).strip().lower() in BOOLEANS or cell in MISSING or cell is None for cell in first):
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
