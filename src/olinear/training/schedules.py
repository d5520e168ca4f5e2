"""The learning rate of an epoch: the published schedules, each a factor of the base rate.

`epoch` counts from 1; a published schedule sets the rate of epoch e + 1 after epoch e.
"""

import math
from collections.abc import Callable


def type1(epoch: int, max_epochs: int) -> float:
    """Halves each epoch; epochs 1 and 2 run at the full rate."""
    return 0.5 ** max(epoch - 2, 0)


def type3(epoch: int, max_epochs: int) -> float:
    """Loses a tenth each epoch; epochs 1 to 4 run at the full rate."""
    return 0.9 ** max(epoch - 4, 0)


def cosine(epoch: int, max_epochs: int) -> float:
    """Half a cosine over `max_epochs`; epoch 1 runs at the full rate."""
    return (1 + math.cos(math.pi * (epoch - 1) / max_epochs)) / 2


def constant(epoch: int, max_epochs: int) -> float:
    """The full rate throughout."""
    return 1.0


SCHEDULES: dict[str, Callable[[int, int], float]] = {
    "type1": type1,
    "type3": type3,
    "cosine": cosine,
    "constant": constant,
}
