"""How much faster ours is than the plain formula: `make bench-speed`. Writes benchmarks/results/speed.csv.

Every line is a ratio of two times (or memories) measured in this run, each side in a process of its own, in turns, the
best of several repetitions; the run fails if a floor is missed. Width 512, embedding 16, lookback 96, two threads. The
plain formula computes in float32 by torch's own kernels; ours once with `precision="auto"`, once in float32.
"""

import csv
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import torch
from sides import THREADS, best_of
from speed_cases import FOLDED, PLAIN, UNITS, Case, Floors, Line, forecast, multiplications, product, training_step
from torch.utils.data import DataLoader, Dataset

from olinear.core.runtime import has_onednn, memory_growth
from olinear.data.windows import Windows
from olinear.nn.functional import lag_correlation

RESULTS = Path(__file__).parent / "results" / "speed.csv"
HOSTS = Path(__file__).parent.parent / ".venv-hosts" / "bin" / "python"

CASES = (Case(7, 32, 2, 96), Case(7, 32, 2, 720), Case(137, 32, 2, 96), Case(321, 16, 3, 96), Case(321, 16, 3, 720))
TRAINING = [Floors(2.6, 1.15), Floors(3.0, 1.1), Floors(6.0, 2.1), Floors(5.2, 1.8), Floors(12.5, 4.8)]
INFERENCE = [Floors(6, 2.3), Floors(25, 9), Floors(8, 2.2), Floors(7, 1.9), Floors(27, 7.2)]
SHORT = {  # the shapes of three of the paper's short tasks: Unemp, Wiki, COVID-19
    Case(53, 4, 3, 6, 512, 12): Floors(2.0, 1.5),
    Case(99, 8, 1, 24, 512, 36): Floors(2.0, 1.5),
    Case(55, 4, 5, 24, 1024, 36): Floors(2.0, 1.5),
}
OURS = ("auto", "float32")
SHARE, MEMORY = Floors(0.6, 0.4), Floors(3.0, 2.2)


def training_lines() -> Iterator[Line]:
    for case, floors in zip(CASES, TRAINING, strict=True):
        kinds = _kernels() if case == Case(321, 16, 3, 96) else []
        products = [(product, size, kind) for kind in kinds for size in (1024, 2048)]
        ways = [case.way(name) for name in OURS]
        sides = [(training_step, case, way) for way in (PLAIN, *ways)]
        plain, auto, float32, *speeds = best_of([*sides, *products], case.seconds)
        for name, way, ours in zip(OURS, ways, (auto, float32), strict=True):
            note = f"{1e3 * plain:.1f} ms against {1e3 * ours:.1f} ms in {way}"
            yield Line(f"training step, plain / ours ({name})", str(case), plain / ours, floors.of(name), note)
        for name, ours in zip(OURS, (auto, float32), strict=True) if speeds else ():
            width = "bfloat16" if name == "auto" and UNITS else "float32"
            of_width = [
                size**3 / seconds
                for (_, size, kind), seconds in zip(products, speeds, strict=True)
                if kind.startswith(width)
            ]
            share, best = multiplications(case) / ours / max(of_width), 2e-9 * max(of_width)
            what = f"multiplications of a training step ({name}), share of the best {width} kernel"
            yield Line(what, str(case), share, SHARE.of(name), f"the kernel: {best:.0f} GFLOP/s")


def short_lines() -> Iterator[Line]:
    """On one thread, as the benchmark trains them."""
    for case, floors in SHORT.items():
        ways = [case.way(name, 1) for name in OURS]
        before, *ours = best_of([(training_step, case, way, 1) for way in (FOLDED, *ways)], 8.0)
        for name, seconds in zip(OURS, ours, strict=True):
            what = f"short task on one thread, float32 by torch / ours ({name})"
            note = f"{1e3 * before:.1f} ms against {1e3 * seconds:.1f} ms"
            yield Line(what, str(case), before / seconds, floors.of(name), note)


def _kernels() -> list[str]:
    found = ["float32 torch", *(["float32 onednn"] if has_onednn() else [])]
    return [*found, "bfloat16 torch", *(["bfloat16 onednn"] if has_onednn() else [])] if UNITS else found


def inference_lines() -> Iterator[Line]:
    for case, floors in zip(CASES, INFERENCE, strict=True):
        ways = [case.way(name) for name in OURS]
        plain, *ours = best_of([(forecast, case, way) for way in (PLAIN, *ways)], case.seconds)
        for name, way, seconds in zip(OURS, ways, ours, strict=True):
            note = f"{1e3 * plain:.1f} ms against {1e3 * seconds:.2f} ms in {way}"
            yield Line(f"inference, plain / ours ({name})", str(case), plain / seconds, floors.of(name), note)


