"""LLMTime on the four ETT datasets: `make bench-llmtime` (resumable; needs OLINEAR_DATA and `make llm`).

Ten test windows of each dataset, spread evenly, lookback 96, horizon 96; seven series, each alone; five samples a
series, of which the median is the forecast. Errors are on the standardised scale of the benchmark, the mean over series
and steps. benchmarks/results/llmtime.csv has a line for each window, with the last value and the last season (a day) on
the same window, the seconds of a processor it took, and what was asked. A window that is there is not asked again.
`--minutes` begins no window later than that; `--table` prints the summary that docs/models/llmtime.md has.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

import torch
from rows import add_row, read_rows
from torch import Tensor

from olinear.bench.paper import write_numbers
from olinear.data.datasets import find_dataset, load_values, require
from olinear.data.frames import StandardScaler
from olinear.evaluation import last_value, seasonal_naive
from olinear.models.zoo.llmtime import LLMTime

RESULTS = Path(__file__).parent / "results" / "llmtime.csv"
DATASETS = {"ETTh1": 24, "ETTh2": 24, "ETTm1": 96, "ETTm2": 96}  # rows of a day
LOOKBACK, HORIZON, WINDOWS, SAMPLES = 96, 96, 10, 5
FORECASTERS = {"": "LLMTime", "season_": "last day again", "last_": "last value again"}
# The paper's zero-shot table: MSE and MAE of LLMTime, averaged over the horizons 96, 192, 336 and 720.
PRINTED = {"ETTh1": (1.961, 0.981), "ETTh2": (0.992, 0.708), "ETTm1": (1.933, 0.984), "ETTm2": (1.867, 0.869)}


class Case(NamedTuple):
    """A window `1 t n` with what followed, and the row where it begins."""

    dataset: str
    first: int
    x: Tensor
    y: Tensor


def windows_of(name: str, folder: Path) -> list[Case]:
    """The chosen test windows."""
    dataset = find_dataset(name)
    raw = load_values(dataset, require(dataset, folder))
    split = dataset.split_rows(len(raw))
    values = torch.from_numpy(StandardScaler.fit(raw[: len(split.train)]).transform(raw)).double()
    starts = split.starts(split.test, LOOKBACK, HORIZON)
    chosen = [starts[round(step * (len(starts) - 1) / (WINDOWS - 1))] for step in range(WINDOWS)]
    cases = []
    for first in chosen:
        x, y = values[None, first : first + LOOKBACK + HORIZON].split((LOOKBACK, HORIZON), 1)
        cases.append(Case(name, first, x, y))
    return cases


def errors(forecast: Tensor, actual: Tensor, prefix: str) -> dict[str, str]:
    wrong = forecast - actual
    return {f"{prefix}mse": f"{wrong.square().mean():.4f}", f"{prefix}mae": f"{wrong.abs().mean():.4f}"}


def todo(done: set[tuple[str, int]], folder: Path) -> Iterator[list[Case]]:
    """One window of each dataset at a time, so that a run that ends early has as many of each."""
    all_windows = [windows_of(name, folder) for name in DATASETS]
    for turn in zip(*all_windows, strict=True):
        left = [case for case in turn if (case.dataset, case.first) not in done]
        if left:
            yield left


def run(minutes: float) -> None:
    folder = os.environ.get("OLINEAR_DATA")
    if folder is None:
        sys.exit("set OLINEAR_DATA to the folder that holds ETTh1.csv, ETTh2.csv, ETTm1.csv and ETTm2.csv")
    began, done = time.monotonic(), {(row["dataset"], int(row["first_row"])) for row in read_rows(RESULTS)}
    model, device = LLMTime(7, LOOKBACK, HORIZON, samples=SAMPLES), torch.device("cpu")
    dtype = model.language_model(device).llama.head.dtype  # which takes seconds that are no window's
    how = {"samples": SAMPLES, "dtype": str(dtype).removeprefix("torch."), "weights": model.find_weights().name}
    for cases in todo(done, Path(folder)):
        if time.monotonic() - began > 60 * minutes:
            sys.exit(f"{minutes:g} minutes are over: run it again to go on")
        started = time.process_time()  # another program's share of the processor does not count
        forecasts = model(torch.cat([case.x for case in cases])).split(1)
        seconds = (time.process_time() - started) / len(cases)
        for case, forecast in zip(cases, forecasts, strict=True):
            season = seasonal_naive(HORIZON, DATASETS[case.dataset])(case.x)
            found = errors(forecast, case.y, "") | errors(season, case.y, "season_")
            row = {"dataset": case.dataset, "first_row": case.first} | found
            row |= errors(last_value(HORIZON)(case.x), case.y, "last_")
            add_row(RESULTS, row | {"cpu_seconds": f"{seconds:.1f}", "threads": torch.get_num_threads()} | how)


def table() -> list[str]:
    """For each dataset the mean error of each forecaster with its standard error over windows, and the printed one."""
    lines = [f"{'':6} {'windows':>7}  {'forecaster':17} {'MSE':>14} {'MAE':>14}"]
    rows = read_rows(RESULTS)
    for name in DATASETS:
        own = [row for row in rows if row["dataset"] == name]
        for prefix, forecaster in FORECASTERS.items() if len(own) > 1 else ():
            cells = [spread([float(row[f"{prefix}{metric}"]) for row in own]) for metric in ("mse", "mae")]
            lines.append(f"{name:6} {len(own):7}  {forecaster:17} {cells[0]:>14} {cells[1]:>14}")
        mse, mae = PRINTED[name]
        lines.append(f"{name:6} {'':7}  {'printed, LLMTime':17} {mse:<6.3f}{'':8} {mae:<6.3f}".rstrip())
    seconds = [float(row["cpu_seconds"]) for row in rows if row["cpu_seconds"]]
    if seconds:
        threads, dtype = rows[-1]["threads"], rows[-1]["dtype"]
        cost = f"{mean(seconds):.0f} s of a processor for a window of 7 series, {SAMPLES} samples each"
        lines.append(f"{cost} (threads: {threads}, {dtype})")
    return lines


def keep_numbers() -> None:
    """The means, as numbers of `olinear paper`."""
    rows, numbers = read_rows(RESULTS), []
    for name in DATASETS:
        own = [row for row in rows if row["dataset"] == name]
        for prefix, forecaster in FORECASTERS.items() if own else ():
            value = f"{mean(float(row[f'{prefix}mse']) for row in own):.4f}"
            numbers.append({"dataset": name, "what": f"MSE, {forecaster}", "value": value})
    write_numbers(RESULTS.parents[2] / "results", "llmtime", numbers)


def spread(values: list[float]) -> str:
    return f"{mean(values):.3f} ± {stdev(values) / len(values) ** 0.5:.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=600.0, help="begin no window after so many")
    parser.add_argument("--table", action="store_true", help="print the summary of what is there")
    given = parser.parse_args()
    try:
        if not given.table:
            run(given.minutes)
    finally:
        keep_numbers()
    print("\n".join(table()))


if __name__ == "__main__":
    main()
