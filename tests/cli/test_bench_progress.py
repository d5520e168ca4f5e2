"""How a run of the benchmark is shown while it goes on."""

import re
import time
from collections import deque
from dataclasses import replace

import pytest
from rich.console import Console

from olinear.bench.run.planning import Plan, Planned
from olinear.bench.run.pool import Running, State
from olinear.bench.run.worker import Message
from olinear.bench.spec.identity import JobKey, TaskKey
from olinear.bench.spec.jobs import recipe
from olinear.cli.bench import progress as bench_progress
from olinear.cli.bench.output import duration
from olinear.cli.bench.progress import BenchProgress

EXCHANGE = JobKey(TaskKey("Exchange", 96, 96))
RECIPE = recipe(EXCHANGE)


def test_on_a_terminal_there_is_a_live_table(monkeypatch, capsys):
    """What each worker does, and the time left; a line for each job that ended stays above it."""
    monkeypatch.setattr(bench_progress, "Console", lambda **_: Console(force_terminal=True, width=120))
    plan = Plan([Planned(EXCHANGE, RECIPE, 100.0), Planned(replace(EXCHANGE, seed=2024), RECIPE, 40.0)], 0, [])
    state = State(deque(plan.jobs[1:]), failed=1)
    state.running[EXCHANGE] = Running(plan.jobs[0], 1, time.monotonic() - 60, "epoch 3/50: loss 0.1")
    with BenchProgress(plan, jobs=2) as shown:
        shown.show(state, Message(replace(EXCHANGE, seed=2025), "failed", "it broke"))
        shown.show(state, None)
        table = shown.live.renderable
    assert "failed Exchange 96->96 OLinear seed 2025: it broke; 1 of 2, 60 s left" in capsys.readouterr().out
    Console(width=120).print(table)
    cells = [re.split(r"\s{2,}", line.strip()) for line in capsys.readouterr().out.splitlines()]
    assert cells == [
        ["Exchange 96->96 OLinear seed 2023", "60 s", "epoch 3/50: loss 0.1"],
        ["1 of 2 jobs", "60 s left", "1 failed"],
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (89, "89 s"), (90, "2 min"), (3600, "60 min"), (5399, "90 min"), (5400, "1.5 h"), (360000, "100.0 h")],
)
def test_durations(seconds, text):
    assert duration(seconds) == text
