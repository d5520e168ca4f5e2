"""The learning rate of a step: the published schedules, each a factor of the base rate.

`epoch` counts from 1, `done` is the share of its steps that are behind; a published schedule sets the rate of epoch
e + 1 after epoch e, and only `onecycle` changes it within one.
"""

import math
from collections.abc import Callable

RISE = 0.2  # of a run, in which `onecycle` rises
START, END = 1 / 25, 1 / 250_000  # where it starts and ends


def type1(epoch: int, max_epochs: int, done: float = 0.0) -> float:
    """Halves each epoch; epochs 1 and 2 run at the full rate."""
    return 0.5 ** max(epoch - 2, 0)


def type3(epoch: int, max_epochs: int, done: float = 0.0) -> float:
    """Loses a tenth each epoch; epochs 1 to 4 run at the full rate."""
    return 0.9 ** max(epoch - 4, 0)


def decay(epoch: int, max_epochs: int, done: float = 0.0) -> float:
    """Loses a twentieth each epoch; epochs 1 and 2 run at the full rate."""
    return 0.95 ** max(epoch - 2, 0)


def stairs(epoch: int, max_epochs: int, done: float = 0.0) -> float:
    """Halves after every second epoch up to the tenth; epochs 1 and 2 run at the full rate."""
    return 0.5 ** min((epoch - 1) // 2, 5)


def cosine(epoch: int, max_epochs: int, done: float = 0.0) -> float:
    """Half a cosine over `max_epochs`; epoch 1 runs at the full rate."""
    return (1 + math.cos(math.pi * (epoch - 1) / max_epochs)) / 2


def onecycle(epoch: int, max_epochs: int, done: float = 0.0) -> float:
    """One rise and one fall a run, step by step, each half a cosine: from 1/25 to the full rate, and to nearly 0.

    Only the rate: PyTorch's OneCycleLR moves Adam's first beta too.
    """
    progress = (epoch - 1 + done) / max_epochs
    start, end, share = (START, 1.0, progress / RISE) if progress < RISE else (1.0, END, (progress - RISE) / (1 - RISE))
    return end + (start - end) * (1 + math.cos(math.pi * share)) / 2


def constant(epoch: int, max_epochs: int, done: float = 0.0) -> float:
    """The full rate throughout."""
    return 1.0


SCHEDULES: dict[str, Callable[..., float]] = {
    "type1": type1,
    "type3": type3,
    "decay": decay,
    "stairs": stairs,
    "cosine": cosine,
    "onecycle": onecycle,
    "constant": constant,
}
