"""How wide intervals were in the first version, before anything was done about missing rows.

    git worktree add --detach ../first ed5828b
    PYTHONPATH=../first/src python benchmarks/torture/width_before.py

The data, seeds, settings and origins of interval_coverage.py, without gaps; each forecast asked for one by one, by what
both versions have in common. benchmarks/results/torture/width_before.csv holds what commit ed5828b, the last of
version 0.1.0's intervals, gave: one row for each dataset, in the training deviation of each series.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from rows import add_row, read_rows
from shapes import EPOCHS, HORIZON, LEVEL, LOOKBACK, NAMES, ROWS, known_rows, load, origins_of

from olinear import Forecaster, __version__

RESULTS = Path(__file__).parents[1] / "results" / "torture" / "width_before.csv"
READ = 4 * LOOKBACK  # rows that are read before an origin


def measure(name: str, frame: pd.DataFrame) -> dict[str, object]:
    known, series = known_rows(frame), list(frame.columns[1:])
    forecaster = Forecaster(HORIZON, LOOKBACK, model_dim=64, max_epochs=EPOCHS, progress=False).fit(frame[:known])
    units = np.nanstd(frame[series][:known].to_numpy(dtype=np.float64), axis=0)
    widths, inside = [], []
    for origin in origins_of(frame):
        answer = forecaster.predict(frame[origin - READ : origin], levels=[LEVEL])
        low, high = (answer[[f"{one}-{end}-{LEVEL}" for one in series]].to_numpy() for end in ("lo", "hi"))
        actual = frame[series][origin : origin + HORIZON].to_numpy(dtype=np.float64)
        widths.append((high - low) / units)
        inside.append(np.where(np.isnan(actual), np.nan, (actual >= low) & (actual <= high)))
    width, coverage = float(np.median(np.stack(widths))), float(np.nanmean(np.stack(inside)))
    return {"data": name, "version": __version__, "coverage": f"{coverage:.3f}", "median_width": f"{width:.4f}"}


def main() -> None:
    done = {row["data"] for row in read_rows(RESULTS)}
    for name in NAMES:
        frame = load(name, ROWS)
        if name not in done and frame is not None:
            add_row(RESULTS, measure(name, frame))


if __name__ == "__main__":
    main()
