"""Frames to read in the tests."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

DAYS = pd.date_range("2024-01-01", periods=6)
every_backend = pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])


def native(frame: pd.DataFrame, backend: str) -> Any:
    if backend == "polars":
        return pl.from_pandas(frame)
    if backend == "pyarrow":
        types = {name: pa.string() if pd.api.types.is_string_dtype(frame[name]) else None for name in frame}
        return pa.table({name: pa.array(frame[name], types[name]) for name in frame})
    return frame


def wide(times: Any = DAYS, name: str = "time", **columns: Any) -> pd.DataFrame:
    """A time column and series beside it, numbered by row if none are given."""
    return pd.DataFrame({name: times, **(columns or {"a": np.arange(len(times), dtype=np.float64)})})


def long(series: tuple[Any, ...] = ("a", "b"), times: Any = DAYS) -> pd.DataFrame:
    rows = np.arange(len(times), dtype=np.float64)
    parts = [pd.DataFrame({"unique_id": name, "ds": times, "y": rows + 10 * at}) for at, name in enumerate(series)]
    return pd.concat(parts, ignore_index=True)
