"""What it brings to let a judged model learn from the newest rows too: `make bench-refit` (resumable; OLINEAR_DATA).

The early 60 % of eight datasets (no row of the benchmark's test spans; without OLINEAR_DATA the embedded data alone),
at most eight series, default settings but for a width of 64. Of those rows 250, 1,000, 3,000 or 9,000 are fitted and
the ones after them (half as many, at most 1,000; up to the end of the early part, for few rows also up to its middle)
are forecast from every origin, by three models from one training:

- judged: as early stopping chose it; the newest fifth of its rows only judged;
- refit: trained anew on all rows, for the epochs that were best;
- continued: the judged one after one pass over the windows of the newest fifth, at the rate of its best epoch.

The intervals are the judged model's. benchmarks/results/refit.csv has a line for each model, with the seconds since the
start of the fit; a case that is there is not computed again. `--table` prints the summary that docs/forecasting.md has.
"""

import argparse
import copy
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from rows import add_row, read_rows

from olinear import Forecaster, load_demo
from olinear.data.datasets import read_table
from olinear.data.frames import Panel
from olinear.forecaster import Fitted
from olinear.forecaster.backtesting import run_backtest
from olinear.forecaster.learning import Run, learn_again
from olinear.forecaster.spans import FitRows, split_rows
from olinear.training import TrainingReport, train
from olinear.training.schedules import SCHEDULES

RESULTS = Path(__file__).parent / "results" / "refit.csv"
DATA = {
    "embedded": "h",
    "ETTh1.csv": "h",
    "ETTm2.csv": "15min",
    "weather.csv": "10min",
    "exchange_rate.txt": "D",
    "SP500.csv": "D",
    "website.csv": "D",
    "national_illness.csv": "W",
}
ROWS, HORIZONS, SEEDS = (250, 1000, 3000, 9000), (12, 48), (1, 2)
PLACES = {250: (1.0, 0.5), 1000: (1.0, 0.5)}  # where the rows end, as shares of the early ones
CASE = ("data", "rows", "place", "horizon", "seed")
EARLY, MOST_SERIES, MOST_LATER, LEVEL = 0.6, 8, 1000, 80
MODELS = ("judged", "refit", "continued")


def load(name: str) -> pd.DataFrame | None:
    """The early rows of a dataset; None where it is not there."""
    folder = os.environ.get("OLINEAR_DATA")
    if name == "embedded":
        values = load_demo().iloc[:, 1:].to_numpy(dtype=np.float64)
    elif folder is None:
        return None
    else:
        values = read_table(Path(folder) / name).values
    early = values[: int(EARLY * len(values)), :MOST_SERIES]
    times = pd.date_range("2000-01-01", periods=len(early), freq=DATA[name])
    return pd.DataFrame({"time": times} | {f"s{i}": column for i, column in enumerate(early.T)})


def models(fitted: Fitted, panel: Panel, report: TrainingReport, seconds: float) -> Iterator[tuple[str, Fitted, float]]:
    """Each model with the seconds it took in all."""
    yield "judged", fitted, seconds
    quiet = replace(panel, notes=[])
    split = split_rows(quiet, fitted.settings)
    rows = FitRows.of(quiet, fitted.settings, fitted.scaler, fitted.active, split)
    started, again = time.perf_counter(), replace(fitted)
    learn_again(again, rows, [report], Run(progress=False))
    yield "refit", again, seconds + time.perf_counter() - started
    started, further = time.perf_counter(), replace(fitted, model=copy.deepcopy(fitted.model))
    config = fitted.settings.training
    rate = config.learning_rate * SCHEDULES[config.schedule](report.best_epoch, config.max_epochs, 0.0)
    once = config.model_copy(update={"max_epochs": 1, "learning_rate": rate, "schedule": "constant"})
    train(further.model, rows.windows(rows.newest), None, once, progress=False)
    yield "continued", further, seconds + time.perf_counter() - started


def measure(frame: pd.DataFrame, known: int, horizon: int, seed: int) -> Iterator[dict[str, object]]:
    forecaster = Forecaster(horizon, model_dim=64, seed=seed, refit=False, progress=False)
    started = time.perf_counter()
    forecaster.fit(frame[:known])
    seconds, fitted = time.perf_counter() - started, forecaster.fitted
    record, panel = fitted.record, forecaster.read(frame)
    report = TrainingReport(record["best_epoch"], None, False, record["epochs"], record["seconds"], [])
    unit = fitted.scaler.deviation
    for name, model, cost in models(fitted, forecaster.read(frame[:known]), report, seconds):
        result = run_backtest(model, panel, len(frame) - known - horizon + 1, 1, [LEVEL])
        assert result.in_sample == 0
        own = result.metrics[result.metrics["forecaster"] == "OLinear"]
        each = own[own["series"] != "(all)"]
        width = (each[f"width_{LEVEL}"].to_numpy() / unit)[fitted.active].mean()
        scores = {"mase": result.score(metric="mase"), "standardised_mae": result.score(metric="standardised_mae")}
        scores |= {"coverage": result.score(metric=f"coverage_{LEVEL}"), "width": width}
        line = {"model": name} | {key: f"{value:.4f}" for key, value in scores.items()}
        yield line | {"seconds": f"{cost:.2f}", "best_epoch": record["best_epoch"], "epochs": record["epochs"]}


def table() -> list[str]:
    """Of each number of rows: errors relative to the judged model's, how often they are lower, coverage, time."""
    found = pd.DataFrame(read_rows(RESULTS))
    numbers = ["standardised_mae", "coverage", "width", "seconds"]
    found[numbers] = found[numbers].astype(float)
    wide = found.pivot(index=list(CASE), columns="model", values=numbers)
    lines = ["| rows | model | cases | MAE | lower in | 80 % hold | width | time |", "|---:|---|" + "---:|" * 6]
    for known in sorted(set(found["rows"]), key=int):
        part = wide.xs(known, level="rows")
        for model in MODELS:
            ratio = {name: part[name][model] / part[name]["judged"] for name in numbers}
            middle = {name: np.exp(np.log(ratio[name]).mean()) for name in numbers}
            lower = "" if model == "judged" else f"{(ratio['standardised_mae'] < 1).mean():.0%}"
            lines.append(
                f"| {known} | {model} | {len(part)} | {middle['standardised_mae']:.3f} | {lower} | "
                f"{part['coverage'][model].mean():.3f} | {middle['width']:.3f} | {middle['seconds']:.2f} |"
            )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description="what a second training brings")
    parser.add_argument("--table", action="store_true", help="print the summary of what was measured")
    if parser.parse_args().table:
        print("\n".join(table()))
        return
    done = {tuple(row[key] for key in CASE) for row in read_rows(RESULTS) if row["model"] == MODELS[-1]}
    for known, name in product(ROWS, DATA):
        early, later = load(name), min(known // 2, MOST_LATER)
        for place, horizon, seed in product(PLACES.get(known, (1.0,)), HORIZONS, SEEDS):
            case = (name, str(known), str(place), str(horizon), str(seed))
            if early is None or case in done or place * len(early) < known + later:
                continue
            end = int(place * len(early))
            part = early[end - known - later : end].reset_index(drop=True)
            for row in list(measure(part, known, horizon, seed)):  # all of a case, or none
                add_row(RESULTS, dict(zip(CASE, case, strict=True)) | row)


if __name__ == "__main__":
    main()
