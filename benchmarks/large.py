"""Epochs of a part of the windows, and a million rows: `make bench-large` (resumable; needs OLINEAR_DATA; hours).

Where the training windows make more than 1,000 steps, `Forecaster` takes so many for an epoch and goes on with others
in the next. The first 80 % of the rows of ETTm1 and Weather are fitted at the defaults, with all windows in an epoch
(`epoch_steps` 0) and with caps, and the rest is forecast from every eighth row. A cap is chosen by the loss of all
validation windows and the error on rows that no choice saw (`holdout_mae`); `mse` and `mae` of the rest only tell.
benchmarks/results/large.csv has a line for each fit; what is there is not computed again. docs/speed.md shows it.

`--million` reads, fits, saves, loads and asks a model of a million rows of one series, and prints the seconds of each
stage; with `--minutes` the rows are a minute apart instead of an hour, which makes the lookback 720 instead of 96.
"""

import argparse
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rows import add_row, read_rows

from olinear import Forecaster
from olinear.data.datasets import read_table
from olinear.data.frames import read_panel
from olinear.forecaster.spans import FitRows, split_rows
from olinear.training import Callback, Forecast
from olinear.training.loop import mean_loss

RESULTS = Path(__file__).parent / "results" / "large.csv"
RUNS = Path(__file__).parents[1] / "results" / ".runs"  # half-trained models
CASES = {  # file: step, horizon, and by seed the caps
    "ETTm1.csv": ("15min", 96, {0: (0, 1000, 500, 250), 1: (0, 1000), 2: (0, 1000)}),
    "weather.csv": ("10min", 96, {0: (0, 1000), 1: (0, 1000)}),
}
KEY = ("data", "epoch_steps", "seed")
KNOWN, EVERY = 0.8, 8
ROWS, HORIZON, ROUNDS = 1_000_000, 24, 3


def load(name: str, step: str) -> pd.DataFrame:
    values = read_table(Path(os.environ["OLINEAR_DATA"]) / name).values
    times = pd.date_range("2000-01-01", periods=len(values), freq=step)
    return pd.DataFrame({"time": times} | {f"s{i}": column for i, column in enumerate(values.T)})


def measure(name: str, frame: pd.DataFrame, horizon: int, epoch_steps: int, seed: int) -> dict[str, object]:
    known = int(KNOWN * len(frame))
    forecaster = Forecaster(horizon, epoch_steps=epoch_steps, seed=seed)
    RUNS.mkdir(parents=True, exist_ok=True)
    checkpoint = RUNS / f"large-{name}-{epoch_steps}-{seed}.safetensors"
    forecaster.fit(frame[:known], checkpoint=checkpoint, resume=True)
    fitted = forecaster.fitted
    record, training = fitted.record, fitted.settings.training
    panel = forecaster.read(frame[:known])
    rows = FitRows.of(panel, fitted.settings, fitted.scaler, fitted.active, split_rows(panel, fitted.settings))
    judged = mean_loss(fitted.model, rows.windows(rows.split.validation), Forecast(training.loss), 128)
    result = forecaster.backtest(frame, windows=(len(frame) - known - horizon) // EVERY + 1, stride=EVERY)
    assert result.in_sample == 0
    checkpoint.unlink()
    return {
        "windows": len(rows.training),
        "an_epoch": rows.windows_of_epoch,
        "epochs": record["epochs"],
        "best_epoch": record["best_epoch"],
        "validation_loss": f"{judged:.4f}",
        "holdout_mae": f"{record['worth']['score']:.4f}",
        "mse": f"{result.score():.4f}",
        "mae": f"{result.score(metric='standardised_mae'):.4f}",
        "seconds": record["seconds"],
        "precision": record["precision"],
    }


class Stages(Callback):
    """Prints how long each stage took; within `fit` it listens to where the training begins and ends."""

    def __init__(self) -> None:
        self.since, self.busy = time.perf_counter(), time.process_time()

    def end(self, name: str) -> float:
        """The seconds of the processor, which on a shared machine are fewer than those of the clock."""
        now, busy = time.perf_counter(), time.process_time()
        took = busy - self.busy
        print(f"{name:<12}{now - self.since:9.2f} s {took:9.2f} s of the processor", flush=True)
        self.since, self.busy = now, busy
        return took

    def started(self, run: Any) -> None:
        self.end("preparing")

    def ended(self, run: Any) -> None:
        self.end("training")
        print(f"{'':<12}{run.position.total_steps:9d} steps of {run.position.epoch - 1} epochs")


@contextmanager
def million(step: str) -> Iterator[Path]:
    """A CSV file of two cycles, and noise that remembers."""
    hours, generator = np.arange(ROWS), np.random.default_rng(0)
    noise = pd.Series(generator.normal(size=ROWS)).ewm(alpha=0.05).mean() * 6
    values = 50 + 10 * np.sin(2 * np.pi * hours / 24) + 5 * np.sin(2 * np.pi * hours / 168) + noise
    frame = pd.DataFrame({"time": pd.date_range("1910-01-01", periods=ROWS, freq=step), "value": values.round(3)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "million.csv"
        frame.to_csv(path, index=False)
        yield path


def run_million(path: Path, precision: str) -> None:
    stages = Stages()
    for _ in range(ROUNDS):  # the first imports what it needs
        pd.read_csv(path, parse_dates=["time"])
        pandas = stages.end("pandas")
        panel = read_panel(str(path))
        print(f"{'':<12}{stages.end('reading') / pandas:9.1f} times pandas")
    began = time.perf_counter()
    forecaster = Forecaster(HORIZON, precision=precision)
    forecaster.fit(panel, callbacks=[stages], notify=print)
    stages.end("judging")  # the worth, and the intervals
    print(f"{'fit':<12}{time.perf_counter() - began:9.2f} s")
    forecaster.save(path.with_name("model"))
    stages.end("saving")
    loaded = Forecaster.load(path.with_name("model"))
    stages.end("loading")
    loaded.predict(levels=[80])
    stages.end("predicting")
    loaded.predict(str(path), levels=[80])
    stages.end("... a file")
    loaded.backtest(panel, levels=[80])
    stages.end("backtest")
    report = forecaster.report()
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GB")
    print(f"{report['best_epoch']=}, {report['epochs']=}, {report['validation_loss']=:.4f}, {report['precision']=}")
    print(*report["notes"], sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="epochs of a part of the windows")
    parser.add_argument("--million", action="store_true", help="print the seconds that a million rows take")
    parser.add_argument("--minutes", action="store_true", help="with --million: rows a minute apart")
    parser.add_argument("--precision", default="float32", help="with --million: auto, float32, bfloat16")
    given = parser.parse_args()
    if given.million:
        with million("min" if given.minutes else "h") as path:
            run_million(path, given.precision)
        return
    if "OLINEAR_DATA" not in os.environ:
        sys.exit("set OLINEAR_DATA to the folder that holds ETTm1.csv")
    done = {tuple(row[key] for key in KEY) for row in read_rows(RESULTS)}
    for name, (step, horizon, caps) in CASES.items():
        frame = load(name, step)
        for seed, epoch_steps in ((seed, cap) for seed, each in caps.items() for cap in each):
            case = (name, str(epoch_steps), str(seed))
            if case not in done:
                row = measure(name, frame, horizon, epoch_steps, seed)
                add_row(RESULTS, dict(zip(KEY, case, strict=True)) | row)


if __name__ == "__main__":
    main()
