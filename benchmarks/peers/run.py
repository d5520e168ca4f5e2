"""Ours and other libraries beside each other: validation error against the time of training. `make bench-peers`.

    run.py                       # what is not in the file yet, then the tables and the picture
    run.py --again NHITS ETTh1   # anew what belongs to these methods or datasets
    run.py --quick               # a smoke test: few rows and steps, nothing is kept
    run.py --table               # only the tables and the picture, from the rows there are

Every fit has a process of its own, on two threads, and the methods take turns. All get the same rows, standardised by
the rows that train and with bridged gaps; their settings are their defaults but for horizon, lookback and number of
series. What trains for more than two minutes is cut, but for the rival of the headline. They are scored on every window
of the rows that come after; the newest rows, a dataset's test span, are not read. benchmarks/results/peers.csv has a
line for each point of each curve: seconds of training, seconds since the call of `fit`, and both errors; scoring is not
counted; `load` is how busy the machine was with other work (processes, before the fit), which spoils the seconds.
peers-headline.csv and peers-summary.csv come from it. The command ends with 1 if the headline is below what is wanted.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1]))
import figures
from problem import HORIZONS, Curve, Problem
from rows import add_row, read_rows

from olinear.core import DataError

RESULTS = Path(__file__).parents[1] / "results" / "peers.csv"
PICTURE = Path(__file__).parents[2] / "docs" / "images" / "peers.png"
METHODS = {  # the file here that measures it, and the package it needs
    "olinear": ("ours", "olinear"),
    "olinear, precision=auto": ("ours", "olinear"),
    "NHITS": ("neural", "neuralforecast"),
    "TSMixer": ("neural", "neuralforecast"),
    "iTransformer": ("neural", "neuralforecast"),
    "PatchTST": ("neural", "neuralforecast"),
    "LightGBM": ("boosted", "mlforecast"),
}
REPETITIONS = 3  # of what the headline compares
THREADS = 2
MOST = 120.0  # seconds of training, after which a curve is cut: one of the models would take an hour

Key = tuple[str, str, int]  # data, method, repetition
Measure = Callable[[str, str, bool], Curve]


def plan(data: list[str], methods: list[str]) -> Iterator[Key]:
    """The fits in order: within a dataset the methods take turns."""
    compared = {figures.RIVAL, *figures.OURS}
    for name in data:
        for repetition in range(1, REPETITIONS + 1):
            for method in methods:
                if repetition == 1 or (name == figures.GROUND and method in compared):
                    yield name, method, repetition


def run_missing(path: Path, keys: list[Key], measure: Measure, *, short: bool = False) -> None:
    """Measure what is not in the file, and add its rows."""
    done = {(row["data"], row["method"], int(row["repetition"])) for row in read_rows(path)}
    for data, method, repetition in keys:
        if (data, method, repetition) in done:
            continue
        here = {"machine": machine(), "load": f"{os.getloadavg()[0]:.1f}"}
        curve = measure(data, method, short)
        for point in curve.points:
            numbers = {name: f"{value:.6g}" for name, value in asdict(point).items() if name != "steps"}
            row = {"data": data, "method": method, "version": curve.version, "repetition": repetition}
            add_row(path, row | {"steps": point.steps} | numbers | {"note": curve.note} | here)


def forget(path: Path, names: list[str]) -> None:
    """Take the rows of these datasets or methods out of the file."""
    rows = read_rows(path)
    left = [row for row in rows if row["data"] not in names and row["method"] not in names]
    if len(left) == len(rows):
        sys.exit(f"{path.name} has no rows of {', '.join(names)}")
    path.unlink()
    figures.write(path, left)


def in_a_process(data: str, method: str, short: bool) -> Curve:
    command = [sys.executable, __file__, "--measure", data, method, *(["--quick"] if short else [])]
    limits = {name: str(THREADS) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    with tempfile.TemporaryDirectory() as folder:  # libraries leave things where they run
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=os.environ | limits)
    if done.returncode:
        sys.exit(f"{method} on {data} failed")
    return Curve.from_json(json.loads(done.stdout.splitlines()[-1]))


def measure_here(data: str, method: str, short: bool) -> Curve:
    import torch

    torch.set_num_threads(THREADS)
    torch.optim.Adam([torch.zeros(1, requires_grad=True)])  # torch imports much at the first, for some before `fit`
    problem, file = Problem.load(data), METHODS[method][0]
    whole = (data, method) == (figures.GROUND, figures.RIVAL)  # the headline asks for the error it ends with
    limit = {"most": MOST} if file == "neural" and not whole else {}
    return import_module(file).measure(method, problem.shortened() if short else problem, short=short, **limit)


def machine() -> str:
    """What the wanted ratio depends on."""
    import torch

    from olinear.core.runtime import has_bfloat16

    return "bfloat16 units" if has_bfloat16(torch.device("cpu")) else "no bfloat16 units"


def present_data() -> list[str]:
    found = []
    for name in HORIZONS:
        try:
            Problem.load(name)
            found.append(name)
        except DataError as error:
            print(f"left out: {name} ({error})")
    return found


def present_methods() -> list[str]:
    lacking = {method: package for method, (_, package) in METHODS.items() if find_spec(package) is None}
    for method, package in lacking.items():
        print(f"left out: {method} ({package} is not installed here: make .venv-hosts, .venv-hosts/bin/python …)")
    return [method for method in METHODS if method not in lacking]


def report(path: Path, picture: Path) -> bool:
    """Write the tables and the picture that follow from the rows; whether the headline is as wanted."""
    rows = read_rows(path)
    lines = figures.headline(rows)
    for line in lines:
        mark = "ok  " if figures.kept(line) else "MISS"
        print(mark, ", ".join(f"{name}: {value}" for name, value in line.items()))
    figures.write(path.with_name(f"{path.stem}-headline.csv"), lines)
    figures.write(path.with_name(f"{path.stem}-summary.csv"), figures.summary(rows))
    figures.draw(rows, picture)
    return all(figures.kept(line) for line in lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", nargs="+", metavar="NAME", help="methods or datasets to measure anew")
    parser.add_argument("--quick", action="store_true", help="a smoke test, in a folder that is thrown away")
    parser.add_argument("--table", action="store_true", help="measure nothing")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.measure:
        print(json.dumps(measure_here(*options.measure, options.quick).as_json()))
        return 0
    if options.again:
        forget(RESULTS, options.again)
    if options.table:
        return int(not report(RESULTS, PICTURE))
    keys = list(plan(present_data(), present_methods()))
    if not options.quick:
        run_missing(RESULTS, keys, in_a_process)
        return int(not report(RESULTS, PICTURE))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "peers.csv"
        run_missing(path, [key for key in keys if key[2] == 1], in_a_process, short=True)
        report(path, path.with_suffix(".png"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
