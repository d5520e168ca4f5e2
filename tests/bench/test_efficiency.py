"""What a model costs: measured beside OLinear, recorded whatever happens."""

import os
import signal
import time
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
import torch
from efficiency_parts import cost, find_case
from filelock import FileLock

from olinear.bench.costs import measuring
from olinear.bench.costs.cases import (
    Case,
)
from olinear.bench.costs.measuring import Budget, Measured, _in_words, _measure
from olinear.bench.costs.rows import CostRow, add_cost, costs_file, costs_of, read_costs
from olinear.bench.costs.running import Runner, make_plan
from olinear.bench.store.results import runs_folder
from olinear.core.errors import ConfigError, DataError
from olinear.core.runtime import Send

# From Python 3.12 on, forking a process that has threads is warned of; what is forked here uses none of them.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")

SMALL = Case("DLinear", "main", 2, lookback=8, horizon=4, batch=2)
OTHER = replace(SMALL, model="RLinear")
THIRD = replace(SMALL, model="FITS")
SOLVED = replace(SMALL, model="Ridge")
QUICK = Budget(seconds=0.02, call=20.0)
SPEED = 1e9

# Measuring


@pytest.mark.parametrize("stage", SMALL.stages)
def test_a_stage_gives_memory_time_and_ratio(stage, monkeypatch):
    monkeypatch.setattr("olinear.bench.costs.measuring.TURN", 0.0001)
    sent: list[Measured] = []
    _measure(SMALL, stage, QUICK, sent.append)
    found = {name: value for message in sent for name, value in message.found.items()}
    assert found[f"{stage}_ratio"] == pytest.approx(found[f"{stage}_ms"] / found[f"reference_{stage}_ms"])
    assert 0 < found[f"{stage}_ratio"] < 1  # DLinear against OLinear
    assert f"{stage}_memory_mb" in found or not Path("/proc/self/status").exists()
    assert sent[0].silence == QUICK.call


def test_a_slow_call_is_not_repeated(monkeypatch):
    """Two training steps are needed for the memory, and a third of a minute each would tell nothing more."""
    calls: list[str] = []
    monkeypatch.setattr(measuring, "SLOW", 0.0)
    monkeypatch.setattr(measuring, "training_step", lambda model, case: lambda: calls.append(type(model).__name__))
    _measure(SMALL, "training", QUICK, lambda message: None)
    assert calls.count("DLinear") == 2
    assert calls.count("OLinear") > 2


def test_want_of_memory_is_called_so():
    assert _in_words(MemoryError()).startswith("out of memory")
    assert _in_words(RuntimeError("[enforce fail] can't allocate memory: …")).startswith("out of memory: [enforce")
    assert _in_words(ValueError("too\nmany")) == "ValueError: too many"


# Running


def quick_runner(results: Path, work: Any, **options: Any) -> Runner:
    """A runner whose processes start in a moment and do what they are given."""
    runner = Runner(results, budget=QUICK, **options)
    runner.context, runner.work = get_context("fork"), work
    return runner


def behave(case: Case, stage: str, budget: Budget, send: Send) -> None:
    """By model and stage: well, by an error, killed with something sent, and not at all."""
    send(Measured({f"{stage}_memory_mb": 3.0}))
    if case.model == "RLinear":
        if stage == "training":
            os.kill(os.getpid(), signal.SIGKILL)
        send(Measured(error="out of memory: so much"))
        return
    if case.model == "FITS" and stage == "training":
        send(Measured(silence=0.1))
        time.sleep(60)
    send(Measured({f"{stage}_ms": 4.0, f"reference_{stage}_ms": 2.0, f"{stage}_ratio": 2.0}))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_what_ends_badly_is_recorded_and_stops_nothing(tmp_path):
    plan = make_plan([SMALL, OTHER, THIRD, replace(SMALL, form="again")], tmp_path, SPEED)
    assert quick_runner(tmp_path, behave).run(plan) == 4
    rows = {(row.model, row.form): row for row in read_costs(tmp_path)}
    good, killed, slow = rows["DLinear", "main"], rows["RLinear", "main"], rows["FITS", "main"]
    assert rows["DLinear", "again"].training_ratio == good.training_ratio == 2.0
    assert (good.training_error, good.inference_error) == ("", "")
    assert killed.inference_error == "out of memory: so much"
    assert killed.training_error == "killed: its process ended with code -9 (killed, or out of memory?)"
    assert (killed.training_ratio, killed.training_memory_mb) == (None, 3.0)
    assert slow.training_error == "too slow: stopped after 0 seconds"
    assert slow.inference_ms == 4.0
    assert (good.parameters, good.multiplications) == (2 * (8 * 4 + 4), 2 * 2 * 8 * 4)
    assert good.threads
    assert "torch" in good.versions


def fall_asleep(case: Case, stage: str, budget: Budget, send: Send) -> None:
    send(Measured(silence=0.05))
    time.sleep(60)


def test_a_model_too_slow_for_inference_is_not_trained(tmp_path):
    asked: list[str | CostRow] = []
    runner = quick_runner(tmp_path, fall_asleep, show=lambda case, news: asked.append(news))
    runner.run(make_plan([SMALL], tmp_path, SPEED))
    assert asked[:-1] == ["inference"]
    (row,) = read_costs(tmp_path)
    assert row.training_error.startswith("too slow")


