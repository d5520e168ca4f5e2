"""How much faster the folded walk is than the plain one: `make bench-speed`. Writes benchmarks/results/speed.csv.

Every line is a ratio of two times (or memories) measured in this run, alternately, the best of several repetitions of
each side; the run fails if a floor is missed. Width 512, embedding 16, lookback 96, float32, two threads.
"""

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

from olinear.core.runtime import best_times, has_bfloat16, memory_growth
from olinear.data.windows import Windows
from olinear.nn import OLinear
from olinear.nn.folding import shapes_of
from olinear.nn.functional import lag_correlation
from olinear.training.losses import weighted_l1

RESULTS = Path(__file__).parent / "results" / "speed.csv"
HOSTS = Path(__file__).parent.parent / ".venv-hosts" / "bin" / "python"
WIDTH, LOOKBACK = 512, 96
SECONDS = 12.0  # for each comparison
FAIR = 0.6  # share of the machine's matrix product that the plain walk must reach for its ratio to count


@dataclass(frozen=True)
class Case:
    n: int
    batch: int
    blocks: int
    horizon: int

    def __str__(self) -> str:
        return f"n={self.n} b={self.batch} L={self.blocks} h={self.horizon}"

    def model(self, *, fold: bool) -> OLinear:
        torch.manual_seed(0)
        return OLinear(self.n, LOOKBACK, self.horizon, model_dim=WIDTH, blocks=self.blocks, fold=fold)

    def data(self) -> tuple[torch.Tensor, torch.Tensor]:
        generator = torch.Generator().manual_seed(0)
        x = torch.randn(self.batch, LOOKBACK, self.n, generator=generator)
        return x, torch.randn(self.batch, self.horizon, self.n, generator=generator)


TRAINING = {
    Case(7, 32, 2, 96): 1.05,
    Case(137, 32, 2, 96): 2.0,
    Case(321, 16, 3, 96): 1.7,
    Case(321, 16, 3, 720): 3.5,
}
INFERENCE = {
    Case(7, 32, 2, 96): 1.8,
    Case(7, 32, 2, 720): 6.0,
    Case(321, 16, 3, 96): 1.7,
    Case(321, 16, 3, 720): 5.0,
}
MEMORY = Case(321, 16, 3, 720)


@dataclass(frozen=True)
class Line:
    what: str
    shapes: str
    ratio: float
    floor: float
    note: str = ""


def training_step(case: Case, *, fold: bool) -> Callable[[], None]:
    model = case.model(fold=fold).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    x, y = case.data()

    def step() -> None:
        optimizer.zero_grad()
        weighted_l1(model(x), y).backward()
        optimizer.step()

    return step


def multiplications(case: Case, *, folded: bool) -> int:
    """Of a training step: the forward pass and twice as many backward."""
    cost = shapes_of(case.model(fold=folded), case.batch).forward(case.blocks)
    return 3 * (cost.folded if folded else cost.plain)


def matrix_product(size: int = 2048) -> tuple[Callable[[], object], int]:
    a, b = torch.randn(size, size), torch.randn(size, size)
    return lambda: a @ b, size**3


def training_lines() -> list[Line]:
    lines = []
    product, product_count = matrix_product()
    for case, floor in TRAINING.items():
        plain, ours, reference = best_times(
            training_step(case, fold=False),
            training_step(case, fold=True),
            product,
            seconds=40 if case.n > 100 else SECONDS,
        )
        speed = product_count / reference
        plain_share = multiplications(case, folded=False) / plain / speed
        our_share = multiplications(case, folded=True) / ours / speed
        note = f"plain walk at {plain_share:.0%} of the matrix product, ours at {our_share:.0%}"
        lines.append(Line("training step, plain / ours", str(case), plain / ours, floor, note))
        if case.n == 321:
            lines.append(Line("plain walk, share of the matrix product", str(case), plain_share, FAIR))
        if case == Case(321, 16, 3, 96):
            lines.append(Line("folded walk, share of the matrix product", str(case), our_share, 0.6))
    return lines


