"""From a column of a user's table to times: instants with their zone, dates, text, or whole numbers."""

import datetime
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from olinear.core import ConfigError, DataError, Note
from olinear.data.frames.clock import Clock, place
from olinear.data.frames.dates import BARE, parse_pattern, parse_text
from olinear.data.frames.numbered import STEPS, could_be_dates, read_numbers

Column = nw.Series[Any]
WHOLE = re.compile(r"[+-]?\d{1,18}(\.0*)?")
FRACTION = re.compile(r"[+-]?\d+\.\d+([eE][+-]?\d+)?")
NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|\d{1,3}([.,' ]\d{3})+([.,]\d+)?)([eE][+-]?\d+)?")
FIRST = 5  # cells by which text is known to hold times


def holds_times(column: Column) -> bool:
    """Whether the type of a column says that it holds times."""
    cells = column.to_native()
    if isinstance(cells, pd.Series) and _is_pandas_time(cells):
        return True
    return isinstance(column.dtype, nw.Datetime) or column.dtype == nw.Date


def reads_as_times(column: Column) -> bool:
    """Whether a column holds text (or objects) whose first cells read as times, and are not mere numbers."""
    if column.dtype not in (nw.String, nw.Object, nw.Categorical):
        return False
    cells = [cell for cell in column.drop_nulls().head(FIRST * 4).to_list() if cell != ""][:FIRST]
    if not cells or not all(isinstance(cell, str | datetime.date) for cell in cells):
        return False
    texts = [str(cell).strip() for cell in cells]
    if any(map(NUMBER.fullmatch, texts)):
        return False
    try:
        parse_text(texts, column.name, Clock(dayfirst=_any_day_first(texts)), [])
    except (DataError, ConfigError):
        return False
    return True


def _any_day_first(texts: list[str]) -> bool:
    """Some order, when it is only asked whether the cells are dates in any."""
    return any(re.match(r"(1[3-9]|[23]\d)[-/. ]", text) for text in texts)


def same_times(one: Column, other: Column) -> bool:
    """Whether two columns hold the same instants, written in different ways or zones."""
    try:
        first, second = (read_times(column, Clock(utc=True), [])[0] for column in (one, other))
    except (DataError, ConfigError):
        return False
    return len(first) == len(second) and bool((first == second).all())  # `equals` of pandas 2 also compares units


def reads_as_clock(column: Column) -> bool:
    """Whether all cells are clock times without a date."""
    if column.dtype not in (nw.String, nw.Object):
        return False
    cells = column.head(FIRST).to_list()
    return bool(cells) and all(isinstance(cell, datetime.time) or BARE.fullmatch(str(cell).strip()) for cell in cells)


def reads_as_numbered(column: Column) -> bool:
    """Whether a column that nothing marks as the time has whole numbers that are dates on a grid."""
    if column.dtype.is_integer():
        return not column.is_null().any() and could_be_dates(column.cast(nw.Int64).to_numpy(), column.name)
    if column.dtype not in (nw.String, nw.Object):
        return False
    texts = [str(cell).strip() for cell in column.to_list()]
    if not all(map(WHOLE.fullmatch, texts)):
        return False
    return could_be_dates(np.array([int(text.split(".")[0]) for text in texts]), column.name)


def read_times(
    column: Column, clock: Clock, notes: list[Note], factorized: Callable[[str], Any] | None = None
) -> tuple[pd.Index, Clock]:
    """A column as times, and what was decided; an empty cell is refused by its row.

    `factorized` gives the different cells of the column of that name, if they are known already.
    """
    name, cells = column.name, column.to_native()
    _refuse_empty(column.is_null().to_numpy(), name)
    if isinstance(cells, pd.Series) and _is_pandas_time(cells):
        period = isinstance(cells.dtype, pd.PeriodDtype)
        return place(pd.DatetimeIndex(cells.dt.to_timestamp() if period else cells), name, clock, False), clock
    if isinstance(column.dtype, nw.Datetime) or column.dtype == nw.Date:
        times = pd.DatetimeIndex(column.to_numpy())
        zone = getattr(column.dtype, "time_zone", None)
        if zone and times.tz is None:
            times = times.tz_localize("UTC")
        return place(times.tz_convert(zone) if zone else times, name, clock, False), clock
    if column.dtype.is_numeric():
        numbers = _exact(column)
        if clock.pattern is None:
            return _of_numbers(numbers, name, clock, notes)
        texts = [str(number) for number in numbers.tolist()]
        width = max(map(len, texts))  # a zero in front is lost in a number
        return place(
            parse_pattern([text.zfill(width) for text in texts], name, clock.pattern), name, clock, True
        ), clock
    if factorized is None:
        cells = np.empty(len(column), dtype=object)
        cells[:] = column.to_list()
        codes, distinct = pd.factorize(cells, use_na_sentinel=False)
    else:
        codes, distinct = factorized(name)
    once = [str(cell).strip() for cell in distinct]
    empty = pd.Index(once).isin(["", "nan", "NaN", "NaT", "None"])
    if empty.any():
        _refuse_empty(empty[codes], name)
    return _of_text(once, codes, name, clock, notes)


def _of_text(
    once: list[str], codes: NDArray[np.intp], name: str, clock: Clock, notes: list[Note]
) -> tuple[pd.Index, Clock]:
    """Each different text is read once: in a long table most come many times."""
    if all(map(WHOLE.fullmatch, once)) and clock.pattern is None:
        return _of_numbers(np.array([int(text.split(".")[0]) for text in once])[codes], name, clock, notes)
    if clock.pattern is None and all(FRACTION.fullmatch(text) or WHOLE.fullmatch(text) for text in once):
        return _of_numbers(np.array(once, dtype=np.float64)[codes], name, clock, notes)
    try:
        times, clock = _parse(once, name, clock, notes)
    except DataError:
        if len(once) == len(codes):
            raise
        _parse([once[code] for code in codes], name, clock, [])  # for the row in its message
        raise
    in_order = len(once) == len(codes)  # then codes are 0, 1, 2, ...
    return place(times if in_order else times.take(codes), name, clock, True), clock


def _parse(texts: list[str], name: str, clock: Clock, notes: list[Note]) -> tuple[pd.DatetimeIndex, Clock]:
    if clock.pattern is not None:
        return parse_pattern(texts, name, clock.pattern), clock
    return parse_text(texts, name, clock, notes)


def _of_numbers(numbers: NDArray[Any], name: str, clock: Clock, notes: list[Note]) -> tuple[pd.Index, Clock]:
    times, decided = read_numbers(numbers, name, clock, notes)
    if decided.time_format == STEPS or not isinstance(times, pd.DatetimeIndex):
        return times, decided
    if decided.time_format in ("epoch_s", "epoch_ms", "epoch_us", "epoch_ns"):
        return place(times, name, replace(clock, utc=clock.utc or clock.tz is not None), True), decided
    return place(times, name, clock, True), decided


def _exact(column: Column) -> NDArray[Any]:
    """Numbers of a column, whole ones as such."""
    if column.dtype.is_integer():
        low, high = int(column.min()), int(column.max())
        if not -(2**63) <= low <= high < 2**63:
            raise DataError(
                f"the time column {column.name!r} has numbers too large to count with: use dates or small steps"
            )
        return column.cast(nw.Int64).to_numpy()
    numbers = np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    whole = np.isfinite(numbers).all() and (numbers == np.floor(numbers)).all() and np.abs(numbers).max() < 2**53
    return numbers.astype(np.int64) if whole else numbers


def _is_pandas_time(cells: "pd.Series[Any]") -> bool:
    """Asked of pandas itself: narwhals does not know all of its zones, such as America/New_York."""
    return pd.api.types.is_datetime64_any_dtype(cells.dtype) or isinstance(cells.dtype, pd.PeriodDtype)


def _refuse_empty(empty: NDArray[np.bool_], name: str) -> None:
    if empty.any():
        row = int(empty.argmax()) + 1
        raise DataError(f"the time column {name!r} is empty in row {row}: drop the row or fill it in")
