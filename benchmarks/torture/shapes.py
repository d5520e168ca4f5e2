"""The series that the measures of intervals are taken on: the embedded data, ETTh1, and six made-up shapes.

It needs nothing of the package but `olinear.load_demo`, so that an earlier version can be measured on the same rows.
"""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Values = NDArray[np.float64]
LOOKBACK, HORIZON, LEVEL = 48, 24, 80
ORIGINS, EPOCHS, ROWS = 240, 8, 4000


def season(rng: np.random.Generator, rows: int) -> Values:
    """A day with noise."""
    return np.sin(2 * np.pi * np.arange(rows) / 24 + rng.uniform(0, 6)) + rng.normal(0, 0.3, rows)


def trend(rng: np.random.Generator, rows: int) -> Values:
    """A day, noise, and a line that goes on."""
    return season(rng, rows) + np.arange(rows) / 300


def walk(rng: np.random.Generator, rows: int) -> Values:
    """A random walk."""
    return np.cumsum(rng.normal(size=rows))


def autoregression(rng: np.random.Generator, rows: int) -> Values:
    """Each value nine tenths of the one before, and noise."""
    values = rng.normal(size=rows)
    for row in range(1, rows):
        values[row] += 0.9 * values[row - 1]
    return values


def counts(rng: np.random.Generator, rows: int) -> Values:
    """Whole numbers, more by day than by night."""
    return rng.poisson(4 + 3 * np.sin(2 * np.pi * np.arange(rows) / 24)).astype(np.float64)


def bursts(rng: np.random.Generator, rows: int) -> Values:
    """A day whose noise is four times as loud in some stretches."""
    loud = np.repeat(rng.random(-(-rows // 36)) < 0.3, 36)[:rows]
    return np.sin(2 * np.pi * np.arange(rows) / 24) + rng.normal(0, 0.2, rows) * np.where(loud, 4, 1)


SHAPES: dict[str, Callable[[np.random.Generator, int], Values]] = {
    shape.__name__: shape for shape in (season, trend, walk, autoregression, counts, bursts)
}


def made_up(name: str, rows: int, n_series: int = 4) -> pd.DataFrame:
    """Series of one shape, independent but of one kind."""
    rng = np.random.default_rng(list(SHAPES).index(name))
    times = pd.date_range("2024-01-01", periods=rows, freq="h")
    return pd.DataFrame({"time": times} | {f"s{i}": SHAPES[name](rng, rows) for i in range(n_series)})


def load(name: str, rows: int) -> pd.DataFrame | None:
    if name in SHAPES:
        return made_up(name, rows)
    if name == "embedded":
        from olinear import load_demo

        return load_demo()[-10_000:].reset_index(drop=True)
    folder = os.environ.get("OLINEAR_DATA")
    if folder is None:
        return None
    return pd.read_csv(Path(folder) / "ETTh1.csv", parse_dates=["date"])[:14_400]


NAMES = (*SHAPES, "ETTh1", "embedded")


def known_rows(frame: pd.DataFrame) -> int:
    """The rows that are fitted; the later ones are forecast."""
    return len(frame) * 3 // 4


def origins_of(frame: pd.DataFrame, count: int = ORIGINS) -> NDArray[np.intp]:
    """Rows, evenly spread over the later ones, from which a whole horizon is forecast."""
    return np.unique(np.linspace(known_rows(frame), len(frame) - HORIZON, count).astype(int))
