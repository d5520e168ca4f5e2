"""What the 80 % interval of a series holds when its newest rows are missing, and what its points cost to know.

    python benchmarks/torture/interval_coverage.py    # a few minutes; rows that are there are not computed again
    python benchmarks/torture/interval_coverage.py --short

The embedded data, ETTh1 (needs OLINEAR_DATA, else left out) and six made-up shapes. Each is fitted on its first three
quarters with lookback 48 and horizon 24; from at least 200 later origins one series after the other loses its last
0, 6, 24, 48 (= lookback) and 96 rows, and the 80 % interval of that series is compared with what came. Written to
benchmarks/results/torture/interval_coverage.csv: one row for each dataset and number of missing rows.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from figures import Figure, Row, at_most
from rows import add_row, read_rows
from shapes import EPOCHS, HORIZON, LEVEL, LOOKBACK, NAMES, ORIGINS, ROWS, Values, known_rows, load, made_up, origins_of

from olinear import Forecaster
from olinear.forecaster.known import History, Past

__all__ = ["figures", "made_up", "measure"]

RESULTS = Path(__file__).parents[1] / "results" / "torture" / "interval_coverage.csv"
MISSING = (0, 6, 24, 48, 96)
BEFORE = LOOKBACK + max(MISSING) + 48  # rows that are read before an origin


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
    known = known_rows(frame)
    forecaster = Forecaster(HORIZON, LOOKBACK, model_dim=64, max_epochs=epochs, progress=False).fit(frame[:known])
    values = frame.iloc[:, 1:].to_numpy(dtype=np.float64)
    starts = origins_of(frame, origins)
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


def figures(rows: Sequence[Row]) -> list[Figure]:
    """Of all datasets and numbers of missing rows; widths against those of the first version (width_before.py)."""
    cover = {(row["data"], row["missing"]): float(row["coverage"]) for row in rows}
    inside = sum(0.72 <= share <= 0.92 for share in cover.values())
    before = {row["data"]: float(row["median_width"]) for row in read_rows(RESULTS.with_name("width_before.csv"))}
    ratios = {row["data"]: float(row["median_width"]) / before[row["data"]] for row in rows if row["missing"] == "0"}
    least, most = (f"{end(cover.values()):.3f}" for end in (min, max))
    fewest = min(int(row["origins"]) for row in rows)
    what = f"coverage of the 80 % interval, last {', '.join(map(str, MISSING))} rows missing"
    return [
        Figure(what, f"datasets × missing outside 0.72 to 0.92, of {len(cover)}", "0", str(len(cover) - inside),
               inside == len(cover) == len(NAMES) * len(MISSING)),
        Figure(what, "lowest and highest", "0.72 to 0.92", f"{least} to {most}", inside == len(cover)),
        Figure(what, "origins each", "at least 200", str(fewest), fewest >= 200),
        at_most("width of the 80 % interval without gaps", "largest ratio to the first version's", max(ratios.values()),
                1.05),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="coverage of stale series")
    parser.add_argument("--short", action="store_true", help="one shape, in seconds, to standard output")
    short = parser.parse_args().short
    done = set() if short else {row["data"] for row in read_rows(RESULTS)}
    for name in ["season"] if short else NAMES:
        frame = load(name, 1600 if short else ROWS)
        if name in done or frame is None:
            continue
        for row in measure(name, frame, 2 if short else EPOCHS):
            print(row) if short else add_row(RESULTS, row)


if __name__ == "__main__":
    main()
