"""What listens to a run: a live line, a log, a stop from outside, or whatever a caller needs."""

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from olinear.core import ConfigError
from olinear.training.progress import TrainingProgress

if TYPE_CHECKING:
    from olinear.training.state import RunState

logger = logging.getLogger("olinear.training")


class Callback:
    """Called by the training loop, in the training thread; each method may be left out.

    `run.position` says where the run stands, `run.steps` how many steps an epoch has, and `run.stop()` ends it after
    the present step. A callback sees the model and must not change it.
    """

    def started(self, run: "RunState") -> None:
        """Before the first step, or the first after a resume."""

    def stepped(self, run: "RunState") -> None:
        """After every step."""

    def judged(self, run: "RunState", record: dict[str, float]) -> None:
        """After every epoch, with its losses, learning rate and seconds."""

    def ended(self, run: "RunState") -> None:
        """At the end, whatever ended it."""


def check_callbacks(callbacks: Any) -> tuple[Callback, ...]:
    """Refuse what is no sequence of callbacks."""
    given = tuple(callbacks) if isinstance(callbacks, Iterable) else (callbacks,)
    for each in given:
        if isinstance(each, type) or not (hasattr(each, "started") and hasattr(each, "ended")):
            raise ConfigError(f"a callback must be an olinear.training.Callback, found {each!r}: derive its class")
    return given


class StopWhen(Callback):
    """Ends a run as soon as `wanted()` is true: the `is_set` of a `threading.Event`, for instance."""

    def __init__(self, wanted: Callable[[], bool]):
        self.wanted = wanted

    def started(self, run: "RunState") -> None:
        self.stepped(run)

    def stepped(self, run: "RunState") -> None:
        if self.wanted():
            run.stop()

    def judged(self, run: "RunState", record: dict[str, float]) -> None:
        self.stepped(run)


class LogEpochs(Callback):
    """One line an epoch to the logger `olinear.training`."""

    def __init__(self, name: str = "epoch"):
        self.name = name

    def judged(self, run: "RunState", record: dict[str, float]) -> None:
        logger.info("%s %d/%d: %s", self.name, record["epoch"], run.config.max_epochs, describe_losses(record))


class ProgressLine(Callback):
    """A live line on a terminal."""

    line: TrainingProgress | None

    def __init__(self, name: str = "epoch") -> None:
        self.name, self.line = name, None

    def started(self, run: "RunState") -> None:
        self.line = TrainingProgress(True, run.config.max_epochs, run.steps, self.name)
        self.line.__enter__()

    def stepped(self, run: "RunState") -> None:
        if self.line is not None:
            self.line.show(run.position.epoch, run.position.step)

    def judged(self, run: "RunState", record: dict[str, float]) -> None:
        if self.line is not None:
            self.line.show(int(record["epoch"]), run.steps, describe_losses(record))

    def ended(self, run: "RunState") -> None:
        if self.line is not None:
            self.line.__exit__(None, None, None)


def describe_losses(record: dict[str, float]) -> str:
    """The losses of an epoch's record in words."""
    return ", ".join(f"{key.replace('_', ' ')} {record[key]:.4g}" for key in record if key.endswith("loss"))
