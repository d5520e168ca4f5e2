"""A user's table, file or frame, opened: its columns by name, and what is known of how they are written."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from olinear.core import DataError, Note
from olinear.core.settings import ReadingSettings
from olinear.data.frames.dialect import is_data
from olinear.data.frames.files import open_table
from olinear.data.frames.numbers import numbers_of_column
from olinear.data.frames.times import holds_times

LONGEST_FOOTER = 20


@dataclass(frozen=True)
class Table:
    """Columns of any kind of frame.

    Args:
        frame: the frame.
        indexed: whether its times were the index.
        sep: what separated its cells, of a text file: then all cells are text, and ``""`` is a missing one.
        notes: what was decided so far.
    """

    frame: "nw.DataFrame[Any]"
    indexed: bool = False
    sep: str | None = None
    notes: list[Note] = field(default_factory=list)
    _factorized: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.frame)

    def __getitem__(self, name: str) -> "nw.Series[Any]":
        return self.frame[name]

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The type of each column, found once: narwhals looks at all of them each time it is asked."""
        if self.sep is not None:
            return dict.fromkeys(self.frame.columns, nw.String())
        return dict(self.frame.schema)

    @property
    def names(self) -> list[str]:
        return list(self.schema)

    @property
    def backend(self) -> str:
        return str(self.frame.implementation.value)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: at for at, name in enumerate(self.names)}

    @cached_property
    def _text(self) -> NDArray[np.object_]:
        """All cells of a text file, without a look at each column by itself."""
        return self.frame.to_native().to_numpy()

    def cells(self, name: str) -> NDArray[np.object_]:
        """The cells of a column as they are."""
        if self.sep is not None:
            return self._text[:, self._places[name]]
        cells = np.empty(len(self), dtype=object)
        cells[:] = self.frame[name].to_list()
        return cells

    def numbers(self, names: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        """Columns of numbers as doubles, all at once where pandas has them."""
        native = self.frame.to_native()
        if isinstance(native, pd.DataFrame) and names:
            values = native[list(names)].to_numpy(np.float64, na_value=np.nan)
            return dict(zip(names, values.T, strict=True))
        return {name: numbers_of_column(self.frame[name]) for name in names}

    def holds_times(self, name: str) -> bool:
        """Whether the type of a column says that it holds times; of pandas' zones narwhals does not know all."""
        kind = self.schema[name]
        return isinstance(kind, nw.Datetime | nw.Date) or (kind == nw.Unknown and holds_times(self.frame[name]))

    def distinct(self, name: str) -> int:
        """How many different cells a column has."""
        return len(self.factorized(name)[1]) if self.sep is not None else int(self.frame[name].n_unique())

    def factorized(self, name: str) -> tuple[NDArray[np.intp], NDArray[np.object_]]:
        """For each row the number of its cell among the different ones, and those; kept, as times need it twice."""
        if name not in self._factorized:
            native = self.frame.to_native()
            typed = isinstance(native, pd.DataFrame) and native[name].dtype != object
            self._factorized[name] = pd.factorize(native[name] if typed else self.cells(name), use_na_sentinel=False)
        return self._factorized[name]


def without_footer(table: Table, time: str, notes: list[Note]) -> Table:
    """A text file without what follows its last row: sums, sources, remarks."""
    if table.sep is None:
        return table
    last = [tuple(row) for row in table._text[-LONGEST_FOOTER:]]
    at, rows = table.names.index(time), 0
    usual = {_shape(str(cells[at])) for cells in last if any(cells[:at] + cells[at + 1 :])}
    for cells in reversed(last):
        cell = str(cells[at])
        alone = not any(cells[:at] + cells[at + 1 :]) and not is_data(cell) and _shape(cell) not in usual
        if any(sign.isdigit() for sign in cell) and not alone:
            break
        rows += 1
    if not 0 < rows < min(len(table), LONGEST_FOOTER) or not any(str(cells[at]) for cells in last[-rows:]):
        return table
    text = f"rows at the end without a time, {rows} from {str(last[-rows][at])[:40]!r} on, were left out"
    notes.append(Note("rows-left-out", text))
    return replace(table, frame=table.frame.head(len(table) - rows), _factorized={})


def _shape(cell: str) -> str:
    """What times of one kind have in common: numbers and words by their places."""
    return re.sub(r"[^\W\d]+", "a", re.sub(r"\d+", "0", cell))


def open_any(data: Any, settings: ReadingSettings) -> Table:
    """A table from a path (`-` for standard input), or from a frame of pandas, polars or pyarrow."""
    if isinstance(data, str | Path):
        frame, sep, notes = open_table(str(data), settings)
        table, indexed = _open_frame(frame)
        return Table(table, indexed, sep, notes)
    table, indexed = _open_frame(data)
    return Table(table, indexed)


def _open_frame(frame: Any) -> tuple["nw.DataFrame[Any]", bool]:
    indexed = False
    if isinstance(frame, pd.Series):
        frame = frame.to_frame()
    if isinstance(frame, pd.DataFrame):
        if isinstance(frame.columns, pd.MultiIndex):
            raise DataError(f"columns have several levels, such as {frame.columns[0]}: give each one name of text")
        frame = frame.rename(columns=str)
        if isinstance(frame.index, pd.PeriodIndex):
            frame = frame.set_axis(frame.index.to_timestamp())
        if isinstance(frame.index, pd.DatetimeIndex):
            indexed, index = True, str(frame.index.name or "time")
            if index in frame.columns:
                raise DataError(f"the index of times and a column are both called {index!r}: rename or drop one")
            frame = frame.rename_axis(index).reset_index()
    names = pd.Index(frame.columns if isinstance(frame, pd.DataFrame) else getattr(frame, "column_names", []))
    if not names.is_unique:
        raise DataError(f"several columns are called {names[names.duplicated()][0]!r}: rename or drop all but one")
    try:
        table = nw.from_native(frame)
    except TypeError as error:
        raise DataError(f"data must be a pandas, polars or pyarrow frame, found {type(frame).__name__}") from error
    if isinstance(table, nw.LazyFrame):
        table = table.collect()
    if not isinstance(table, nw.DataFrame) or table.implementation.value not in ("pandas", "polars", "pyarrow"):
        raise DataError(f"data must be a pandas, polars or pyarrow frame, found {type(frame).__name__}")
    return table, indexed
