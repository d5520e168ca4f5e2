"""A set of series on one time grid, and its way from and to a user's own kind of frame."""

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from olinear.core import DataError
from olinear.data.frames.frequency import Frequency, find_frequency

Values = NDArray[np.float64]
LARGEST = 1e100  # squares and sums of what is larger leave the range of doubles


@dataclass(frozen=True)
class FrameStyle:
    """What a user's frame looks like, so that answers come back as the same kind."""

    backend: Literal["pandas", "polars", "pyarrow"] = "pandas"
    layout: Literal["wide", "long"] = "wide"
    time: str = "time"
    id: str = "unique_id"
    value: str = "y"
    indexed: bool = False  # pandas: time is the index
    dates: bool = False  # polars, pyarrow: times are days without hours
    numbered: bool = False  # long: ids are whole numbers of 64 bits


@dataclass(frozen=True)
class Panel:
    """Series on one grid: `values [rows, series]`, NaN where missing, `times [rows]`, and notes on what was found."""

    values: Values
    times: pd.Index
    series: list[str]
    frequency: Frequency
    style: FrameStyle = field(default_factory=FrameStyle)
    notes: list[str] = field(default_factory=list)

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

    def pick(self, series: list[str]) -> Self:
        """The given series in the given order; all must be there, and no others."""
        places, wanted = {name: place for place, name in enumerate(self.series)}, set(series)
        unknown = [name for name in self.series if name not in wanted]
        absent = [name for name in series if name not in places]
        if absent:
            raise DataError(
                f"series missing from the data: {_listed(absent)}; the model was fitted with {_listed(series)}"
            )
        if unknown:
            raise DataError(f"series the model does not know: {_listed(unknown)}: drop them, or fit again with them")
        return replace(self, values=self.values[:, [places[name] for name in series]], series=list(series))


def on_grid(
    times: pd.Index, values: Values, series: list[str], style: FrameStyle, freq: str | None, notes: list[str]
) -> Panel:
    """Sort rows by time, refuse duplicates and infinite values, lay the rows on their grid."""
    if not times.is_monotonic_increasing:
        order = np.argsort(times.to_numpy(), kind="stable")
        times, values = times[order], values[order]
        notes.append("rows were not in the order of time and have been sorted")
    if not times.is_unique:
        first = times[times.duplicated()][0]
        raise DataError(f"the time {first} occurs more than once: keep one row for each time (and series)")
    too_large = np.abs(values) > LARGEST
    if too_large.any():
        row, column = np.argwhere(too_large)[0]
        kind = "an infinite value" if np.isinf(values[row, column]) else f"a value beyond {LARGEST:g}"
        raise DataError(f"column {series[column]!r} has {kind} at {times[row]}: correct it or make it missing")
    for name, column in zip(series, values.T, strict=True):
        if np.isnan(column).all():
            raise DataError(f"column {name!r} has no value at all: drop it")
    frequency = find_frequency(times, freq)
    grid = frequency.grid(times)
    if len(grid) > len(times):
        notes.append(f"{len(grid) - len(times)} rows are missing from the {frequency.step} grid and count as gaps")
        full = np.full((len(grid), values.shape[1]), np.nan)
        full[grid.get_indexer(times)] = values
        times, values = grid, full
    return Panel(values, times, series, frequency, style, notes)


def build_frame(panel: Panel, columns: dict[str, Values], extra: dict[str, pd.Index] | None = None) -> Any:
    """A frame of the panel's style. `columns` maps a suffix ("" for the values themselves) to `[rows, series]`.

    Wide: time, then for each series its columns. Long: id, time, then the columns. `extra` are further columns of
    one value a row, next to the time.
    """
    style, rows, extra = panel.style, len(panel.times), extra or {}
    data: dict[str, Any]
    if style.layout == "wide":
        data = {**extra, style.time: panel.times}
        names = [*data, *(f"{name}{suffix}" for name in panel.series for suffix in columns)]
        if len(set(names)) < len(names):
            clash = next(name for name, count in Counter(names).items() if count > 1)
            raise DataError(f"the answer would have two columns called {clash!r}: rename that series")
        by_series = {suffix: values.T.copy() for suffix, values in columns.items()}  # series rows: the frame's own
        for index, name in enumerate(panel.series):
            data |= {f"{name}{suffix}": values[index] for suffix, values in by_series.items()}
    else:
        count = len(panel.series)
        ids = np.array(panel.series, dtype=object)
        data = {style.id: np.repeat(ids.astype(np.int64) if style.numbered else ids, rows)}
        again = np.tile(np.arange(rows), count)
        data |= {name: column.take(again) for name, column in {**extra, style.time: panel.times}.items()}
        data |= {f"{style.value}{suffix}": values.T.ravel() for suffix, values in columns.items()}
    return _to_native(data, style)


def make_table(data: dict[str, list[Any]], style: FrameStyle) -> Any:
    """A plain table of the user's kind."""
    return _to_native({name: pd.Index(column) for name, column in data.items()}, replace(style, indexed=False))


def _to_native(data: dict[str, Any], style: FrameStyle) -> Any:
    if style.backend == "pandas":
        frame = pd.DataFrame(data, copy=False)
        return frame.set_index(style.time) if style.indexed else frame
    import narwhals as nw

    columns = {}
    for name, column in data.items():
        if isinstance(column, pd.DatetimeIndex):
            series = _native_times(name, column, style)
        else:
            series = nw.new_series(name, column.tolist(), backend=style.backend)
        columns[name] = series.to_native()
    return nw.from_dict(columns, backend=style.backend).to_native()


def _native_times(name: str, times: pd.DatetimeIndex, style: FrameStyle) -> Any:
    """Times with their unit and zone, so that they can be joined to the user's own."""
    import narwhals as nw

    zone, polars = times.tz, style.backend == "polars"
    instants = times.tz_convert(None) if zone is not None else times
    if polars and times.unit == "s":  # which polars does not count in
        instants = instants.as_unit("ms")
    series = nw.new_series(name, instants.to_numpy(), backend=style.backend)
    if style.dates and instants.equals(instants.normalize()):
        return series.cast(nw.Date)
    if zone is None:
        return series
    text = str(zone)
    if text.startswith(("UTC+", "UTC-")):  # a bare offset: +05:30 for pyarrow, unknown to polars
        text = "UTC" if polars else text.removeprefix("UTC")
    return series.dt.replace_time_zone("UTC").dt.convert_time_zone(text)


def _listed(names: list[str], most: int = 5) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
