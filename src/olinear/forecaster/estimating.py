"""How long a fit will take, by its first steps, and what would make it quicker."""

import time
from collections.abc import Callable
from typing import Any

from olinear.core import Note
from olinear.core.settings import Settings
from olinear.forecaster.choosing import EPOCH_STEPS
from olinear.training import Callback

LONG = 60.0  # seconds: a fit that takes longer is noted
TOO_LONG = 600.0  # and how to shorten it
LOOK = 0.2  # seconds of steps from which the time of one is known
SLOW = 5.0  # seconds of a first step that is enough by itself
FORWARD = 0.25  # of the time that a window takes in training, it takes in validation
CALIBRATING = 1.1  # times the training: what calibration adds
MANY_SERIES = 500
MANY_STEPS = 5000
LARGE_BATCH = 256


class FirstEstimate(Callback):
    """Hands over a note (`fit-long`) as soon as the first steps show that a fit takes longer than a minute.

    The first step, in which memory is taken, is left out unless it is long itself.

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
        self._steps = -1  # of the first only the end is seen
        self._open = True

    def started(self, run: Any) -> None:
        self._since = time.monotonic()

    def stepped(self, run: Any) -> None:
        if not self._open:
            return
        now = time.monotonic()
        self._steps += 1
        seconds = now - self._since
        if not self._steps and seconds < SLOW:
            self._since = now
            return
        if seconds < LOOK:
            return
        self._open = False
        a_step = seconds / max(self._steps, 1)
        an_epoch = a_step * run.steps * self._work
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
