"""What a series that begins late, or one cell of 1e20, costs the others: `python benchmarks/torture/late_series.py`.

ETTh1 (needs OLINEAR_DATA, else left out), the embedded data and a made-up day are fitted without a further series, with
one that begins in the newest fifth in raw units a thousand times theirs, and with one cell of 1e20 in their first
series. All are scored on the same later rows: the standardised MSE of the series that were not touched, against the fit
without. Rows that are in benchmarks/results/torture/late_series.csv are not computed again; `--short` does one in
seconds.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from figures import Figure, Row
from rows import add_row, read_rows
from shapes import EPOCHS, HORIZON, LOOKBACK, ROWS, known_rows, load

from olinear import Forecaster

RESULTS = Path(__file__).parents[1] / "results" / "torture" / "late_series.csv"
SEEDS = (0, 1, 2)
DATA = ("season", "ETTh1", "embedded")


def with_product(frame: pd.DataFrame, known: int) -> pd.DataFrame:
    """A new product: nothing before nine tenths of the rows that are fitted, then thousands with a day in them."""
    rows = len(frame)
    noise = np.random.default_rng(7).normal(0, 300, rows)
    values = 5000 + 2000 * np.sin(2 * np.pi * np.arange(rows) / 24) + noise
    values[: known * 9 // 10] = np.nan
    return frame.assign(product=values)


def with_cell(frame: pd.DataFrame, known: int, place: float) -> pd.DataFrame:
    """One cell that no sensor measured."""
    data = frame.copy()
    data.iloc[int(place * known), 1] = 1e20
    return data.astype({data.columns[1]: float})


def others_error(frame: pd.DataFrame, known: int, names: list[str], seed: int, epochs: int) -> tuple[float, int]:
    """The mean standardised MSE of some series, and the epoch that was chosen."""
    forecaster = Forecaster(HORIZON, LOOKBACK, model_dim=64, max_epochs=epochs, seed=seed, progress=False)
    forecaster.fit(frame[:known])
    result = forecaster.backtest(frame[known - LOOKBACK :], windows=200)
    metrics = result.metrics.set_index(["forecaster", "series"]).loc["OLinear"]
    units = frame[names][:known].std(ddof=0) ** 2
    return float((metrics.loc[names, "mse"] / units).mean()), forecaster.report()["best_epoch"]


def measure(name: str, frame: pd.DataFrame, seed: int, epochs: int) -> list[dict[str, object]]:
    known = known_rows(frame)
    names = list(frame.columns[2:])
    cases = {
        "without": frame,
        "begins late": with_product(frame, known),
        "cell while training": with_cell(frame, known, 0.4),
        "cell while validating": with_cell(frame, known, 0.9),
    }
    rows, base = [], 0.0
    for case, data in cases.items():
        error, epoch = others_error(data, known, names, seed, epochs)
        base = base or error
        rows.append(
            {"data": name, "case": case, "seed": seed, "mse": f"{error:.4f}", "against_without": f"{error / base:.3f}"}
            | {"best_epoch": epoch}
        )  # fmt: skip
    return rows


def figures(rows: Sequence[Row]) -> list[Figure]:
    """The mean over seeds of each dataset, and the worst of them."""
    found = []
    for case in ("begins late", "cell while training", "cell while validating"):
        ratios = {
            data: [float(row["against_without"]) for row in rows if (row["data"], row["case"]) == (data, case)]
            for data in DATA
        }
        worst = max(sum(each) / len(each) for each in ratios.values() if each)
        what = "one series begins late" if case == "begins late" else f"one cell of 1e20 {case.removeprefix('cell ')}"
        name = "MSE of the others against without, worst dataset"
        found.append(Figure(what, name, "1.05", f"{worst:.3f}", worst <= 1.05 and all(ratios.values())))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description="what one series costs the others")
    parser.add_argument("--short", action="store_true", help="one shape, in seconds, to standard output")
    short = parser.parse_args().short
    done = set() if short else {(row["data"], int(row["seed"])) for row in read_rows(RESULTS)}
    for name in DATA[:1] if short else DATA:
        frame = load(name, 1600 if short else ROWS)
        for seed in SEEDS[:1] if short else SEEDS:
            if frame is None or (name, seed) in done:
                continue
            for row in measure(name, frame, seed, 3 if short else EPOCHS):
                print(row) if short else add_row(RESULTS, row)


if __name__ == "__main__":
    main()
