"""The values of a table, wide or long, as rows × series."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from olinear.core import DataError, Note
from olinear.core.settings import ReadingSettings
from olinear.data.frames.columns import TEXT, counts_rows, is_boolean, left_out, part_of_time
from olinear.data.frames.decimals import read_columns
from olinear.data.frames.files import all_whole
from olinear.data.frames.layout import Roles
from olinear.data.frames.numbers import (
    NumberStyle,
    Parsed,
    Values,
    given_style,
    numbers_of,
    numbers_of_column,
    refuse_bad,
)
from olinear.data.frames.panel import FrameStyle, listed
from olinear.data.frames.selecting import nearest, split_names
from olinear.data.frames.tables import Table
from olinear.data.frames.times import reads_as_times


@dataclass(frozen=True)
class Request:
    """What is wanted of a table: the roles of its columns, the settings, and what earlier rows were like."""

    roles: Roles
    settings: ReadingSettings
    like: FrameStyle | None
    known: Sequence[str]

    def numbers(self, table: Table, names: Sequence[str], notes: list[Note]) -> tuple[dict[str, Parsed], NumberStyle]:
        """Columns of text as numbers."""
        cells = {name: table.cells(name) for name in names}
        given = given_style(self.settings.decimal, self.settings.thousands, self.settings.na or ())
        if table.sep is None:
            style = given or NumberStyle(na=frozenset(self.settings.na or ()))
            return {name: numbers_of(each, style) for name, each in cells.items()}, style
        earlier = None
        if self.like is not None and self.like.decimal is not None:
            earlier = NumberStyle(self.like.decimal, self.like.thousands)
        return read_columns(cells, table.sep, given, self.settings.na or (), earlier, notes)

    def without_marks(self, values: Values) -> Values:
        """Numbers without those that stand for missing values."""
        marks = [float(mark) for mark in self.settings.na or () if _is_number(mark)]
        return np.where(np.isin(values, marks), np.nan, values) if marks else values


@dataclass(frozen=True)
class Found:
    """Rows × series, and how they were written."""

    times: pd.Index
    values: Values
    series: list[str]
    style: NumberStyle
    left_out: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)  # columns of text among them
    numbered: bool = False  # long: ids are whole numbers


def read_wide(table: Table, times: pd.Index, request: Request, notes: list[Note]) -> Found:
    """Every numeric column but the time, or those that were asked for."""
    roles, asked = request.roles, split_names(request.settings.series, table.names)
    absent = [name for name in asked if name not in table.schema or name == roles.time]
    if absent and not request.known:
        raise DataError(f"there is no column {absent[0]!r}: {nearest(absent[0], table.names)}")
    names = [name for name in asked if name not in absent] or roles.others
    forced, reasons = {*asked, *request.known}, _Reasons()
    texts = [name for name in names if is_text(table, name)]
    parsed, style = request.numbers(table, texts, notes)
    numbers = table.numbers([name for name in names if table.schema[name].is_numeric()])
    columns: dict[str, Values] = {}
    for name in names:
        values = numbers[name] if name in numbers else _other_column(table, name, parsed, name in forced, reasons)
        if values is None:
            continue
        values = request.without_marks(values)
        if name not in forced and counts_rows(name, values):
            reasons.add("numbers the rows", name)
        elif name not in forced and part_of_time(name, values, times):
            reasons.add("repeats a part of the time", name)
        elif np.isnan(values).all() and name not in request.known:
            if name in asked:
                raise DataError(f"column {name!r} has no value at all: drop it")
            reasons.add("has no value", name)
        else:
            columns[name] = values
    if not columns:
        if reasons.text:
            _refuse_text(table, reasons.text[0], parsed)
        empty = f"; {listed(reasons['has no value'])} have no value" if reasons["has no value"] else ""
        raise DataError(
            f"no numeric column next to {roles.time!r}: pass a table with at least one series of numbers{empty}"
        )
    notes.extend(left_out(reasons))
    if request.like is not None:
        reasons.add("were left out before", *request.like.left_out)
    every = list(dict.fromkeys(name for group in reasons.values() for name in group))
    return Found(times, np.stack(list(columns.values()), axis=1), list(columns), style, every, reasons.text)


class _Reasons(dict[str, list[str]]):
    """Why columns are no series, each with its names."""

    def __missing__(self, reason: str) -> list[str]:
        return []

    def add(self, reason: str, *names: str) -> None:
        self[reason] = [*self[reason], *names]

    @property
    def text(self) -> list[str]:
        return self["holds text"]


def _other_column(table: Table, name: str, parsed: dict[str, Parsed], forced: bool, reasons: _Reasons) -> Values | None:
    """The numbers of a column that is not typed as such; None, and why, if it has other things."""
    if name in parsed and not parsed[name][1].any():
        return parsed[name][0]
    column = table[name]
    if table.schema[name] == nw.Boolean and forced:
        return np.asarray(column.cast(nw.Float64).to_numpy(), dtype=np.float64)
    if not forced and is_boolean(column):
        reasons.add("holds booleans", name)
        return None
    if table.holds_times(name):
        if forced:
            raise DataError(f"column {name!r} holds times, no numbers: drop it")
        reasons.add("holds times", name)
        return None
    if name not in parsed:
        return numbers_of_column(column)
    values, bad = parsed[name]
    if forced or bad.sum() <= (~np.isnan(values)).sum():
        _refuse_text(table, name, parsed)
    reasons.add("holds times" if reads_as_times(column) else "holds text", name)
    return None


def _refuse_text(table: Table, name: str, parsed: dict[str, Parsed]) -> None:
    refuse_bad(name, table.cells(name), parsed[name][1])


def is_text(table: Table, name: str) -> bool:
    """Whether a column has text, and not objects of other kinds."""
    if table.sep is not None or table.schema[name] == nw.String:
        return True
    if table.schema[name] not in TEXT:
        return False
    return all(isinstance(cell, str) or cell is None or cell is pd.NA or cell != cell for cell in table.cells(name))


def read_long(table: Table, times: pd.Index, request: Request, notes: list[Note]) -> Found:
    """One row for each series and time, laid out as rows × series in the natural order of ids."""
    roles = request.roles
    assert roles.id is not None
    assert roles.value is not None
    style = NumberStyle()
    if is_text(table, roles.value):
        parsed, style = request.numbers(table, [roles.value], notes)
        _refuse_text(table, roles.value, parsed)
        numbers = parsed[roles.value][0]
    else:
        numbers = numbers_of_column(table[roles.value])
    numbers = request.without_marks(numbers)
    ids, numbered = _ids(table, roles.id)
    codes, distinct = pd.factorize(ids)
    series = [str(name) for name in distinct]
    kept = _kept_series(series, codes, numbers, request, notes)
    where = {name: at for at, name in enumerate(series)}
    place = np.full(len(series), -1)
    place[[where[name] for name in kept]] = np.arange(len(kept))
    column = place[codes]
    rows = column >= 0
    times, numbers, column = times[rows], numbers[rows], column[rows]
    row_of, grid = _rows_of(times)
    cell = row_of * len(kept) + column
    order = np.sort(cell)
    if (order[1:] == order[:-1]).any():
        at = int(pd.Series(cell).duplicated().argmax())
        raise DataError(f"series {kept[column[at]]!r} has the time {times[at]} more than once: keep one row for each")
    values = np.full((len(grid), len(kept)), np.nan)
    values[row_of, column] = numbers
    others = {"is neither time, id nor value": roles.others} if roles.others else {}
    notes.extend(left_out(others))
    return Found(grid, values, kept, style, numbered=numbered)


def _rows_of(times: pd.Index) -> tuple[NDArray[np.intp], pd.Index]:
    """The row of each time on the sorted axis of all distinct ones, and that axis."""
    codes, distinct = pd.factorize(times, sort=True)
    return codes, pd.Index(distinct)


def _ids(table: Table, name: str) -> tuple[NDArray[np.object_], bool]:
    """Ids as text, and whether they are whole numbers: in text, all of them to the last one."""
    column = table[name]
    cells = column.to_list()
    ids = pd.Series(cells, dtype=object)
    empty = ids.isna() | (ids == "") if table.sep is not None else ids.isna()
    if empty.any():
        row = int(empty.argmax()) + 1
        raise DataError(f"the id column {name!r} is empty in row {row}: drop the row or name its series")
    if table.sep is None:
        return ids.map(str).to_numpy(dtype=object), bool(table.schema[name].is_signed_integer())
    texts = ids.str.strip()
    return texts.to_numpy(dtype=object), all_whole(texts.unique().tolist())


def _kept_series(
    series: Sequence[str], codes: NDArray[np.intp], numbers: Values, request: Request, notes: list[Note]
) -> list[str]:
    """The series that were asked for, in that order, or all that have a value, in natural order."""
    settings = request.settings
    asked, dropped = split_names(settings.series, series), set(split_names(settings.drop, series))
    if not request.known:
        absent = [name for name in [*asked, *dropped] if name not in set(series)]
        if absent:
            raise DataError(f"there is no series {absent[0]!r} in {request.roles.id!r}: {nearest(absent[0], series)}")
    filled = np.bincount(codes[~np.isnan(numbers)], minlength=len(series)) > 0
    has_value = dict(zip(series, filled.tolist(), strict=True))
    for name in asked:
        if name in has_value and not has_value[name] and not request.known:
            raise DataError(f"series {name!r} has no value at all: drop it")
    wanted = [name for name in asked if name in has_value] or sorted(series, key=natural)
    wanted = [name for name in wanted if name not in dropped]
    known = set(request.known)
    empty = [name for name in wanted if not has_value[name] and name not in known]
    if len(empty) == len(wanted):
        raise DataError(f"no series has a value in {request.roles.value!r}: pass a table with numbers")
    if empty:
        notes.append(Note("series-left-out", f"series {listed(empty)} have no value and were left out", empty))
    gone = set(empty)
    return [name for name in wanted if name not in gone]


def natural(name: str) -> tuple[list[tuple[int, int, str]], str]:
    """A key that sorts shop2 before shop10."""
    parts = re.findall(r"\d+|\D+", name)
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts], name


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
