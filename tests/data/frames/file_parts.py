"""A small table and its files."""

from pathlib import Path

import numpy as np
import pandas as pd

TIMES = pd.date_range("2024-01-01", periods=3)
TABLE = pd.DataFrame({"time": TIMES.strftime("%Y-%m-%d"), "a": [1.5, np.nan, 3.0], "b": [10, 20, 30]})
TEXT = "time,a,b\n2024-01-01,1.5,10\n2024-01-02,,20\n2024-01-03,3.0,30\n"
ENDINGS = ["csv", "parquet", "pq", "CSV", "Parquet"]


def saved(folder: Path, content: bytes | str, name: str = "data.csv") -> str:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())