def lag_correlation_sides(kind: str) -> Callable[[], object]:
    size, rows, n = 720, 20000, 8
    values = np.random.default_rng(0).normal(size=(rows, n)).cumsum(0)

    def lagged_copies() -> object:
        length = rows - size + 1
        return np.mean([np.corrcoef([x[i : i + length] for i in range(size)]) for x in values.T], axis=0)

    return lagged_copies if kind == "plain" else lambda: lag_correlation(values, size)


class WindowDataset(Dataset):  # type: ignore[type-arg]
    """The usual way: one Python call for each window."""

    def __init__(self, values: torch.Tensor, lookback: int, horizon: int):
        self.values, self.lookback, self.horizon = values, lookback, horizon

    def __len__(self) -> int:
        return len(self.values) - self.lookback - self.horizon + 1

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        middle = index + self.lookback
        return self.values[index:middle], self.values[middle : middle + self.horizon]


def window_sides(kind: str) -> Callable[[], object]:
    values = torch.randn(8640, 7)
    loader = DataLoader(WindowDataset(values, 96, 96), batch_size=32, shuffle=True, num_workers=0)
    windows = Windows(values, 96, 96)
    if kind == "plain":
        return lambda: sum(len(x) for x, _ in loader)
    return lambda: sum(len(batch) for batch in windows.batches(32, torch.randperm(len(windows))))


def data_lines() -> Iterator[Line]:
    plain, ours = best_of([(lag_correlation_sides, "plain"), (lag_correlation_sides, "ours")], 12.0)
    yield Line("lag_correlation, np.corrcoef of the copies / ours", "T=720 M=20000 n=8", plain / ours, 12)
    plain, ours = best_of([(window_sides, "plain"), (window_sides, "ours")], 12.0)
    yield Line("window batches, Dataset and DataLoader / ours", "n=7 b=32 96+96", plain / ours, 6)


def memory_lines() -> Iterator[Line]:
    plain, ours = (_peak_in_fresh_process(side) for side in ("plain", "auto"))
    what, note = "peak memory of a training step, plain / ours (auto)", f"{plain:.0f} MB against {ours:.0f} MB"
    yield Line(what, str(CASES[-1]), plain / ours, MEMORY.of("auto"), note)


def _peak_in_fresh_process(side: str) -> float:
    command = [sys.executable, __file__, "--memory", side]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure_memory(side: str) -> None:
    """Print the peak resident memory of one step, minus what was resident before it, in MB."""
    way = PLAIN if side == "plain" else CASES[-1].way(side)
    print(memory_growth(training_step(CASES[-1], way)))


def peer_lines() -> Iterator[Line]:
    what, shapes = "Forecaster.predict, neuralforecast's iTransformer / ours", "ETTh1 96->96, width 512"
    if not HOSTS.exists():
        print(f"left out: {what} (neuralforecast is not there: make .venv-hosts)")
        return
    command = [HOSTS, Path(__file__).parent / "peers" / "warm_predict.py"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(f"left out: {what} ({done.stderr.strip().splitlines()[-1]})")
        return
    plain, ours, version, precision = json.loads(done.stdout.splitlines()[-1])
    note = f"neuralforecast {version}: {1e3 * plain:.0f} ms against {1e3 * ours:.1f} ms in {precision}"
    yield Line(what, shapes, plain / ours, 12 if UNITS else 10, note)


def show(lines: Iterable[Line]) -> list[Line]:
    found = []
    for line in lines:
        mark = "ok  " if line.ratio >= line.floor else "MISS"
        print(
            f"{mark} {line.ratio:6.2f} (at least {line.floor:g})  {line.what}, {line.shapes}  {line.note}", flush=True
        )
        found.append(line)
    return found


def main() -> None:
    written = []
    for lines in (data_lines, inference_lines, training_lines, short_lines, memory_lines, peer_lines):
        written += show(lines())
    with RESULTS.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["what", "shapes", "ratio", "floor", "note"])
        for line in written:
            note = line.note if line.ratio >= line.floor else f"MISSED; {line.note}"
            writer.writerow([line.what, line.shapes, f"{line.ratio:.2f}", line.floor, note])
    sys.exit(any(line.ratio < line.floor for line in written))


if __name__ == "__main__":
    torch.set_num_threads(THREADS)
    if sys.argv[1:2] == ["--memory"]:
        measure_memory(sys.argv[2])
    else:
        main()
