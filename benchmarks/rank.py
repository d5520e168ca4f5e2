"""What `rank=` costs in accuracy: `make bench-rank` (needs OLINEAR_DATA; resumable).

PEMS08_tail.npz, 170 series, split 6:2:2, lookback 96, horizon 12, width 128, two blocks: the whole NormLin, lower and
lower ranks, and no mixing of series at all. Trained on every fourth window, selected on validation, scored on every
test window. A line that is in benchmarks/results/rank.csv is not computed again.
"""

import os
import sys
from pathlib import Path

import torch
from rows import add_row, read_rows

from olinear.data.datasets import read_table
from olinear.data.frames import StandardScaler
from olinear.data.windows import Split, Windows
from olinear.evaluation import evaluate
from olinear.nn import OLinear
from olinear.training import TrainingConfig, train

RESULTS = Path(__file__).parent / "results" / "rank.csv"
LOOKBACK, HORIZON, SEEDS = 96, 12, (1, 2)
MIXING: dict[str, dict[str, object]] = {
    "whole": {},
    "rank 64": {"rank": 64},
    "rank 16": {"rank": 16},
    "rank 4": {"rank": 4},
    "none": {"mixer": None},
}


def main() -> None:
    folder = os.environ.get("OLINEAR_DATA")
    if folder is None:
        sys.exit("set OLINEAR_DATA to the folder that holds PEMS08_tail.npz")
    raw = read_table(Path(folder) / "PEMS08_tail.npz").values
    split = Split.by_ratio(len(raw), 0.6, 0.2, borrow=False)
    train_rows = raw[: len(split.train)]
    values = StandardScaler.fit(train_rows).transform(raw)
    training, validation, test = (
        Windows(values, LOOKBACK, HORIZON, split.starts(span, LOOKBACK, HORIZON)[::every])
        for span, every in ((split.train, 4), (split.validation, 1), (split.test, 1))
    )
    done = {(row["mixing"], int(row["seed"])) for row in read_rows(RESULTS)}
    for seed in SEEDS:
        for name, options in MIXING.items():
            if (name, seed) in done:
                continue
            torch.manual_seed(seed)
            model = OLinear.for_data(values[: len(train_rows)], LOOKBACK, HORIZON, model_dim=128, **options)
            config = TrainingConfig(learning_rate=1e-3, max_epochs=20, patience=5, schedule="cosine", seed=seed)
            report = train(model, training, validation, config)
            scores = evaluate(model.compact(), test)
            mixing = sum(p.numel() for block in model.blocks if "csl" in dict(block.named_children())
                         for p in block.csl.mixer.parameters())  # fmt: skip
            row = {"mixing": name, "seed": seed, "mse": f"{scores.mse:.4f}", "mae": f"{scores.mae:.4f}"}
            last = {"windows": scores.windows, "best_epoch": report.best_epoch, "mixing_weights": mixing}
            add_row(RESULTS, row | last)


if __name__ == "__main__":
    main()
