"""One reader for each format the datasets are passed around in."""

import re
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from olinear.core import DataError, MissingDependencyError
from olinear.data.datasets.entries import Dataset
from olinear.data.frames import read_file

# Year first with - or / (pandas takes both for ISO), or month/day/year: 9/4/2014 is the fourth of September.
DATE_FORMS = ("ISO8601", "%m/%d/%Y", "%m/%d/%Y %H:%M", "%m/%d/%Y %H:%M:%S")
_OFFSET = re.compile(r":\d\d(?:\.\d+)?\s*(?:Z|[+-]\d\d:?(?:\d\d)?)$")  # after a clock time, or 2014-09 would end in one
DAMAGED = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError)


@dataclass(frozen=True)
class Table:
    """A file as it is: values `[rows, series]` with NaN where a cell is empty, times where it has them.

    Times with a UTC offset are given in UTC, others as they stand.
    """

    values: NDArray[np.float64]
    series: list[str]
    times: pd.DatetimeIndex | None


def read_table(path: str | Path) -> Table:
    """A file by its ending: `.csv` or `.parquet` with the date first, bare `.txt`, `.npz` (PEMS), `.h5` (METR-LA)."""
    path = Path(path)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise DataError(f"{path} is none of the formats of the datasets: {', '.join(READERS)}")
    if not path.is_file():
        raise DataError(f"there is no file {path}")
    try:
        table = reader(path)
    except (DataError, MissingDependencyError):
        raise
    except DAMAGED as error:
        raise DataError(f"{path} cannot be read as a {path.suffix} file of a dataset: {error}") from error
    if np.isinf(table.values).any():
        row, column = np.argwhere(np.isinf(table.values))[0]
        raise DataError(f"{path} holds an infinite value in row {row + 1} of {table.series[column]!r}: correct it")
    return table


def load_values(dataset: Dataset, path: str | Path) -> NDArray[np.float64]:
    """The dataset's values without gaps, as the published results were made: empty cells are 0, PEMS's are filled."""
    values = pd.DataFrame(read_table(path).values)
    if dataset.gaps == "fill":
        values = values.ffill().bfill()
    return values.fillna(0.0).to_numpy()


def _read_frame(path: Path) -> Table:
    frame = read_file(str(path))
    if len(frame.columns) < 2:
        raise DataError(f"{path} must hold a date and at least one series, found the columns {list(frame.columns)}")
    return Table(_numbers(frame.iloc[:, 1:], path), [str(name) for name in frame.columns[1:]], _dates(frame, path))


def _read_text(path: Path) -> Table:
    return _nameless(_numbers(pd.read_csv(path, header=None), path))


def _read_npz(path: Path) -> Table:
    if not zipfile.is_zipfile(path):
        raise DataError(f"{path} is not a .npz file, or not a whole one")
    with np.load(path, allow_pickle=False) as file:
        if "data" not in file:
            raise DataError(
                f"{path} must hold an array `data` [time, series, feature], found {', '.join(file) or 'none'}"
            )
        data = file["data"]
    if data.ndim != 3 or not data.shape[2] or not np.issubdtype(data.dtype, np.number):
        raise DataError(
            f"`data` in {path} must be numbers [time, series, feature], found {data.dtype} of shape {data.shape}"
        )
    return _nameless(data[:, :, 0])


def _read_h5(path: Path) -> Table:
    """A pandas frame in HDF5's fixed layout: series on axis 0, times on axis 1, a block of values for each type."""
    try:
        import h5py
    except ImportError as error:
        raise MissingDependencyError(f"{path} needs h5py: pip install 'olinear[h5]'") from error
    with h5py.File(path) as file:
        frame = next((group for group in file.values() if isinstance(group, h5py.Group) and "axis1" in group), None)
        if frame is None:
            raise DataError(
                f"{path} must hold a pandas frame in the fixed format, found {', '.join(file) or 'nothing'}"
            )
        series = _texts(frame["axis0"])
        columns: dict[str, NDArray[np.float64]] = {}
        for block in range(int(frame.attrs.get("nblocks", 1))):
            values = np.asarray(frame[f"block{block}_values"], dtype=np.float64)
            columns |= dict(zip(_texts(frame[f"block{block}_items"]), values.T, strict=True))
        unit = _text(frame["axis1"].attrs.get("kind", "")).partition("[")[2].rstrip("]") or "ns"  # datetime64[us]
        times = pd.DatetimeIndex(np.asarray(frame["axis1"]).astype(f"datetime64[{unit}]"))
        return Table(np.stack([columns[name] for name in series], axis=1), series, times)


def _dates(frame: pd.DataFrame, path: Path) -> pd.DatetimeIndex:
    """The first column as times, whichever of the forms a cell has."""
    name, column = frame.columns[0], frame.iloc[:, 0]
    if pd.api.types.is_numeric_dtype(column):
        raise DataError(f"the first column of {path} must hold dates, found numbers in {name!r}")
    text = column.fillna("").astype(str).str.strip()
    times = pd.Series(pd.NaT, index=text.index, dtype="datetime64[ns, UTC]")
    for form in DATE_FORMS:
        unread = times.isna()
        if not unread.any():
            break
        times[unread] = pd.to_datetime(text[unread], format=form, errors="coerce", utc=True)
    if times.isna().any():
        row = int(times.isna().to_numpy().argmax())
        raise DataError(
            f"{path} has no date in row {row + 1} ({text.iloc[row][:40]!r}): "
            "expected 2016-07-01 00:00:00, 2016/7/1 or 7/1/2016 (month first)"
        )
    index = pd.DatetimeIndex(times)
    return index if text.map(lambda cell: bool(_OFFSET.search(cell))).any() else index.tz_localize(None)


def _numbers(frame: pd.DataFrame, path: Path) -> NDArray[np.float64]:
    """A frame's cells as numbers, NaN where empty; a word among them raises an error that names its place."""
    numbers = frame.apply(pd.to_numeric, errors="coerce")
    words = (numbers.isna() & frame.notna()).to_numpy()
    if words.any():
        row, column = np.argwhere(words)[0]
        found = str(frame.iat[row, column])[:40]
        raise DataError(
            f"{path} has no number in row {row + 1} of {str(frame.columns[column])!r} ({found!r}): correct it"
        )
    return numbers.to_numpy(dtype=np.float64)


def _nameless(values: NDArray[Any]) -> Table:
    return Table(values.astype(np.float64), [str(index) for index in range(values.shape[1])], None)


def _texts(names: Any) -> list[str]:
    return [_text(name) for name in names[:]]


def _text(name: Any) -> str:
    return name.decode() if isinstance(name, bytes) else str(name)


READERS: dict[str, Callable[[Path], Table]] = {
    ".csv": _read_frame,
    ".txt": _read_text,
    ".npz": _read_npz,
    ".h5": _read_h5,
    ".parquet": _read_frame,
}
