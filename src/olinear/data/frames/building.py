"""From a panel back to a user's own kind of frame."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from olinear.core import DataError
from olinear.data.frames.panel import FrameStyle, Panel, Values


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
