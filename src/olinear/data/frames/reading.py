"""From a user's table, a file or a frame, wide or long, to a `Panel`.

The walk, and where each decision is taken and noted:

    sources     a path to bytes, unpacked                                 refused: unknown endings, damaged files
    dialect     bytes to text, where its cells and its header are         read-encoding, -delimiter, -preamble, -header
    files       text to columns of text; Parquet, Feather, Excel          read-sheet
    tables      files and frames of pandas, polars, pyarrow as one kind
    layout      wide or long: which column is the time, id, value         read-long
     columns    what a single column holds                                series-left-out
     parts      a time in several columns                                 time-joined
    times       a column to times: typed, numbers or text
     numbered   what whole numbers are                                    time-unit
     dates      the order of day and month                                time-dayfirst
     clock      offsets and zones                                         time-zone
    numbers     text to numbers
     decimals   the signs before decimals and between thousands           read-decimal, missing-mark
    series      rows × series, in one order of series
    panel       sorted, on one grid                                       rows-sorted, grid-filled
    doubts      what looks wrong in the values                            sentinel-suspected, outlier-suspected,
                                                                          series-constant, series-short,
                                                                          series-stale, number-precision

`building` and `writing` go the way back.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import narwhals as nw

from olinear.core import ConfigError, DataError
from olinear.core.settings import ReadingSettings, check_given
from olinear.data.frames.clock import Clock, repeats_of_an_autumn
from olinear.data.frames.doubts import doubts
from olinear.data.frames.frequency import Frequency
from olinear.data.frames.layout import find_roles
from olinear.data.frames.numbered import UNITS
from olinear.data.frames.panel import FrameStyle, Panel, on_grid
from olinear.data.frames.parts import join_parts
from olinear.data.frames.selecting import split_names
from olinear.data.frames.series import Found, Request, read_long, read_wide
from olinear.data.frames.tables import Table, open_any, without_footer
from olinear.data.frames.times import read_times

UNPLACED = Frequency("1", "integer")  # of a panel until its grid is found


def read_panel(data: Any, *, like: FrameStyle | None = None, known: Sequence[str] = (), **settings: Any) -> Panel:
    """Read a table as a panel.

    Args:
        data: a path (`-` for standard input), a frame of pandas, polars or pyarrow, or a panel. Wide: a time column and
            one numeric column a series; long: a row for each series and time, recognised by `id` or `value`, or by the
            names unique_id, ds and y. A pandas frame may carry its times as the index.
        like: the style of a table read before, which decides what is left open here.
        known: the series it had, which are series here whatever they hold.
        settings: of reading, by their names (docs/settings.md), such as `time`, `freq` or `dayfirst`.
    """
    wanted = ReadingSettings(**check_given(settings))
    if isinstance(data, Panel):
        return _read_again(data, wanted, known)
    table = open_any(data, wanted)
    if not len(table):
        raise DataError("the data has no rows: pass a table with a time column and at least one numeric column")
    notes = list(table.notes)
    roles = find_roles(table, wanted, like, known, notes)
    table = without_footer(table, roles.parts[0] if roles.parts else roles.time, notes)
    column = join_parts(table, roles.parts, roles.time) if roles.parts else table[roles.time]
    times, clock = read_times(column, _clock(wanted, like), notes, None if roles.parts else table.factorized)
    read = read_long if roles.is_long else read_wide
    found = read(table, times, Request(roles, wanted, like, known), notes)
    style = FrameStyle(
        backend=table.backend,  # type: ignore[arg-type]
        layout="long" if roles.is_long else "wide",
        time=_name_of_time(roles.time, table),
        id=roles.id or "unique_id",
        value=roles.value or "y",
        indexed=table.indexed,
        dates=column.dtype == nw.Date,
        numbered=found.numbered,
        time_format=None if clock.pattern else clock.time_format,
        dayfirst=clock.dayfirst,
        zone=str(found.times.tz) if getattr(found.times, "tz", None) is not None else None,
        wall=clock.wall,
        decimal=None if found.style.plain else found.style.decimal,
        thousands=found.style.thousands,
        left_out=tuple(found.left_out),
    )
    panel = Panel(found.values, found.times, found.series, UNPLACED, style, notes)
    if not roles.is_long and not found.times.is_unique:
        _refuse_repeated(panel, found)
    panel = on_grid(panel, wanted.freq, known)
    return replace(panel, notes=[*panel.notes, *doubts(panel)])


def _clock(wanted: ReadingSettings, like: FrameStyle | None) -> Clock:
    """How times are to be read: as asked for, or else as before."""
    like = like or FrameStyle()
    form = wanted.time_format
    if form is not None and "%" not in form and form not in UNITS:
        raise ConfigError(
            f"time_format must be a pattern such as '%d.%m.%Y', or one of {', '.join(UNITS)}, found {form!r}"
        )
    return Clock(
        time_format=wanted.time_format or like.time_format,
        dayfirst=like.dayfirst if wanted.dayfirst is None else wanted.dayfirst,
        dayfirst_given=wanted.dayfirst is not None,
        tz=wanted.tz,
        utc=wanted.utc,
        zone=like.zone,
        wall=like.wall,
        freq=wanted.freq,
    )


def _name_of_time(name: str, table: Table) -> str:
    """An index without a name is written as a column without one."""
    return "time" if name.startswith("Unnamed: ") and "time" not in table.names else name


def _refuse_repeated(panel: Panel, found: Found) -> None:
    """Times that stand several times: in a long table that is not known as one, or in a night of autumn."""
    first = panel.times[panel.times.duplicated()][0]
    if repeats_of_an_autumn(panel.times):
        way = "pass tz= with the zone in which clocks went back, or keep one row for each time"
    elif found.text:
        way = f"keep one row for each time, or, if {found.text[0]!r} names series, pass id={found.text[0]!r}"
    else:
        return
    raise DataError(f"the time {first} occurs more than once: {way}")


def _read_again(panel: Panel, wanted: ReadingSettings, known: Sequence[str]) -> Panel:
    """A panel with the checks of a frame; itself, if it is as it should be."""
    if panel.values.shape != (len(panel.times), len(panel.series)):
        raise DataError(
            f"the values of a panel must be {len(panel.times)} rows × {len(panel.series)} series, found "
            f"{panel.values.shape}"
        )
    if len(set(panel.series)) < len(panel.series):
        twice = next(name for name in panel.series if panel.series.count(name) > 1)
        raise DataError(f"several series are called {twice!r}: rename or drop all but one")
    chosen, dropped = split_names(wanted.series, panel.series), split_names(wanted.drop, panel.series)
    if chosen or dropped:
        names = [name for name in chosen or panel.series if name not in dropped]
        places = {name: at for at, name in enumerate(panel.series)}
        names = [name for name in names if name in places or not known]
        absent = [name for name in names if name not in places]
        if absent:
            raise DataError(f"there is no series {absent[0]!r} in the panel")
        if names != panel.series:
            panel = replace(panel, values=panel.values[:, [places[name] for name in names]], series=names)
    own = "rows" if panel.frequency.kind == "rows" else panel.frequency.step
    checked = on_grid(panel, wanted.freq or own, known)
    same = len(checked) == len(panel) and checked.times.equals(panel.times) and checked.frequency == panel.frequency
    return panel if same else checked
