"""Step time and peak memory against the number of series, the lookback and the horizon: `make bench-scaling`.

Each point is a training step in a fresh process (the best of a few, after a warm-up), written as it comes to
benchmarks/results/scaling.csv; a point that is there is not measured again. Then draws docs/images/scaling.png.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from rows import add_row, read_rows

RESULTS = Path(__file__).parent / "results" / "scaling.csv"
PICTURE = Path(__file__).parent.parent / "docs" / "images" / "scaling.png"
BASE = {"n": 32, "t": 96, "h": 96, "m": 128, "b": 2, "rank": 0}
POINTS = [
    *({**BASE, "n": n} for n in (7, 32, 100, 300, 1000, 2000)),
    *({**BASE, "n": n, "rank": 64} for n in (100, 300, 1000, 2000, 5000, 20000)),
    *({**BASE, "t": t} for t in (24, 192, 336, 720)),
    *({**BASE, "h": h} for h in (24, 192, 336, 720)),
]


def measure(point: dict[str, int]) -> None:
    """Print seconds and megabytes of a training step, as JSON."""
    import torch

    from olinear.core.runtime import memory_growth
    from olinear.nn import OLinear
    from olinear.training.losses import weighted_l1

    torch.set_num_threads(2)
    torch.manual_seed(0)
    model = OLinear(point["n"], point["t"], point["h"], model_dim=point["m"], rank=point["rank"] or None)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    x, y = torch.randn(point["b"], point["t"], point["n"]), torch.randn(point["b"], point["h"], point["n"])

    def step() -> float:
        started = time.perf_counter()
        optimizer.zero_grad()
        weighted_l1(model(x), y).backward()
        optimizer.step()
        return time.perf_counter() - started

    memory = memory_growth(step)
    print(json.dumps({"seconds": min(step() for _ in range(5)), "megabytes": memory}))


def run_missing() -> list[dict[str, float]]:
    done = {tuple(int(row[key]) for key in BASE) for row in read_rows(RESULTS)}
    for point in POINTS:
        if tuple(point.values()) in done:
            continue
        command = [sys.executable, __file__, "--point", json.dumps(point)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        measured = {"seconds": f"{found['seconds']:.5f}", "megabytes": f"{found['megabytes']:.1f}"}
        add_row(RESULTS, point | measured)
    return [{key: float(value) for key, value in row.items()} for row in read_rows(RESULTS)]


def draw(rows: list[dict[str, float]]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5.6), layout="constrained")
    axes = figure.subplots(2, 3, sharey="row")
    names = {"n": "series", "t": "lookback", "h": "horizon"}
    for column, (key, label) in enumerate(names.items()):
        for rank in (0, 64) if key == "n" else (0,):
            fixed = {other: BASE[other] for other in names if other != key} | {"rank": rank}
            line = sorted((r for r in rows if all(r[k] == v for k, v in fixed.items())), key=lambda row: row[key])
            name = f"rank {rank}" if rank else "whole NormLin"
            for axis, what, factor in ((axes[0, column], "seconds", 1e3), (axes[1, column], "megabytes", 1)):
                axis.plot([r[key] for r in line], [factor * r[what] for r in line], marker="o", ms=4, label=name)
                axis.set(xscale="log", yscale="log")
                ticks = (10, 100, 1000, 10000) if key == "n" else (24, 96, 192, 336, 720)
                axis.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
                levels = (5, 10, 20, 50, 100, 200, 500) if what == "seconds" else (20, 50, 100, 200, 500)
                axis.set_yticks(levels, [f"{level}" for level in levels])
                axis.minorticks_off()
                axis.grid(alpha=0.3)
        axes[1, column].set_xlabel(label)
    axes[0, 0].legend(frameon=False, fontsize=9)
    axes[0, 0].set_ylabel("training step, ms")
    axes[1, 0].set_ylabel("peak memory of a step, MB")
    figure.suptitle("A training step of two windows at width 128, two threads", fontsize=11)
    figure.savefig(PICTURE, dpi=120)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--point", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.point:
        measure(json.loads(options.point))
    else:
        draw(run_missing())
