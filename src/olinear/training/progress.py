"""A live line for a training run, drawn on a terminal twice a second and nowhere else."""

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

EVERY_SECONDS = 0.5


class TrainingProgress:
    """Shows epoch, loss and the time left if every epoch is used. Silent off a terminal or when not wanted.

    It draws from the training thread itself, when half a second has passed: most steps pay for one look at the
    clock (`benchmarks/progress.py` measures it).
    """

    def __init__(self, wanted: bool, max_epochs: int, steps: int, name: str = "epoch"):
        self.name, self.max_epochs, self.steps, self.note, self.drawn = name, max_epochs, steps, "", 0.0
        console = Console(file=sys.stderr)
        self.bar: Progress | None = None
        if wanted and console.is_terminal:
            self.bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.percentage:3.0f} %"),
                TimeRemainingColumn(),
                TextColumn("{task.fields[note]}"),
                console=console,
                auto_refresh=False,
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
        """Step `step` of `epoch` (both from 1) is done; a note stays until the next."""
        if self.bar is None:
            return
        self.note = note or self.note
        now = time.monotonic()
        if note or now - self.drawn >= EVERY_SECONDS:
            self.drawn = now
            done = (epoch - 1) * self.steps + step
            name = f"{self.name} {epoch}/{self.max_epochs}"
            self.bar.update(self.task, completed=done, description=name, note=self.note, refresh=True)
