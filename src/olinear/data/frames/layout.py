"""How a table is laid out: wide or long, by names or by what its columns hold."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import narwhals as nw
import pandas as pd

from olinear.core import DataError, Note
from olinear.core.settings import ReadingSettings
from olinear.data.frames.columns import NAMELESS, TEXT, counts_steps, find_time, holds_whole, is_boolean
from olinear.data.frames.panel import FrameStyle
from olinear.data.frames.parts import find_parts, rest_of_date
from olinear.data.frames.selecting import split_names
from olinear.data.frames.tables import Table
from olinear.data.frames.times import reads_as_times

LONG_NAMES = ("unique_id", "ds", "y")
LEAST_FILLED = 0.5  # of the cells series × times, if an id that nobody names is to be one


@dataclass(frozen=True)
class Roles:
    """The names of the columns by what they are."""

    time: str
    id: str | None = None  # long tables
    value: str | None = None
    others: list[str] = field(default_factory=list)  # columns that may be series
    parts: tuple[str, ...] = ()  # columns of which the time is made

    @property
    def is_long(self) -> bool:
        return self.id is not None


def find_roles(
    table: Table, settings: ReadingSettings, like: FrameStyle | None, known: Collection[str], notes: list[Note]
) -> Roles:
    """The roles that are named or usual; else they follow from what columns hold.

    Args:
        table: with at least one row.
        settings: what a user asked for.
        like: the style of a table read before, whose names and layout are taken up where they fit.
        known: the series that such a table had.
        notes: takes what was decided.
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
    if set(LONG_NAMES) <= set(names):
        id, value, time = id or LONG_NAMES[0], value or LONG_NAMES[2], time or LONG_NAMES[1]
    dropped = set(split_names(settings.drop, names))
    others = {each for each in (id, value) if each} | {name for name in dropped if name in names}
    parts = find_parts(table, others) if time is None else ()
    time = "time" if parts else time or ("ds" if "ds" in names else find_time(table, others))
    if settings.time is None and not parts and NAMELESS.fullmatch(time) and counts_steps(table[time]):
        notes.append(
            Note("time-unit", f"{time!r}, which counts steps, was taken for the time: pass time= for another", [time])
        )
    if not parts and id is None and value is None and table.distinct(time) < len(table):
        parts = rest_of_date(table, time, others)
    if parts:
        text = f"the time was put together from the columns {', '.join(map(repr, parts))}"
        notes.append(Note("time-joined", text, parts))
    free = [name for name in names if name != time and name not in others and name not in parts]
    if id is not None or value is not None:
        return _complete(table, Roles(time, id, value, free, parts), notes)
    if not parts and settings.series is None and 2 * table.distinct(time) <= len(table):
        ids = _ids(table, time, free)
        if ids:
            return _complete(table, Roles(time, ids[0], None, [name for name in free if name != ids[0]]), notes)
    unknown = [name for name in dropped if name not in names] if like is None else []
    if unknown:
        raise DataError(f"there is no column {unknown[0]!r} to drop: the columns are {', '.join(map(repr, names))}")
    before = {*like.left_out} - {*known} if like is not None else set()
    return Roles(time, others=[name for name in free if name not in before], parts=parts)


def _complete(table: Table, roles: Roles, notes: list[Note]) -> Roles:
    """The id or the value of a long table, where only the other is known."""
    id, value, free = roles.id, roles.value, roles.others
    if id is None:
        id = LONG_NAMES[0] if LONG_NAMES[0] in free else next(iter(_ids(table, roles.time, free)), None)
        if id is None:
            raise DataError(f"a long frame needs a column {LONG_NAMES[0]!r}: name yours with id=")
    free = [name for name in free if name != id]
    if value is None:
        value = LONG_NAMES[2] if LONG_NAMES[2] in free else None
        numeric = [name for name in free if _may_be_value(table, name)] if value is None else []
        if len(numeric) > 1:
            ways = " or ".join(f"value={name!r}" for name in numeric[:3])
            raise DataError(
                f"the table is long, with a row for each {id!r} and time, and several columns have numbers: pass {ways}"
            )
        value = value or next(iter(numeric), None)
        if value is None:
            raise DataError(f"a long frame needs a column {LONG_NAMES[2]!r}: name yours with value=")
    if (roles.id, roles.value) != (id, value):
        text = f"read as a long table: {value!r} of each series in {id!r}"
        notes.append(Note("read-long", text, [id, value]))
    return replace(roles, id=id, value=value, others=[name for name in free if name != value])


def _ids(table: Table, time: str, names: Sequence[str]) -> list[str]:
    """Columns that tell apart the rows of a time, as few as they can; the first of several that say the same."""
    times = table.factorized(time)[0]
    rows, n_times = len(times), int(times.max()) + 1
    found: list[str] = []
    for whole in (False, True):
        for name in names:
            column = table[name]
            if whole != holds_whole(column) or (not whole and not _is_text(table, name)):
                continue
            codes = table.factorized(name)[0]
            n_ids = int(codes.max()) + 1
            if codes.min() < 0 or n_ids * n_times * LEAST_FILLED > rows or n_ids < 2:
                continue
            if not pd.Series(codes * n_times + times).duplicated().any():
                found.append(name)
        if found:
            break
    if len(found) > 1:
        first = pd.Series(table[found[0]].to_list(), dtype=object)
        for other in found[1:]:
            if pd.Series(table[other].to_list(), dtype=object).groupby(first).nunique().max() > 1:
                raise DataError(
                    f"series can be those of {found[0]!r} or of {other!r}: pass id={found[0]!r} or id={other!r}"
                )
    return found


def _is_text(table: Table, name: str) -> bool:
    column = table[name]
    return table.schema[name] in TEXT and not is_boolean(column) and not reads_as_times(column)


def _may_be_value(table: Table, name: str) -> bool:
    """Whether a column has numbers, in whatever style they are written."""
    kind = table.schema[name]
    if kind == nw.Boolean or table.holds_times(name):
        return False
    if kind not in TEXT:
        return bool(kind.is_numeric())
    cells = [str(cell) for cell in table[name].head(50).to_list() if cell not in ("", None)]
    return not reads_as_times(table[name]) and sum(map(_has_digits, cells)) * 2 > len(cells)


def _has_digits(cell: str) -> bool:
    return any(sign.isdigit() for sign in cell) and sum(sign.isalpha() for sign in cell) < 2
