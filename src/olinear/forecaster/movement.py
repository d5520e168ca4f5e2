"""Series that did not move in training, and move now: how far from its last value such a series goes."""

import numpy as np
from numpy.typing import NDArray

from olinear.forecaster.quantiles import student

Values = NDArray[np.float64]
LEAST_PAIRS = 8
FREEDOM = 1.5  # the variance of overlapping differences of a random walk is that of so many over k
TOGETHER = 4096  # series and windows at a time


def half_widths(lookbacks: Values, horizon: int, level: float) -> Values:
    """Half of the intervals around the last value, `b t n -> b h n`, from how far it moved since it first did.

    The root mean square of the differences of k steps where there are eight of them; beyond, it grows as that of a
    random walk. Student's factor is for how few they are: of the differences of k steps, which overlap, about one and a
    half for each k moves count as independent. 0 for a series that has not moved yet.
    """
    half = np.zeros((len(lookbacks), horizon, lookbacks.shape[2]))
    window, series = np.nonzero(lookbacks.max(1) > lookbacks.min(1))  # pairs
    for first in range(0, len(window), TOGETHER):
        pairs = slice(first, first + TOGETHER)
        half[window[pairs], :, series[pairs]] = _of_pairs(lookbacks[window[pairs], :, series[pairs]], horizon, level)
    return half


def _of_pairs(values: Values, horizon: int, level: float) -> Values:
    """Of series that all move, `p t -> p h`."""
    before = (np.diff(values, axis=1) != 0).argmax(1)  # p: the last row before it moved
    moves = values.shape[1] - 1 - before
    known = np.clip(moves - LEAST_PAIRS + 1, 1, horizon)
    size = np.zeros((len(values), horizon))
    for k in range(1, int(known.max()) + 1):
        squares = (values[:, k:] - values[:, :-k]) ** 2
        counted = np.arange(squares.shape[1]) >= before[:, None]
        size[:, k - 1] = np.sqrt(np.where(counted, squares, 0).sum(1) / np.maximum(moves - k + 1, 1))
    steps = np.arange(1, horizon + 1)
    last = np.take_along_axis(size, known[:, None] - 1, axis=1)
    size = np.where(steps > known[:, None], last * np.sqrt(steps / known[:, None]), size)
    freedom = np.rint(FREEDOM * moves[:, None] / np.minimum(steps, known[:, None])).astype(int)
    counts, place = np.unique(np.minimum(freedom, moves[:, None]), return_inverse=True)
    factors = np.array([student(level, count) for count in counts.tolist()])
    return np.maximum.accumulate(size, axis=1) * factors[place.reshape(freedom.shape)]
