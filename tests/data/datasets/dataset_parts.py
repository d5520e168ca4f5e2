"""Small files in the formats the datasets are passed around in."""

from pathlib import Path

import h5py
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from olinear.data.datasets import Dataset

ROWS, SERIES = 40, 3
MISSING = ["ECL", "Traffic", "Solar-Energy", "PEMS03", "PEMS04", "PEMS07", "METR-LA"]
FREQUENCIES = {"hour": "h", "10 min": "10min", "5 min": "5min", "15 min": "15min", "day": "D", "month": "MS"}


def numbers(rows: int = ROWS, series: int = SERIES) -> NDArray[np.float64]:
    return np.random.default_rng(0).normal(size=(rows, series)).round(6)


def times(step: str = "hour", rows: int = ROWS) -> pd.DatetimeIndex:
    return pd.date_range("2012-03-01", periods=rows, freq=FREQUENCIES[step])


def write_csv(path: Path, values: NDArray[np.float64], index: pd.DatetimeIndex) -> Path:
    frame = pd.DataFrame(values, columns=[str(name) for name in range(values.shape[1])])
    frame.insert(0, "date", index.strftime("%Y-%m-%d %H:%M:%S"))
    frame.to_csv(path, index=False)
    return path


def write_text(path: Path, values: NDArray[np.float64]) -> Path:
    np.savetxt(path, values, delimiter=",", fmt="%.6f")
    return path


def write_npz(path: Path, values: NDArray[np.float64]) -> Path:
    """Three features a series, as PEMS04 and PEMS08 have: the first counts."""
    np.savez_compressed(path, data=np.stack([values, values + 100, values - 100], axis=2))
    return path


def write_h5(path: Path, values: NDArray[np.float64], index: pd.DatetimeIndex, unit: str = "ns") -> Path:
    """What `DataFrame.to_hdf(path, key="df")` writes, made with h5py alone."""
    names = np.array([f"7737{column:02}" for column in range(values.shape[1])], dtype="S6")
    with h5py.File(path, "w") as file:
        frame = file.create_group("df")
        frame.attrs.update({"pandas_type": "frame", "nblocks": 1, "ndim": 2})
        frame["axis0"] = frame["block0_items"] = names
        frame["axis1"] = index.as_unit(unit).asi8
        frame["axis1"].attrs["kind"] = "datetime64" if unit == "ns" else f"datetime64[{unit}]"
        frame["block0_values"] = values
    return path


def write_like(dataset: Dataset, path: Path, values: NDArray[np.float64]) -> Path:
    """A small file of a dataset's format, by the ending of its name."""
    if path.suffix == ".csv":
        return write_csv(path, values, times(dataset.step, len(values)))
    if path.suffix == ".h5":
        return write_h5(path, values, times(dataset.step, len(values)))
    return {".txt": write_text, ".npz": write_npz}[path.suffix](path, values)
