"""How a benchmark run is shown: its plan before, its workers while it runs."""

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.table import Table

from olinear.bench import JobKey, Message, Plan, Planned, State, published, wall_seconds
from olinear.cli.bench.output import duration
from olinear.cli.common import print_message, print_table
from olinear.data.datasets import how_to_get


def print_plan(plan: Plan, jobs: int, *, brief: bool) -> None:
    """The jobs with their estimates (only their sum, if brief) and what cannot be done."""
    if not brief:
        rows = [[*_name(planned.job), duration(planned.seconds), _how(planned)] for planned in plan.jobs]
        print_table(["task", "model", "variant", "seed", "one thread", ""], rows)
    for dataset, count in plan.missing:
        need = "job needs" if count == 1 else "jobs need"
        print_message(f"note: {count} {need} {dataset.name}, which is not here: {how_to_get(dataset)}")
    about = duration(wall_seconds(plan.jobs, jobs))
    print_message(f"{len(plan.jobs)} jobs to do, {plan.finished} finished before; about {about}")


def _name(job: JobKey) -> list[str | int]:
    return [str(job.key), job.model, str(job.variant), job.seed]


def _how(planned: Planned) -> str:
    return "alone" if planned.is_long else ""


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
        job = message.job
        paper = published().get(job.key, {}).get(job.model) if job.variant.is_main else None
        known = f" (published {paper['mse']:.3f}, {paper['mae']:.3f})" if paper and message.kind == "done" else ""
        left = duration(state.seconds_left(self.jobs))
        return f"{message.kind} {job}: {message.text}{known}; {ended} of {len(self.plan.jobs)}, {left} left"

    def _table(self, state: State) -> Table:
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        for running in state.running.values():
            spent = duration(time.monotonic() - running.started)
            table.add_row(str(running.planned.job), spent, running.note)
        ended = state.done + state.failed + state.elsewhere
        left = duration(state.seconds_left(self.jobs))
        table.add_row(f"{ended} of {len(self.plan.jobs)} jobs", f"{left} left", f"{state.failed} failed")
        return table
