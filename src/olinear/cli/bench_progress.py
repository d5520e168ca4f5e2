"""How a benchmark run is shown: its plan before, its workers while it runs."""

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

from olinear.bench.run import Message, Plan, State, wall_seconds
from olinear.bench.spec import published
from olinear.cli.common import print_table, say
from olinear.data.datasets import find_dataset, how_to_get


def print_plan(plan: Plan, jobs: int, *, brief: bool) -> None:
    """The jobs with their estimates (only their sum, if brief) and what cannot be done."""
    if not brief:
        rows = [
            [str(p.job.key), p.job.model, p.job.variant, p.job.seed, duration(p.seconds), "alone" if p.is_long else ""]
            for p in plan.jobs
        ]
        print_table(["task", "model", "variant", "seed", "one thread", ""], rows)
    for name, count in plan.missing.items():
        need = "job needs" if count == 1 else "jobs need"
        say(f"note: {count} {need} {name}, which is not here: {how_to_get(find_dataset(name))}")
    about = duration(wall_seconds(plan.jobs, jobs))
    say(f"{len(plan.jobs)} jobs to do, {plan.finished} finished before; about {about}")


def duration(seconds: float) -> str:
    """A length of time for people: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


class BenchProgress:
    """On a terminal a live table of the workers; elsewhere a line for each job that ends."""

    def __init__(self, plan: Plan, jobs: int):
        self.plan, self.jobs = plan, jobs
        self.console = Console(file=sys.stderr)
        self.live = Live(console=self.console, refresh_per_second=4) if self.console.is_terminal else None

    def __enter__(self) -> Self:
        if self.live:
            self.live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.live:
            self.live.update("")
            self.live.stop()

    def show(self, state: State, message: Message | None) -> None:
        if message is not None and message.kind != "busy":
            self.console.print(self._line(state, message), highlight=False, soft_wrap=True, markup=False)
        if self.live:
            self.live.update(self._table(state))

    def _line(self, state: State, message: Message) -> str:
        ended = state.done + state.failed + state.elsewhere
        model = published().get(message.job.key, {}).get(message.job.model) if message.job.variant == "main" else None
        beside = f" (published {model['mse']:.3f}, {model['mae']:.3f})" if model and message.kind == "done" else ""
        left = duration(state.seconds_left(self.jobs))
        return f"{message.kind} {message.job}: {message.text}{beside}; {ended} of {len(self.plan.jobs)}, {left} left"

    def _table(self, state: State) -> Table:
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        for running in state.running.values():
            spent = duration(time.monotonic() - running.started)
            table.add_row(str(running.planned.job), spent, running.note)
        ended = state.done + state.failed + state.elsewhere
        left = duration(state.seconds_left(self.jobs))
        table.add_row(f"{ended} of {len(self.plan.jobs)} jobs", f"{left} left", f"{state.failed} failed")
        return table
