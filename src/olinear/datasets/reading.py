"""One reader for each format the datasets are passed around in."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from olinear.datasets.catalogue import Dataset
from olinear.errors import DataError, MissingDependencyError


@dataclass(frozen=True)
class Table:
    """A file as it is: values `[rows, series]` with NaN where a cell is empty, times where it has them."""

    values: NDArray[np.float64]
    series: list[str]
    times: pd.DatetimeIndex | None


def read_table(path: str | Path) -> Table:
    """Read a file by its ending: `.csv` with the date first, headerless `.txt`, `.npz` (PEMS), `.h5` (METR-LA)."""
    path = Path(path)
    reader = READERS.get(path.suffix)
    if reader is None:
        raise DataError(f"{path} is none of the formats of the datasets: {', '.join(READERS)}")
    try:
        return reader(path)
    except DataError:
        raise
    except (OSError, ValueError, KeyError) as error:
        raise DataError(f"{path} cannot be read as a {path.suffix} file of a dataset: {error}") from error


def load_values(dataset: Dataset, path: str | Path) -> NDArray[np.float64]:
    """The dataset's values without gaps, as the published results were made: empty cells are 0, PEMS's are filled."""
    values = read_table(path).values
    if dataset.gaps == "fill":
        return pd.DataFrame(values).ffill().bfill().to_numpy()
    return np.nan_to_num(values, nan=0.0)


def _read_csv(path: Path) -> Table:
    frame = pd.read_csv(path, encoding="utf-8", encoding_errors="replace")
    times = pd.DatetimeIndex(pd.to_datetime(frame.iloc[:, 0]))
    values = frame.iloc[:, 1:].to_numpy(dtype=np.float64)
    return Table(values, [str(name) for name in frame.columns[1:]], times)


def _read_text(path: Path) -> Table:
    return _nameless(np.loadtxt(path, delimiter=",", ndmin=2))


def _read_npz(path: Path) -> Table:
    with np.load(path, allow_pickle=False) as file:
        if "data" not in file:
            raise DataError(f"{path} must hold an array `data` [time, series, feature], found {', '.join(file) or 'none'}")
        data = file["data"]
    if data.ndim != 3:
        raise DataError(f"`data` in {path} must be [time, series, feature], found shape {data.shape}")
    return _nameless(data[:, :, 0])


def _read_h5(path: Path) -> Table:
    """A pandas frame in HDF5's fixed layout: one block of values, series on axis 0, times on axis 1."""
    try:
        import h5py
    except ImportError as error:
        raise MissingDependencyError(f"{path} needs h5py: pip install 'olinear[h5]'") from error
    with h5py.File(path) as file:
        group = file[next(iter(file))]
        series = [name.decode() if isinstance(name, bytes) else str(name) for name in group["block0_items"][:]]
        times = pd.DatetimeIndex(pd.to_datetime(group["axis1"][:]))
        return Table(np.asarray(group["block0_values"], dtype=np.float64), series, times)


def _nameless(values: NDArray[np.generic]) -> Table:
    return Table(values.astype(np.float64), [str(index) for index in range(values.shape[1])], None)


READERS: dict[str, Callable[[Path], Table]] = {
    ".csv": _read_csv,
    ".txt": _read_text,
    ".npz": _read_npz,
    ".h5": _read_h5,
}
