"""Whether one forecaster is better than another, or only seems so on these windows."""

from collections.abc import Mapping
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from olinear.errors import DataError

EXACT = 12  # up to so many blocks all sign patterns are tried, 4096 of them
DRAWN = 9999  # patterns drawn where there are more
LEAST_BLOCKS = 6  # with fewer, not even the most one-sided outcome has a p-value below 0.03


def sign_flip_test(errors: ArrayLike, others: ArrayLike, horizon: int) -> float | None:
    """The p-value of a paired test of two models' errors on the same windows; None if the windows are too few.

    Neighbouring windows share most of their targets, so their errors are no independent draws, and a test that took
    them for such would find a difference in every noise. So the differences are averaged over blocks of 2h windows,
    which share hardly anything, and the test asks how often random signs would bring those averages as far to one
    side as they are. It assumes no distribution, only that without a difference each sign is as likely as the other.

    Args:
        errors, others: of each window, in the order of time.
        horizon: h.
    """
    difference = np.asarray(errors, dtype=float) - np.asarray(others, dtype=float)
    if difference.ndim != 1:
        raise DataError(f"errors must be one number a window, found an array of shape {difference.shape}")
    count = len(difference) // (2 * horizon)
    if count < LEAST_BLOCKS:
        return None
    means = np.array([block.mean() for block in np.array_split(difference, count)])
    if not means.any():
        return 1.0
    reached = np.abs(_signs(count) @ means) >= abs(means.sum()) * (1 - 1e-12)
    return float(reached.mean())


def _signs(count: int) -> NDArray[np.float64]:
    """Sign patterns `[patterns, count]`: all of them, or many drawn from a fixed seed and the one observed."""
    if count <= EXACT:
        return np.array(list(product((-1.0, 1.0), repeat=count)))
    drawn = np.random.default_rng(0).choice((-1.0, 1.0), size=(DRAWN, count))
    return np.vstack([np.ones(count), drawn])


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's correction: the p-values as they count when so many comparisons are made at once."""
    adjusted, highest = {}, 0.0
    for index, (name, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        highest = max(highest, min(1.0, (len(p_values) - index) * p))
        adjusted[name] = highest
    return adjusted
