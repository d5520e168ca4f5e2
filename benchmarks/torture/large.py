"""What large inputs cost: `python benchmarks/torture/large.py` (about ten minutes; rows that are there stay).

20,000 series of 300 rows: reading the wide CSV file, `olinear fit --rank 16 --max-epochs 1` on it, the same fit on an
array that is read already, and the intervals of a model for 96 steps on disk. 2,000 series of 5,000 rows: `olinear
backtest` of 5,000 windows with its intervals. Each case has a process of its own, whose seconds and largest resident
memory are written to benchmarks/results/torture/large.csv next to what they may be. `--short` does it all small, in
seconds, to standard output; `--folder` keeps the made-up files.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
from figures import Figure, Row, at_most
from rows import add_row, read_rows

from olinear import Forecaster
from olinear.data.frames import Frequency, Panel, read_panel

RESULTS = Path(__file__).parents[1] / "results" / "torture" / "large.csv"
OLINEAR = [sys.executable, "-m", "olinear"]
FITTED = 1000  # rows that the model of the backtest is fitted on
GB = 10**9


@dataclass(frozen=True)
class Sizes:
    """Of the two inputs, and how many windows are tested."""

    wide: tuple[int, int] = (20_000, 300)
    deep: tuple[int, int] = (2_000, 5_000)
    windows: int = 5_000
    horizon: int = 96  # of the model whose intervals are weighed


WHAT = {
    "read": "20,000 series × 300 rows, wide CSV: read",
    "fit": "the same: olinear fit --rank 16 --max-epochs 1",
    "fit an array": "the same fit of an array",
    "fit for 96 steps": "the same for 96 steps",
    "backtest": "2,000 series × 5,000 rows: olinear backtest, 5,000 windows",
}
SHORT = Sizes((60, 200), (20, 1_200), 50, 24)


@dataclass(frozen=True)
class Case:
    """A command, what is made before it, and what it may take; NaN where nothing is promised."""

    name: str
    command: list[str]
    prepare: Callable[[], object]
    seconds: float
    gb: float = 3.0


def values_of(n_series: int, rows: int) -> NDArray[np.float64]:
    """A day with noise in each series, at its own place and height."""
    rng = np.random.default_rng(n_series)
    day = np.sin(2 * np.pi * np.arange(rows)[:, None] / 24 + rng.uniform(0, 6, n_series))
    return day * rng.uniform(1, 5, n_series) + rng.normal(0, 0.3, (rows, n_series)) + rng.normal(0, 10, n_series)


def panel_of(n_series: int, rows: int) -> Panel:
    times = pd.date_range("2024-01-01", periods=rows, freq="h")
    return Panel(values_of(n_series, rows), times, [f"s{i}" for i in range(n_series)], Frequency("h"))


def write_csv(path: Path, n_series: int, rows: int) -> None:
    """A wide table with three decimals, written without pandas, which is slow for so many columns."""
    if path.exists():
        return
    panel, part = panel_of(n_series, rows), path.with_suffix(".part")
    with part.open("w") as file:
        file.write(",".join(["time", *panel.series]) + "\n")
        for stamp, row in zip(panel.times, panel.values.tolist(), strict=True):
            file.write(f"{stamp}," + ",".join(f"{value:.3f}" for value in row) + "\n")
    part.replace(path)


def fit_for_backtest(folder: Path, n_series: int) -> None:
    if not (folder / "config.json").exists():
        forecaster = Forecaster(24, 96, rank=16, max_epochs=1, progress=False)
        forecaster.fit(panel_of(n_series, FITTED)).save(folder)


def cases_in(folder: Path, sizes: Sizes) -> list[Case]:
    wide, deep, model = folder / "wide.csv", folder / "deep.csv", folder / "deep-model"
    small = ["--horizon", "24", "--rank", "16", "--max-epochs", "1", "--no-progress"]

    def make_wide() -> None:
        write_csv(wide, *sizes.wide)

    def make_deep() -> None:
        write_csv(deep, *sizes.deep)
        fit_for_backtest(model, sizes.deep[0])

    n, rows = map(str, sizes.wide)
    own = [sys.executable, __file__, "--part"]
    tested = ["--windows", str(sizes.windows), "--stride", "1", "--json"]
    return [
        Case("read", [*own, "read", str(wide)], make_wide, 15.0),
        Case("fit", [*OLINEAR, "fit", str(wide), *small, "--out", str(folder / "wide-model")], make_wide, 60.0),
        Case("fit an array", [*own, "fit", n, rows, "24"], lambda: None, 60.0),
        Case(
            "fit for 96 steps", [*own, "save", n, rows, str(sizes.horizon), str(folder / "long")], lambda: None, np.nan
        ),
        Case("backtest", [*OLINEAR, "backtest", str(model), str(deep), *tested], make_deep, np.nan),
    ]


def run_part(name: str, arguments: list[str]) -> None:
    """What the process of a case does, where that is no command of olinear."""
    if name == "read":
        read_panel(arguments[0])
        return
    n_series, rows, horizon = map(int, arguments[:3])
    forecaster = Forecaster(horizon, rank=16, max_epochs=1, progress=False).fit(panel_of(n_series, rows))
    if name == "save":
        forecaster.save(arguments[3])


def measure(command: list[str]) -> tuple[float, float]:
    """Seconds, and the largest resident memory in GB, of a process of its own."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    if status:
        sys.exit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / GB


def interval_bytes(folder: Path) -> int:
    """What the intervals of a model folder take on the disk."""
    from safetensors.numpy import load_file

    tensors = load_file(next(folder.glob("weights*.safetensors")))
    return sum(array.nbytes for name, array in tensors.items() if name.startswith("intervals."))


def figures(rows: Sequence[Row]) -> list[Figure]:
    """Time and memory of each case that has a limit, and the room of the intervals."""
    found = {row["case"]: row for row in rows}
    lines = []
    for case in cases_in(Path(), Sizes()):
        row, what = found[case.name], WHAT[case.name]
        if not np.isnan(case.seconds):
            lines.append(at_most(what, "seconds", float(row["seconds"]), case.seconds))
        lines.append(at_most(what, "peak memory, GB", float(row["peak_gb"]), case.gb))
    size = float(found["fit for 96 steps"]["intervals_mb"])
    return [*lines, at_most("a model of 20,000 series × 96 steps", "intervals on disk, MB", size, 10)]


def main() -> None:
    parser = argparse.ArgumentParser(description="what large inputs cost")
    parser.add_argument("--short", action="store_true", help="all cases small, to standard output")
    parser.add_argument("--folder", type=Path, help="where to make the files, which stay there")
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        run_part(given.part[0], given.part[1:])
        return
    done = set() if given.short else {row["case"] for row in read_rows(RESULTS)}
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for case in cases_in(folder, SHORT if given.short else Sizes()):
            if case.name in done:
                continue
            case.prepare()
            seconds, gb = measure(case.command)
            size = interval_bytes(folder / "long") / 10**6 if case.name == "fit for 96 steps" else np.nan
            row = {
                "case": case.name,
                "seconds": f"{seconds:.1f}",
                "peak_gb": f"{gb:.2f}",
                "limit_seconds": f"{case.seconds:g}",
                "limit_gb": f"{case.gb:g}",
                "intervals_mb": f"{size:.2f}",
                "limit_mb": "10" if size == size else "nan",
            }
            print(row) if given.short else add_row(RESULTS, row)


if __name__ == "__main__":
    main()
