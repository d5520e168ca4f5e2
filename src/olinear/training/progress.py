"""A live line for a training run, drawn on a terminal twice a second and nowhere else."""

import sys
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class TrainingProgress:
    """Shows epoch, loss and the time left if every epoch is used. Silent off a terminal or when not wanted."""

    def __init__(self, wanted: bool, max_epochs: int, steps: int):
        self.max_epochs, self.steps, self.note = max_epochs, steps, ""
        console = Console(file=sys.stderr)
        self.bar: Progress | None = None
        if wanted and console.is_terminal:
            self.bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                TextColumn("{task.fields[note]}"),
                console=console,
                refresh_per_second=2,
                transient=True,
            )
            self.task = self.bar.add_task("training", total=max_epochs * steps, note="")

    def __enter__(self) -> Self:
        if self.bar is not None:
            self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()

    def show(self, epoch: int, step: int, note: str | None = None) -> None:
        """Step `step` of `epoch` (both from 1) is done."""
        if self.bar is not None:
            done = (epoch - 1) * self.steps + step
            self.note = note or self.note
            self.bar.update(self.task, completed=done, description=f"epoch {epoch}/{self.max_epochs}", note=self.note)
