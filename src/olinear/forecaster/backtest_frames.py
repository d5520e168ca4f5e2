"""Where the forecasts of a backtest go: into a frame, into a file piece by piece, or nowhere if there is no room."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from olinear.core import Note
from olinear.core.runtime import format_bytes, memory_budget
from olinear.data.frames import Panel, build_frame, check_streamable, open_stream, write_file

Values = NDArray[np.float64]
Origins = NDArray[np.intp]
# What making a frame takes, in numbers of 8 bytes a forecast: times its columns, and more in a long table for ids
# and times. As measured; polars and pyarrow get their columns by way of Python's numbers.
PANDAS, OTHERS = (2.5, 6.0), (4.0, 10.0)
LARGE = 10**9  # bytes that are worth a note before they are taken


class Kept:
    """Takes the forecasts of some origins after the others, and keeps none of them."""

    def __init__(self, *notes: Note):
        self.notes: list[str] = list(notes)

    def add(self, origins: Origins, columns: dict[str, Values]) -> None:
        """The next forecasts: the rows after which they begin, and by its suffix each column `w h n`."""

    def frame(self) -> Any:
        """All of them as a frame of the user's kind, if they are kept."""
        return None


class InMemory(Kept):
    """Keeps them as arrays until the frame is made, which is also written to `out` if that is given."""

    def __init__(self, panel: Panel, windows: int, out: str | None, *notes: Note):
        super().__init__(*notes)
        self._panel, self._out = panel, out
        self._origins = np.empty(windows, dtype=np.intp)
        self._columns: dict[str, Values] = {}
        self._done = 0

    def add(self, origins: Origins, columns: dict[str, Values]) -> None:
        place = slice(self._done, self._done + len(origins))
        for name, part in columns.items():
            if name not in self._columns:
                self._columns[name] = np.empty((len(self._origins), *part.shape[1:]))
            self._columns[name][place] = part
        self._origins[place] = origins
        self._done = place.stop

    def frame(self) -> Any:
        found = forecast_frame(self._panel, self._origins, self._columns)
        if self._out is not None:
            plain = _plain(self._panel)
            same = plain.style == self._panel.style
            write_file(found if same else forecast_frame(plain, self._origins, self._columns), self._out)
        return found


class InFile(Kept):
    """Writes them as they come: in a long table, window after window."""

    def __init__(self, panel: Panel, write: Callable[[pd.DataFrame], None], *notes: Note):
        super().__init__(*notes)
        self._panel, self._write = _plain(panel), write

    def add(self, origins: Origins, columns: dict[str, Values]) -> None:
        self._write(forecast_frame(self._panel, origins, columns))


@contextmanager
def keep_forecasts(panel: Panel, shape: tuple[int, int, int], levels: int, out: str | None) -> Iterator[Kept]:
    """What keeps the forecasts of so many windows, steps and series: a frame if it has room, else the file `out`."""
    size, budget = forecast_bytes(panel, shape, levels), memory_budget()
    what = "the forecasts of {} windows, {} steps and {} series".format(*shape)
    if size <= budget:
        large = Note("backtest-large", f"{what} take about {format_bytes(size)} of memory")
        yield InMemory(panel, shape[0], out, *([large] if size > LARGE else []))
        return
    what = f"{what} would take about {format_bytes(size)} of memory, and {format_bytes(budget)} may be used"
    if out is None:
        remedy = "pass out='forecasts.parquet', which takes them piece by piece, fewer windows, or more with memory="
        yield Kept(Note("backtest-forecasts-left-out", f"{what}: only scores are given; for the forecasts {remedy}"))
        return
    check_streamable(out)
    with open_stream(out) as write:
        yield InFile(panel, write, Note("backtest-streamed", f"{what}: they are written to {out} alone"))


def forecast_bytes(panel: Panel, shape: tuple[int, int, int], levels: int) -> int:
    """What a frame of all forecasts takes while it is made."""
    a_column, a_row = PANDAS if panel.style.backend == "pandas" else OTHERS
    numbers = (2 + 2 * levels) * a_column + (a_row if panel.style.layout == "long" else 0)
    return int(8 * np.prod(shape, dtype=float) * numbers)


def forecast_frame(panel: Panel, origins: Origins, columns: dict[str, Values]) -> Any:
    """One row for each origin and step; `columns` map a suffix to `w h n`."""
    horizon, n_series = columns[""].shape[1:]
    rows = (origins[:, None] + np.arange(horizon)).ravel()
    flat = {name: part.reshape(len(rows), n_series) for name, part in columns.items()}
    shown = replace(panel, values=flat[""], times=panel.times[rows])
    return build_frame(shown, flat, {"cutoff": panel.times[np.repeat(origins - 1, horizon)]})


def _plain(panel: Panel) -> Panel:
    """The panel whose frames are those of pandas, with a column of times."""
    return replace(panel, style=replace(panel.style, backend="pandas", indexed=False))
