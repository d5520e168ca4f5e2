"""How long a fit will take, by its first steps, and what would make it quicker."""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

from olinear.core import Note
from olinear.core.settings import Settings
from olinear.forecaster.choosing import EPOCH_STEPS
from olinear.training import Callback

LONG = 60.0  # seconds: a fit that takes longer is noted
TOO_LONG = 600.0  # and how to shorten it
LOOK, FEW = 0.2, 5  # seconds of steps, and steps, from which the usual time of one is known
SLOW = 5.0  # seconds that are enough by themselves
FORWARD = 0.25  # of the time that a window takes in training, it takes in validation
CALIBRATING = 1.1  # times the training: what calibration adds
MANY_SERIES = 500
MANY_STEPS = 5000
LARGE_BATCH = 256


class FirstEstimate(Callback):
    """Hands over a note (`fit-long`) as soon as the first steps show that a fit takes longer than a minute.

    The first step, in which memory is taken, is left out unless it is long itself. Of the others the median counts: on
    a busy machine one of them may wait for long.

    Args:
        settings: of the fit.
        n_series: that are trained.
        validating: windows that validate, for each one that trains in an epoch.
        found: takes the note.
        times: how often that is done, one after the other.
    """

    def __init__(
        self, settings: Settings, n_series: int, validating: float, found: Callable[[Note], None], times: int = 1
    ):
        self._settings, self._n_series, self._found = settings, n_series, found
        self._work = (1 + FORWARD * validating) * CALIBRATING * times
        self._since = time.monotonic()
        self._each: list[float] | None = None  # the seconds of the steps after the first
        self._open = True

    def started(self, run: Any) -> None:
        self._since = time.monotonic()

    def stepped(self, run: Any) -> None:
        if not self._open:
            return
        now = time.monotonic()
        seconds, self._since = now - self._since, now
        if self._each is None:
            self._each = []
            if seconds < SLOW:
                return
        self._each.append(seconds)
        known = sum(self._each)
        if known < SLOW and (known < LOOK or len(self._each) < FEW):
            return
        self._open = False
        an_epoch = median(self._each) * run.steps * self._work
        left = self._settings.training.max_epochs - run.position.epoch + 1
        if an_epoch * left > LONG:
            self._found(note_on_time(self._settings, self._n_series, run.steps, an_epoch, left))


def note_on_time(settings: Settings, n_series: int, steps: int, an_epoch: float, epochs: int) -> Note:
    """How long, and from ten minutes on what to do about it."""
    whole = an_epoch * epochs
    text = f"this fit takes about {duration(whole)} at the most"
    if epochs > 1:
        text = f"{text}, {epochs} epochs of {duration(an_epoch)}"
    if whole < TOO_LONG:
        return Note("fit-long", text)
    ways = []
    if epochs > 1:
        fewer = max(1, min(3, epochs // 4))
        ways.append(f"max_epochs={fewer} (about {duration(an_epoch * fewer)})")
    if n_series >= MANY_SERIES and settings.model.rank is None:
        ways.append("rank=16, since there are many series")
    if steps > EPOCH_STEPS:
        ways.append(f"epoch_steps={EPOCH_STEPS}, for shorter epochs")
    if steps >= MANY_STEPS and settings.training.batch_size < LARGE_BATCH:
        ways.append(f"batch_size={LARGE_BATCH}, for fewer steps")
    ways.append("the newest rows alone, or rows of a longer step")
    return Note("fit-long", f"{text}; quicker: {'; '.join(ways)}")


def duration(seconds: float) -> str:
    """A time for a person: 45 s, 12 min, 3 h 38 min."""
    if seconds < 100:
        return f"{max(seconds, 1):.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"