def test_what_was_too_slow_is_not_waited_for_with_more_series(tmp_path):
    """Unless it multiplies less there."""
    more, less = replace(SMALL, series=4), replace(SMALL, series=1)
    asked: list[tuple[Case, str | CostRow]] = []
    runner = quick_runner(tmp_path, fall_asleep, show=lambda case, news: asked.append((case, news)))
    runner.run(make_plan([SMALL, more, less], tmp_path, SPEED))
    assert [case for case, news in asked if news == "inference"] == [SMALL, less]
    assert {row.series: row.inference_error for row in read_costs(tmp_path)}[4] == "too slow: already with 2 series"


@pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="needs Linux")
def test_want_of_memory_ends_only_the_case(tmp_path, monkeypatch):
    """A process may take a share of what is available; beyond it an allocation fails, before the system must kill."""
    available = int(Path("/proc/meminfo").read_text().partition("MemAvailable:")[2].split()[0])
    monkeypatch.setattr(measuring, "SPARE", 0.2)
    monkeypatch.setattr(measuring, "warm_up", lambda make: None)
    monkeypatch.setattr(measuring, "build", lambda case: torch.empty(available // 2, 1024, dtype=torch.int8))
    quick_runner(tmp_path, measuring.measure).run(make_plan([SOLVED], tmp_path, SPEED))
    (row,) = read_costs(tmp_path)
    assert row.inference_error.startswith("out of memory: ")
    assert row.multiplications == 2 * 8 * 4


def test_a_case_that_cannot_be_built_is_recorded(tmp_path):
    wrong = replace(SMALL, settings='{"width": 3}')
    plan = make_plan([wrong], tmp_path, SPEED)
    assert Runner(tmp_path).run(plan) == 1
    (row,) = read_costs(tmp_path)
    assert "width" in row.training_error
    assert row.parameters is None


def test_a_real_process_measures(tmp_path):
    """One that has only inference: torch's optimizers take seconds to import, and a step was measured above."""
    assert Runner(tmp_path, budget=QUICK).run(make_plan([SOLVED], tmp_path, SPEED)) == 1
    (row,) = read_costs(tmp_path)
    assert (row.inference_error, row.training_error, row.training_ms) == ("", "", None)
    assert row.inference_ratio == pytest.approx(row.inference_ms / row.reference_inference_ms, rel=1e-3)


def test_what_is_there_is_not_measured_again(tmp_path):
    add_cost(tmp_path, cost("DLinear"))
    cases = [find_case("DLinear"), find_case("RLinear")]
    assert [planned.case.model for planned in make_plan(cases, tmp_path, SPEED)] == ["RLinear"]
    assert len(make_plan(cases, tmp_path, SPEED, again=True)) == 2
    other = replace(find_case("DLinear"), settings='{"window": 13}')
    assert [planned.case for planned in make_plan([other], tmp_path, SPEED)] == [other]


def test_rows_of_other_settings_are_left_out(tmp_path):
    """A model that is no longer trained in a size of its own must not be drawn with what that once cost."""
    add_cost(tmp_path, cost("DLinear"))
    add_cost(tmp_path, replace(cost("RLinear"), settings='{"dropout": 0.5}'))
    assert [row.model for row in costs_of([find_case("DLinear"), find_case("RLinear")], tmp_path)] == ["DLinear"]


def test_a_row_takes_the_place_of_the_earlier_one(tmp_path):
    for row in (cost("RLinear"), cost("DLinear"), cost("OLinear", "plain"), cost("DLinear", ratio=3.0)):
        add_cost(tmp_path, row)
    rows = read_costs(tmp_path)
    assert [row.model for row in rows] == ["OLinear", "DLinear", "RLinear"]
    assert rows[1] == cost("DLinear", ratio=3.0)
    assert list(costs_file(tmp_path).parent.iterdir()) == [costs_file(tmp_path)]


def test_an_interrupt_leaves_what_was_measured(tmp_path):
    def interrupt(case: Case, news: str | CostRow) -> None:
        if case == OTHER:
            raise KeyboardInterrupt

    runner = quick_runner(tmp_path, behave, show=interrupt)
    with pytest.raises(KeyboardInterrupt):
        runner.run(make_plan([SMALL, OTHER], tmp_path, SPEED))
    assert [row.case for row in read_costs(tmp_path)] == [SMALL]
    runner = quick_runner(tmp_path, behave, hours=0)
    assert runner.run(make_plan([OTHER], tmp_path, SPEED)) == 0


def test_two_at_once_are_refused(tmp_path):
    with FileLock(runs_folder(tmp_path) / "costs.lock"), pytest.raises(ConfigError, match="two at once"):
        Runner(tmp_path).run([])


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [("series", "many", "lacks the columns series"), (",7,", ",seven,", "line 2 is damaged"), ("\n", ",\n", "damaged")],
)
def test_a_damaged_file_is_named(tmp_path, before, after, reason):
    add_cost(tmp_path, cost("DLinear"))
    path = costs_file(tmp_path)
    head, line = path.read_text().splitlines(keepends=True)
    path.write_text(head.replace(before, after, 1) + line if before == "series" else head + line.replace(before, after))
    with pytest.raises(DataError, match=reason):
        read_costs(tmp_path)


def test_time_is_estimated_by_multiplications(tmp_path):
    quick, slow = (make_plan([find_case(name)], tmp_path, 50e9)[0].seconds for name in ("DLinear", "TimesNet"))
    assert 8 < quick < 15
    assert 100 < slow < 300