@torch.inference_mode()
def inference_lines() -> list[Line]:
    lines = []
    for case, floor in INFERENCE.items():
        model = case.model(fold=False).eval()
        compact = model.compact()
        x, _ = case.data()
        plain, ours = best_times(lambda m=model, x=x: m(x), lambda m=compact, x=x: m(x), seconds=SECONDS)
        lines.append(Line("inference, plain / compact", str(case), plain / ours, floor, f"{1e3 * ours:.1f} ms"))
    return lines


def lag_correlation_line() -> Line:
    size, rows, n = 720, 20000, 8
    values = np.random.default_rng(0).normal(size=(rows, n)).cumsum(0)

    def lagged_copies() -> object:
        length = rows - size + 1
        return np.mean([np.corrcoef([x[i : i + length] for i in range(size)]) for x in values.T], axis=0)

    plain, ours = best_times(lagged_copies, lambda: lag_correlation(values, size), seconds=SECONDS)
    return Line("lag_correlation, np.corrcoef of the copies / ours", f"T={size} M={rows} n={n}", plain / ours, 12)


class WindowDataset(Dataset):  # type: ignore[type-arg]
    """The usual way: one Python call for each window."""

    def __init__(self, values: torch.Tensor, lookback: int, horizon: int):
        self.values, self.lookback, self.horizon = values, lookback, horizon

    def __len__(self) -> int:
        return len(self.values) - self.lookback - self.horizon + 1

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        middle = index + self.lookback
        return self.values[index:middle], self.values[middle : middle + self.horizon]


def window_line() -> Line:
    values = torch.randn(8640, 7)
    loader = DataLoader(WindowDataset(values, 96, 96), batch_size=32, shuffle=True, num_workers=0)
    windows = Windows(values, 96, 96)
    plain, ours = best_times(
        lambda: sum(len(x) for x, _ in loader),
        lambda: sum(len(batch) for batch in windows.batches(32, torch.randperm(len(windows)))),
        seconds=SECONDS,
    )
    return Line("window batches, Dataset and DataLoader / ours", "n=7 b=32 96+96", plain / ours, 6)


def memory_line() -> Line:
    plain, ours = (_peak_in_fresh_process(side) for side in ("plain", "folded"))
    note = f"{plain:.0f} MB against {ours:.0f} MB"
    return Line("peak memory of a training step, plain / ours", str(MEMORY), plain / ours, 2.0, note)


def _peak_in_fresh_process(side: str) -> float:
    command = [sys.executable, __file__, "--memory", side]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure_memory(side: str) -> None:
    """Print the peak resident memory of one step, minus what was resident before it, in MB."""
    print(memory_growth(training_step(MEMORY, fold=side == "folded")))


def peer_line() -> Line | None:
    what, shapes = "Forecaster.predict, neuralforecast's iTransformer / ours", "ETTh1 96->96, width 512"
    floor = 12 if has_bfloat16(torch.device("cpu")) else 10
    if not HOSTS.exists():
        print(f"left out: {what} (neuralforecast is not there: make .venv-hosts)")
        return None
    command = [HOSTS, Path(__file__).parent / "peers" / "warm_predict.py"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"left out: {what} ({done.stderr.strip().splitlines()[-1]})")
        return None
    plain, ours, version, precision = json.loads(done.stdout.splitlines()[-1])
    note = f"neuralforecast {version}: {1e3 * plain:.0f} ms against {1e3 * ours:.1f} ms in {precision}"
    return Line(what, shapes, plain / ours, floor, note)


def main() -> None:
    torch.set_num_threads(2)
    lines: list[Line | None] = []
    for measure in (lag_correlation_line, window_line, inference_lines, training_lines, memory_line, peer_line):
        found = measure()
        for line in found if isinstance(found, list) else [found]:
            lines.append(line)
            if line is not None:
                mark = "ok  " if line.ratio >= line.floor else "MISS"
                print(
                    f"{mark} {line.ratio:6.2f} (at least {line.floor:g})  {line.what}, {line.shapes}  {line.note}",
                    flush=True,
                )
    written = [line for line in lines if line is not None]
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["what", "shapes", "ratio", "floor", "note"])
        writer.writerows([line.what, line.shapes, f"{line.ratio:.2f}", line.floor, line.note] for line in written)
    sys.exit(any(line.ratio < line.floor for line in written))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--memory"]:
        torch.set_num_threads(2)
        measure_memory(sys.argv[2])
    else:
        main()
