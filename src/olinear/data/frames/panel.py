"""A set of series on one time grid, and what the user's table looked like."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from olinear.core import DataError, Note
from olinear.data.frames.frequency import Frequency, find_frequency

Values = NDArray[np.float64]
LARGEST = 1e100  # squares and sums of what is larger leave the range of doubles


@dataclass(frozen=True)
class FrameStyle:
    """What a user's table looks like, so that answers come back as the same kind, and more rows are read alike."""

    backend: Literal["pandas", "polars", "pyarrow"] = "pandas"
    layout: Literal["wide", "long"] = "wide"
    time: str = "time"
    id: str = "unique_id"
    value: str = "y"
    indexed: bool = False  # pandas: time is the index
    dates: bool = False  # polars, pyarrow: times are days without hours
    numbered: bool = False  # long: ids are whole numbers of 64 bits
    time_format: str | None = None  # what times of whole numbers are
    dayfirst: bool | None = None  # the order that text has, where it was found in the rows
    zone: str | None = None  # of the times, which text does not name
    wall: bool = False  # changing offsets were left out, and clock times kept
    decimal: str | None = None  # text: the signs in numbers, where they are not the plain ones
    thousands: str | None = None
    left_out: tuple[str, ...] = ()  # columns that are no series


@dataclass(frozen=True)
class Panel:
    """Series on one grid: `values [rows, series]`, NaN where missing, `times [rows]`, and notes on what was found."""

    values: Values
    times: pd.Index
    series: list[str]
    frequency: Frequency
    style: FrameStyle = field(default_factory=FrameStyle)
    notes: list[Note] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.values)

    @property
    def missing(self) -> int:
        """How many values are missing."""
        return int(np.isnan(self.values).sum())

    def refuse_gaps(self) -> None:
        """Raise if a value is missing."""
        if self.missing:
            row, column = np.argwhere(np.isnan(self.values))[0]
            raise DataError(
                f"column {self.series[column]!r} has no value at {self.times[row]} ({self.missing} are missing in "
                "all): fill them in, or fit with missing='bridge'"
            )

    def rows(self, span: slice) -> Self:
        """Some of its rows."""
        return replace(self, values=self.values[span], times=self.times[span])

    def pick(self, series: Sequence[str]) -> Self:
        """The given series in the given order; all must be there, and no others."""
        place = {name: at for at, name in enumerate(self.series)}
        wanted = set(series)
        absent = [name for name in series if name not in place]
        unknown = [name for name in self.series if name not in wanted]
        if absent:
            raise DataError(
                f"series missing from the data: {listed(absent)}; the model was fitted with {listed(series)}"
            )
        if unknown:
            raise DataError(f"series the model does not know: {listed(unknown)}: drop them, or fit again with them")
        return replace(self, values=self.values[:, [place[name] for name in series]], series=list(series))


def on_grid(panel: Panel, freq: str | None, may_be_empty: Collection[str] = ()) -> Panel:
    """Sort rows by time, refuse duplicates and infinite values, lay the rows on their grid.

    The panel's own frequency is not looked at. A series without any value is refused, but for those named.
    """
    times, values, series, notes = panel.times, panel.values, panel.series, list(panel.notes)
    if not times.is_monotonic_increasing:
        order = np.argsort(times.to_numpy(), kind="stable")
        times, values = times[order], values[order]
        notes.append(Note("rows-sorted", "rows were not in the order of time and have been sorted"))
    if not times.is_unique:
        first = times[times.duplicated()][0]
        raise DataError(f"the time {first} occurs more than once: keep one row for each time (and series)")
    if np.nanmax(np.abs(values), initial=0.0) > LARGEST:
        row, column = np.argwhere(np.abs(values) > LARGEST)[0]
        kind = "an infinite value" if np.isinf(values[row, column]) else f"a value beyond {LARGEST:g}"
        raise DataError(f"column {series[column]!r} has {kind} at {times[row]}: correct it or make it missing")
    empty = [series[at] for at in np.flatnonzero(np.isnan(values).all(0)) if series[at] not in may_be_empty]
    if empty:
        raise DataError(f"column {empty[0]!r} has no value at all: drop it")
    frequency = find_frequency(times, freq)
    grid = frequency.grid(times)
    if len(grid) > len(times):
        text = f"{len(grid) - len(times)} rows are missing from the {frequency.step} grid and count as gaps"
        notes.append(Note("grid-filled", text))
        full = np.full((len(grid), values.shape[1]), np.nan)
        full[grid.get_indexer(times)] = values
        times, values = grid, full
    return replace(panel, values=values, times=times, frequency=frequency, notes=notes)


def listed(names: Sequence[str], most: int = 5) -> str:
    """The first few names."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
