"""Series that did not move in training, and move now: how far from its last value such a series goes."""

import numpy as np
from numpy.typing import NDArray

from olinear.forecaster.quantiles import student

Values = NDArray[np.float64]
LEAST_PAIRS = 8


def half_widths(lookbacks: Values, horizon: int, level: float) -> Values:
    """Half of the intervals around the last value, `b t n -> b h n`, from how far it moved since it first did.

    The root mean square of the differences of k steps where there are eight of them; beyond, it grows as that of a
    random walk. Student's factor is for how few they are. 0 for a series that has not moved yet.
    """
    half = np.zeros((len(lookbacks), horizon, lookbacks.shape[2]))
    for window, series in zip(*np.nonzero(lookbacks.max(1) > lookbacks.min(1)), strict=True):
        half[window, :, series] = _of_one(lookbacks[window, :, series], horizon, level)
    return half


def _of_one(values: Values, horizon: int, level: float) -> Values:
    first = int(np.flatnonzero(np.diff(values))[0])  # the last row before it moved
    moving = values[first:]
    moves = len(moving) - 1
    known = max(1, min(horizon, moves - LEAST_PAIRS + 1))
    size = np.array([np.sqrt(np.mean((moving[k:] - moving[:-k]) ** 2)) for k in range(1, known + 1)])
    beyond = np.arange(known + 1, horizon + 1)
    size = np.maximum.accumulate(np.concatenate([size, size[-1] * np.sqrt(beyond / known)]))
    return size * student(level, moves)
