"""Reproduce the paper's ETTh1 result: `python benchmarks/etth1.py` (needs OLINEAR_DATA; resumable).

Published hyperparameters, Pearson basis from training rows only, selection on validation only, every test
window. Writes its row of benchmarks/results/etth1.csv.
"""

import argparse
import csv
import logging
import os
from pathlib import Path

import pandas as pd
import torch

from olinear.evaluation import evaluate
from olinear.frames import StandardScaler
from olinear.nn import OLinear
from olinear.training import TrainingConfig, train
from olinear.windows import Split, Windows

RESULTS = Path(__file__).parent / "results"
LEARNING_RATES = {96: 5e-4, 192: 5e-4, 336: 5e-4, 720: 1e-4}
PUBLISHED = {96: (0.360, 0.382), 192: (0.416, 0.414), 336: (0.457, 0.438), 720: (0.463, 0.462)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--horizon", type=int, default=96, choices=sorted(PUBLISHED))
    parser.add_argument("--seed", type=int, default=2023)
    parser.add_argument("--basis", default="pearson")
    options = parser.parse_args()
    folder = os.environ.get("OLINEAR_DATA")
    if folder is None:
        parser.error("set OLINEAR_DATA to the folder that holds ETTh1.csv")
    logging.basicConfig(level=logging.INFO, format="%(message)s")

    lookback, horizon = 96, options.horizon
    raw = pd.read_csv(Path(folder) / "ETTh1.csv").iloc[:, 1:].to_numpy()
    split = Split.by_counts(12 * 30 * 24, 4 * 30 * 24, 4 * 30 * 24)
    values = StandardScaler.fit(raw[: len(split.train)]).transform(raw)
    parts = [
        Windows(values, lookback, horizon, split.starts(span, lookback, horizon))
        for span in (split.train, split.validation, split.test)
    ]

    torch.manual_seed(options.seed)
    rows = values[: len(split.train)]
    model = OLinear.for_data(rows, lookback, horizon, basis=options.basis, model_dim=512, blocks=2, dropout=0.2)
    config = TrainingConfig(learning_rate=LEARNING_RATES[horizon], seed=options.seed)
    name = f"etth1-{horizon}-{options.basis}-{options.seed}"
    report = train(model, parts[0], parts[1], config, checkpoint=RESULTS / f"{name}.safetensors", resume=True)
    scores = evaluate(model, parts[2])

    mse, mae = PUBLISHED[horizon]
    print(f"ETTh1 {lookback}->{horizon}, seed {options.seed}, {scores.windows} test windows")
    print(f"MSE {scores.mse:.4f} (published {mse}), MAE {scores.mae:.4f} (published {mae})")
    print(f"best epoch {report.best_epoch} of {report.epochs}, {report.seconds:.0f} s")
    row = {
        "dataset": "ETTh1",
        "lookback": lookback,
        "horizon": horizon,
        "basis": options.basis,
        "seed": options.seed,
        "mse": f"{scores.mse:.6f}",
        "mae": f"{scores.mae:.6f}",
        "windows": scores.windows,
        "best_epoch": report.best_epoch,
        "epochs": report.epochs,
        "torch": torch.__version__,
    }
    write_row(RESULTS / "etth1.csv", row)


def write_row(path: Path, row: dict[str, object]) -> None:
    """Add the row, or replace that of an earlier run of the same task."""
    task = ("dataset", "lookback", "horizon", "basis", "seed")
    rows = list(csv.DictReader(path.open())) if path.exists() else []
    rows = [old for old in rows if any(old[key] != str(row[key]) for key in task)]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, row, lineterminator="\n")
        writer.writeheader()
        writer.writerows([*rows, row])


if __name__ == "__main__":
    main()
