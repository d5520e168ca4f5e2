"""What every method gets: the same training rows on one scale, and the same windows after them to be scored on."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from olinear import load_demo
from olinear.data.datasets import find_dataset, read_table, require
from olinear.data.frames import StandardScaler, bridge_gaps
from olinear.data.windows import Split

LOOKBACK = 96
HORIZONS = {"embedded": 24, "ETTh1": 96, "Exchange": 96}
STEPS = {"hour": "h", "day": "D"}
SHORT = 400  # training rows of a smoke test


@dataclass(frozen=True)
class Problem:
    """Rows that train and, after them, rows to be scored on: standardised by the former, gaps bridged."""

    values: NDArray[np.float64]  # rows × series
    present: NDArray[np.bool_]  # what was no gap: a bridged value is not scored
    training: int  # rows
    horizon: int
    frequency: str

    @classmethod
    def load(cls, name: str) -> Self:
        """The rows of a dataset but for its test span; a DataError says how to get a missing file."""
        if name == "embedded":
            rows = load_demo().drop(columns="time").to_numpy(dtype=np.float64)
            split, frequency = Split.by_ratio(len(rows)), "h"
        else:
            dataset = find_dataset(name)
            rows = read_table(require(dataset)).values
            split, frequency = dataset.split_rows(len(rows)), STEPS[dataset.step]
        rows, training = rows[: split.validation.stop], split.train.stop
        scaled = StandardScaler.fit(rows[:training]).transform(bridge_gaps(rows)).astype(np.float64)
        return cls(scaled, ~np.isnan(rows), training, HORIZONS[name], frequency)

    def shortened(self) -> Self:
        """The same with few rows, for a smoke test."""
        rows = slice(self.training - SHORT, self.training + 2 * self.horizon)
        return replace(self, values=self.values[rows], present=self.present[rows], training=SHORT)

    @property
    def series(self) -> list[str]:
        """Names that sort as their columns stand: some libraries sort them."""
        return [f"s{index:03d}" for index in range(self.values.shape[1])]

    @property
    def origins(self) -> range:
        """First rows of the windows that are scored."""
        return range(self.training, len(self.values) - self.horizon + 1)

    def wide(self, rows: slice) -> pd.DataFrame:
        times = pd.date_range("2000-01-01", periods=len(self.values), freq=self.frequency)
        return pd.DataFrame({"time": times[rows]} | dict(zip(self.series, self.values[rows].T, strict=True)))

    def long(self, rows: slice) -> pd.DataFrame:
        """As Nixtla's libraries read it."""
        return self.wide(rows).melt("time", var_name="unique_id", value_name="y").rename(columns={"time": "ds"})

    def lookbacks(self) -> NDArray[np.float64]:
        """`b t n` before each origin."""
        rows = self.values[self.training - LOOKBACK : self.origins.stop - 1]
        return sliding_window_view(rows, LOOKBACK, axis=0).swapaxes(1, 2)

    def score(self, forecasts: NDArray[np.floating[Any]]) -> dict[str, float]:
        """Mean absolute and squared error of `b h n` over every value of every window that is no gap."""
        later = slice(self.training, None)
        targets, present = (
            sliding_window_view(rows[later], self.horizon, axis=0).swapaxes(1, 2)
            for rows in (self.values, self.present)
        )
        if forecasts.shape != targets.shape:
            raise ValueError(f"forecasts must have shape {targets.shape}, found {forecasts.shape}")
        errors = (forecasts - targets)[present]
        return {"mae": float(np.abs(errors).mean()), "mse": float((errors**2).mean())}

    def agree(self, forecasts: NDArray[np.floating[Any]], public: dict[int, NDArray[np.floating[Any]]]) -> None:
        """Refuse forecasts `b h n` that are not what the library's own `predict` gives at some origins."""
        for origin, wanted in public.items():
            found = forecasts[origin - self.training]
            if not np.allclose(found, wanted, rtol=1e-3, atol=1e-3):
                worst = float(np.abs(found - wanted).max())
                raise ValueError(f"what is scored differs from `predict` by up to {worst:.3g} at row {origin}")

    @property
    def checked(self) -> list[int]:
        """The origins at which it must agree."""
        return [self.origins[place] for place in (0, len(self.origins) // 2, -1)]


@dataclass(frozen=True)
class Point:
    """After so many steps: seconds in training, seconds since the call of `fit`, and the errors."""

    steps: int
    seconds: float
    fit_seconds: float
    mae: float
    mse: float


@dataclass(frozen=True)
class Curve:
    """The points of a fit in order; the last one is what `fit` leaves, when it returns."""

    version: str
    points: list[Point]
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> Self:
        return cls(**found | {"points": [Point(**point) for point in found["points"]]})


class Clock:
    """Seconds since it was made, but for those of pauses."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    def now(self) -> float:
        return time.perf_counter() - self._began

    @contextmanager
    def paused(self) -> Iterator[None]:
        began = time.perf_counter()
        yield
        self._began += time.perf_counter() - began
