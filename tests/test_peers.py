"""`make bench-peers`: what it says of methods that only pretend, and, where the libraries are, of those."""

import csv
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = [ROOT / "benchmarks" / "peers", ROOT / "benchmarks"]
MODULES = {path.stem for folder in FOLDERS for path in folder.glob("*.py")}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The command's module; nothing of its folder stays for other tests."""
    monkeypatch.setattr(sys, "path", [*map(str, FOLDERS), *sys.path])
    before = {name: sys.modules.pop(name) for name in MODULES & sys.modules.keys()}
    yield import_module("run")
    for name in MODULES & sys.modules.keys():
        del sys.modules[name]
    sys.modules.update(before)


class Pretender:
    """Measures nothing: each method's error falls by a step of its own, a point a second."""

    def __init__(self, run: ModuleType, ends: dict[str, float]):
        self.run, self.ends, self.asked = run, ends, []

    def __call__(self, data: str, method: str, short: bool) -> object:
        self.asked.append((data, method))
        errors = np.linspace(1.0, self.ends[method], 5)
        points = [import_module("problem").Point(step, step, step + 0.5, mae, mae) for step, mae in enumerate(errors)]
        return self.run.Curve("1.0", points)


def test_the_methods_take_turns_and_nothing_is_measured_twice(run: ModuleType, tmp_path: Path):
    ends = {"olinear": 0.4, "NHITS": 0.6, "PatchTST": 0.5}
    keys = list(run.plan(["embedded", "ETTh1"], list(ends)))
    pretender, path = Pretender(run, ends), tmp_path / "peers.csv"
    run.run_missing(path, keys[:2], pretender)
    run.run_missing(path, keys, pretender)
    again = ["olinear", "NHITS"]
    expected = [("embedded", name) for name in [*ends, *again, *again]] + [("ETTh1", name) for name in ends]
    assert pretender.asked == expected
    run.run_missing(path, keys, pretender)
    assert pretender.asked == expected
    assert len(run.read_rows(path)) == 5 * len(expected)


def test_what_is_measured_again_is_only_what_was_named(run: ModuleType, tmp_path: Path):
    ends = {"olinear": 0.4, "NHITS": 0.6}
    path, keys = tmp_path / "peers.csv", list(run.plan(["embedded", "ETTh1"], list(ends)))
    run.run_missing(path, keys, Pretender(run, ends))
    run.forget(path, ["NHITS", "ETTh1"])
    assert {(row["data"], row["method"]) for row in run.read_rows(path)} == {("embedded", "olinear")}
    with pytest.raises(SystemExit, match="no rows of TSMixer"):
        run.forget(path, ["TSMixer"])


@pytest.mark.parametrize(("end", "ratio"), [(0.2, "1.80"), (0.7, "never"), (0.6, "1.00")])
def test_the_headline_is_the_time_to_the_error_of_the_rival(
    run: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], end: float, ratio: str
):
    """The rival ends with 0.6 after 4.5 s; ours is at 0.6 after 2.5 s if it falls twice as fast."""
    ends, path = {"olinear": end, "NHITS": 0.6}, tmp_path / "peers.csv"
    run.run_missing(path, list(run.plan(["embedded"], list(ends))), Pretender(run, ends))
    assert run.report(path, tmp_path / "peers.png") == (ratio != "never")
    with (tmp_path / "peers-headline.csv").open() as file:
        (line,) = csv.DictReader(file)
    assert (line["ratio"], line["MAE"], line["NHITS, s"]) == (ratio, "0.6000", "4.5")
    assert ("MISS" in capsys.readouterr().out) == (ratio == "never")
    assert (tmp_path / "peers.png").stat().st_size > 1000


def test_of_a_rival_that_was_not_measured_nothing_is_said(run: ModuleType, tmp_path: Path):
    path, ends = tmp_path / "peers.csv", {"olinear": 0.4}
    run.run_missing(path, list(run.plan(["embedded"], list(ends))), Pretender(run, ends))
    rows = run.read_rows(path)
    assert run.figures.headline(rows) == []
    assert [line["s to NHITS's last MAE"] for line in run.figures.summary(rows)] == [""]


def test_what_is_not_there_is_left_out_with_a_reason(
    run: ModuleType, bare_machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(run, "find_spec", lambda name: None if name == "neuralforecast" else object())
    assert run.present_data() == ["embedded"]
    assert run.present_methods() == ["olinear", "olinear, precision=auto", "LightGBM"]
    out = capsys.readouterr().out
    assert "left out: ETTh1 (ETTh1 needs ETTh1.csv, not found" in out
    assert "left out: NHITS (neuralforecast is not installed here: make .venv-hosts" in out


def test_nobody_trains_on_what_is_scored_and_gaps_are_not(run: ModuleType):
    problem = run.Problem.load("embedded")
    rows = problem.values[: problem.training]
    assert np.abs(rows.mean(0)).max() < 0.05
    assert np.abs(rows.std(0) - 1).max() < 0.05
    assert not problem.present.all()
    targets = np.stack([problem.values[first : first + problem.horizon] for first in problem.origins])
    assert problem.score(targets) == {"mae": 0.0, "mse": 0.0}
    gaps = np.stack([~problem.present[first : first + problem.horizon] for first in problem.origins])
    assert problem.score(targets + 9.0 * gaps)["mae"] == 0.0
    assert problem.score(targets - 2.0) == {"mae": pytest.approx(2.0), "mse": pytest.approx(4.0)}
    assert (problem.lookbacks()[-1, -1] == problem.values[-problem.horizon - 1]).all()
    with pytest.raises(ValueError, match="differs from `predict`"):
        problem.agree(targets, {problem.origins[1]: targets[0]})


@pytest.mark.parametrize("method", ["olinear", "NHITS", "TSMixer", "LightGBM"])
def test_a_curve_ends_with_what_fit_leaves(run: ModuleType, method: str, monkeypatch: pytest.MonkeyPatch):
    """The methods themselves compare what is scored with their public `predict`, and refuse a difference."""
    file, package = run.METHODS[method]
    pytest.importorskip(package)
    problem = run.Problem.load("embedded").shortened()
    curve = import_module(file).measure(method, problem, short=True)
    assert run.Curve.from_json(curve.as_json()) == curve
    times = [point.fit_seconds for point in curve.points]
    assert times == sorted(times)
    assert all(point.seconds <= point.fit_seconds for point in curve.points)
    assert all(0 < point.mae < 2 for point in curve.points)
    assert [point.steps for point in curve.points] == sorted(point.steps for point in curve.points)


def pins(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==(\S+)$", (ROOT / name).read_text(), re.MULTILINE))


def test_the_hosts_have_the_versions_of_ours_but_for_pandas():
    """So that what is measured beside other libraries is what is measured alone."""
    ours, hosts = pins("constraints.txt"), pins("constraints-hosts.txt")
    plain = {name.lower().replace("_", "-"): version for name, version in hosts.items()}
    differing = {name for name, version in ours.items() if plain[name.lower().replace("_", "-")] != version}
    assert differing == {"pandas"}
    assert {"neuralforecast", "mlforecast", "lightgbm"} <= hosts.keys()
