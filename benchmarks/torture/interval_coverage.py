"""What the 80 % interval of a series holds when its newest rows are missing, and what its points cost to know.

    python benchmarks/torture/interval_coverage.py    # a few minutes; rows that are there are not computed again
    python benchmarks/torture/interval_coverage.py --short

The embedded data, ETTh1 (needs OLINEAR_DATA, else left out) and six made-up shapes. Each is fitted on its first three
quarters with lookback 48 and horizon 24; from at least 200 later origins one series after the other loses its last
0, 6, 24, 48 (= lookback) and 96 rows, and the 80 % interval of that series is compared with what came. Written to
benchmarks/results/torture/interval_coverage.csv: one row for each dataset and number of missing rows.
"""

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1]))
from rows import add_row, read_rows

from olinear import Forecaster, load_demo
from olinear.forecaster.known import History, Past

Values = NDArray[np.float64]
RESULTS = Path(__file__).parents[1] / "results" / "torture" / "coverage.csv"
LOOKBACK, HORIZON, LEVEL = 48, 24, 80
MISSING = (0, 6, 24, 48, 96)
ORIGINS = 240
BEFORE = LOOKBACK + max(MISSING) + 48  # rows that are read before an origin


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
        return load_demo()[-10_000:].reset_index(drop=True)
    folder = os.environ.get("OLINEAR_DATA")
    if folder is None:
        return None
    return pd.read_csv(Path(folder) / "ETTh1.csv", parse_dates=["date"])[:14_400]


def holds(forecaster: Forecaster, values: Values, origins: NDArray[np.intp], missing: int, series: int) -> list[Values]:
    """Of each origin: the share of steps inside, the width, and the absolute error, with one series gone stale."""
    fitted = forecaster.fitted
    pasts = []
    for origin in origins:
        rows = values[origin - BEFORE : origin].copy()
        rows[len(rows) - missing :, series] = np.nan
        pasts.append(History(rows, fitted.scaler.mean).at_end(LOOKBACK))
    past = Past(*(np.concatenate([getattr(one, part) for one in pasts]) for part in ("values", "stale", "negative")))
    answer = fitted.answer(past)
    low, high = (end[..., series] for end in answer.bounds(LEVEL))
    actual = values[origins[:, None] + np.arange(HORIZON), series]
    inside = np.where(np.isnan(actual), np.nan, (actual >= low) & (actual <= high))
    return [inside, high - low, np.abs(actual - answer.mean[..., series])]


def measure(name: str, frame: pd.DataFrame, epochs: int, origins: int = ORIGINS) -> list[dict[str, object]]:
    known = len(frame) * 3 // 4
    forecaster = Forecaster(HORIZON, LOOKBACK, model_dim=64, max_epochs=epochs, progress=False).fit(frame[:known])
    values = frame.iloc[:, 1:].to_numpy(dtype=np.float64)
    starts = np.unique(np.linspace(known, len(frame) - HORIZON, origins).astype(int))
    rows = []
    for missing in MISSING:
        found = [holds(forecaster, values, starts, missing, series) for series in range(values.shape[1])]
        each = [float(np.nanmean(one[0])) for one in found]
        coverage = float(np.nanmean(np.stack([one[0] for one in found])))
        units = np.nanstd(values[:known], axis=0)
        width = float(np.median(np.stack([one[1] / unit for one, unit in zip(found, units, strict=True)])))
        error = float(np.nanmean(np.stack([one[2] / unit for one, unit in zip(found, units, strict=True)])))
        rows.append(
            {"data": name, "missing": missing, "origins": len(starts), "coverage": f"{coverage:.3f}"}
            | {"min_of_a_series": f"{min(each):.3f}", "max_of_a_series": f"{max(each):.3f}"}
            | {"median_width": f"{width:.3f}", "mae": f"{error:.3f}"}
        )  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description="coverage of stale series")
    parser.add_argument("--short", action="store_true", help="one shape, in seconds, to standard output")
    short = parser.parse_args().short
    done = set() if short else {row["data"] for row in read_rows(RESULTS)}
    for name in ["season"] if short else [*SHAPES, "ETTh1", "embedded"]:
        frame = load(name, 1600 if short else 4000)
        if name in done or frame is None:
            continue
        for row in measure(name, frame, 2 if short else 8):
            print(row) if short else add_row(RESULTS, row)


if __name__ == "__main__":
    main()
