"""From a column of a user's frame to times: instants with their zone, dates, text, or whole numbers."""

import datetime
import re
import warnings
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from olinear.core import DataError

# A clock time, then its offset: without the first, the -2024 of 16-01-2024 would be one.
_OFFSET = re.compile(r"(:\d\d(?:[.,]\d+)?|\dT\d[\d.]+)\s*([+-]\d\d(?::?\d\d)?|Z)$")
_DATE = re.compile(r"(\d\d?)([/.-])(\d\d?)[/.-]\d")  # day and month, in either order, before a year
LARGEST = 2**62  # the difference of any two smaller numbers is a whole number of 64 bits


def holds_times(column: "nw.Series[Any]") -> bool:
    """Whether the type of a column says that it holds times."""
    cells = column.to_native()
    if isinstance(cells, pd.Series) and _is_pandas_time(cells):
        return True
    return isinstance(column.dtype, nw.Datetime) or column.dtype == nw.Date


def reads_as_times(column: "nw.Series[Any]") -> bool:
    """Whether a column holds text (or objects) whose first cells read as times."""
    if column.dtype not in (nw.String, nw.Object, nw.Categorical):
        return False
    first = column.drop_nulls().head(5)
    cells = first.to_list()
    if not cells or not all(isinstance(cell, str | datetime.date) for cell in cells):
        return False
    try:
        read_times(first, [])
    except DataError:
        return False
    return True


def read_times(column: "nw.Series[Any]", notes: list[str]) -> pd.Index:
    """A column as times; an empty cell is refused by its row."""
    name, cells = column.name, column.to_native()
    _refuse_empty(column.is_null().to_numpy(), name)
    if isinstance(cells, pd.Series) and _is_pandas_time(cells):
        return pd.DatetimeIndex(cells.dt.to_timestamp() if isinstance(cells.dtype, pd.PeriodDtype) else cells)
    if isinstance(column.dtype, nw.Datetime) or column.dtype == nw.Date:
        times = pd.DatetimeIndex(column.to_numpy())
        zone = getattr(column.dtype, "time_zone", None)
        if zone and times.tz is None:
            times = times.tz_localize("UTC")
        return times.tz_convert(zone) if zone else times
    if column.dtype.is_integer():
        if max(int(column.max()), -int(column.min())) >= LARGEST:
            raise DataError(f"the time column {name!r} has numbers too large to count with: use dates or small steps")
        return pd.Index(column.cast(nw.Int64).to_numpy())
    if column.dtype.is_numeric():
        raise DataError(f"the time column {name!r} holds fractions: use dates or whole numbers")
    return _parse_text([str(cell).strip() for cell in column.to_list()], name, notes)


def _is_pandas_time(cells: "pd.Series[Any]") -> bool:
    """Asked of pandas itself: narwhals does not know all of its zones, such as America/New_York."""
    return pd.api.types.is_datetime64_any_dtype(cells.dtype) or isinstance(cells.dtype, pd.PeriodDtype)


def _parse_text(text: list[str], name: str, notes: list[str]) -> pd.DatetimeIndex:
    if len({match[2] if match else "" for match in map(_OFFSET.search, text)}) > 1:
        text = [_OFFSET.sub(r"\1", cell) for cell in text]
        notes.append(f"times in {name!r} have changing UTC offsets and were read as local wall time")
    day_first, swapped = _day_first(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pandas warns where a form cannot be guessed
        for form in (None, "mixed"):
            try:
                times = pd.DatetimeIndex(pd.to_datetime(pd.Series(text), format=form, dayfirst=day_first))
            except (ValueError, OverflowError, TypeError):
                continue
            _refuse_empty(times.isna(), name)
            if not swapped.any():
                return times
        bad = pd.to_datetime(pd.Series(text), errors="coerce", format="mixed", utc=True).isna().to_numpy() | swapped
    row = int(bad.argmax())
    raise DataError(
        f"column {name!r} is not a time in row {row + 1} ({text[row][:40]!r}): correct it, or name the time column "
        "with time="
    )


def _day_first(text: list[str]) -> tuple[bool, np.ndarray[Any, np.dtype[np.bool_]]]:
    """Whether days stand before months, and the cells that say otherwise.

    A number above 12 in first place tells, or a dot. One cell decides for all: pandas, cell by cell, would take 31/01
    for the last of January and the 01/02 that follows for its second.
    """
    found = [_DATE.match(cell) for cell in text]
    day_first = any(match and (int(match[1]) > 12 or match[2] == ".") for match in found)
    swapped = [bool(day_first and match and int(match[3]) > 12) for match in found]
    return day_first, np.array(swapped, dtype=bool)


def _refuse_empty(empty: np.ndarray[Any, np.dtype[np.bool_]], name: str) -> None:
    if empty.any():
        row = int(empty.argmax()) + 1
        raise DataError(f"the time column {name!r} is empty in row {row}: drop the row or fill it in")
