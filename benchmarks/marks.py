"""What TimesNet gains from marks of time on ETTh1, 96 -> 96: `make bench-marks` (needs OLINEAR_DATA; resumable).

The published result, 0.384, had the hour, the weekday, and the days of the month and of the year of each step, which
olinear's forecasters do not see; and every test window was forecast alone, though its periods are those of its batch.
TimesNet is trained as in the benchmark without and with such marks, with two seeds, and with three at the rate of the
published script; the epoch is chosen on validation. It is scored on every test window both in batches of the
training's size and alone. A line that is in benchmarks/results/marks.csv is not computed again.
"""

import os
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import torch
import torch.nn.functional as F
from rows import add_row, read_rows
from torch import Tensor, nn

from olinear.bench.run.preparing import load_series
from olinear.bench.spec.model_settings import find_setting
from olinear.bench.spec.recipes import Source
from olinear.core import Traits
from olinear.data.datasets import find_dataset, read_table
from olinear.data.windows import Windows
from olinear.evaluation import evaluate
from olinear.models.zoo.timesnet import TimesNet
from olinear.training import train

RESULTS = Path(__file__).parent / "results" / "marks.csv"
RUNS = Path(__file__).parents[1] / "results" / ".runs"  # half-trained models
LOOKBACK, HORIZON, MARKS = 96, 96, 4
SEEDS = {"main": (2023, 2024), "tsl": (2023, 2024, 2025)}  # of each setting


class Marked(nn.Module):
    """TimesNet with a linear map of the marks added to its embedding: `b t n+4 -> b h n+4`, the last four zero."""

    traits = Traits(batch_dependent=True)

    def __init__(self, host: TimesNet):
        super().__init__()
        self.host, self.marks = host, nn.Linear(MARKS, host.position.shape[1], bias=False)
        host.embed.register_forward_hook(lambda layer, inputs, features: features + self.mapped)

    def forward(self, x: Tensor) -> Tensor:  # b t n+4
        self.mapped = self.marks(x[..., -MARKS:])  # b t m
        return F.pad(self.host(x[..., :-MARKS]), (0, MARKS))  # b h n+4


def main() -> None:
    folder = os.environ.get("OLINEAR_DATA")
    if folder is None:
        sys.exit("set OLINEAR_DATA to the folder that holds ETTh1.csv")
    series = load_series(Source(find_dataset("ETTh1")), Path(folder))
    times = read_table(Path(folder) / "ETTh1.csv").times
    marked = np.column_stack([series.scaled, marks_of(times)]).astype(np.float32)
    targets = np.pad(series.scaled, ((0, 0), (0, MARKS)), constant_values=np.nan)  # no forecast of marks counts
    inputs = {"without": (series.scaled, None), "with": (marked, targets)}
    done = {(row["setting"], int(row["seed"]), row["marks"]) for row in read_rows(RESULTS)}
    cases = [(setting, seed) for setting, seeds in SEEDS.items() for seed in seeds]
    for (setting, seed), marks in product(cases, inputs):
        if (setting, seed, marks) not in done:
            values, expected = inputs[marks]
            windows = [
                Windows(values, LOOKBACK, HORIZON, series.split.starts(span, LOOKBACK, HORIZON), expected)
                for span in (series.split.train, series.split.validation, series.split.test)
            ]
            scores = run(setting, seed, marks == "with", *windows)
            add_row(RESULTS, {"setting": setting, "seed": seed, "marks": marks} | scores)


def marks_of(times: pd.DatetimeIndex) -> np.ndarray:
    """Hour, weekday, day of the month and of the year, each from -1/2 to 1/2, `[rows, 4]`."""
    days = (times.hour / 23, times.day_of_week / 6, (times.day - 1) / 30, (times.day_of_year - 1) / 365)
    return np.column_stack(days) - 0.5


def run(name: str, seed: int, marks: bool, training: Windows, validation: Windows, test: Windows) -> dict[str, object]:
    setting = find_setting("TimesNet", name, "ETTh1")
    torch.manual_seed(seed)
    host = TimesNet(7, LOOKBACK, HORIZON, **setting.options)
    model = Marked(host) if marks else host
    config = setting.config.model_copy(update={"seed": seed})
    checkpoint = RUNS / f"marks-{name}-{seed}-{marks}.safetensors"
    RUNS.mkdir(exist_ok=True)
    report = train(model, training, validation, config, checkpoint=checkpoint, resume=True)
    together, alone = (evaluate(model, test, size) for size in (config.batch_size, 1))
    checkpoint.unlink()
    first = report.history[0]
    return {
        "first_training_loss": f"{first['training_loss']:.4f}",
        "first_validation_loss": f"{first['validation_loss']:.4f}",
        "validation_loss": f"{report.best_loss:.4f}",
        "mse": f"{together.mse:.4f}",
        "mae": f"{together.mae:.4f}",
        "mse_alone": f"{alone.mse:.4f}",
        "mae_alone": f"{alone.mae:.4f}",
        "windows": together.windows,
        "best_epoch": report.best_epoch,
    }


if __name__ == "__main__":
    main()
