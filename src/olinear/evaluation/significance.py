"""Whether one forecaster is better than another, or only seems so on these windows."""

from collections.abc import Mapping
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from olinear.core import ConfigError, DataError

EXACT = 12  # up to so many blocks all sign patterns are tried, 4096 of them
DRAWN = 9999  # patterns drawn where there are more


def sign_flip_test(errors: ArrayLike, others: ArrayLike, horizon: int) -> float:
    """The p-value of a paired test of two models' errors on the same windows.

    Neighbouring windows share most of their targets, so their errors are no independent draws, and a test that took
    them for such would find a difference in every noise. So the differences are averaged over blocks of 2h windows,
    which share hardly anything, and the test asks how often random signs would bring those averages as far to one
    side as they are. It assumes no distribution, only that without a difference each sign is as likely as the other.
    What the blocks still share makes it a little eager: at 5 % it is wrong in about 7 % of cases, and in more where
    the difference itself has a longer memory than a block, as when one model suits a whole season. It says nothing of
    other seeds: each model is the one that was trained.

    Args:
        errors, others: of each window, in the order of time.
        horizon: h.
    """
    a, b = (np.asarray(each, dtype=float) for each in (errors, others))
    if a.ndim != 1 or a.shape != b.shape:
        raise DataError(f"errors must be one number a window for both models, found shapes {a.shape} and {b.shape}")
    if not np.isfinite(a - b).all():
        raise DataError("errors must be numbers: leave out the windows that have none, for both models")
    count = count_blocks(len(a), horizon)
    if not count:
        return 1.0
    means = np.array([block.mean() for block in np.array_split(a - b, count)])
    if not means.any():
        return 1.0
    reached = np.abs(_signs(count) @ means) >= abs(means.sum()) * (1 - 1e-12)
    return float(reached.mean())


def count_blocks(windows: int, horizon: int) -> int:
    """How many blocks the test has."""
    if horizon < 1:
        raise ConfigError(f"horizon must be at least 1, found {horizon}")
    return windows // (2 * horizon)


def least_p(windows: int, horizon: int) -> float:
    """The p-value of the most one-sided outcome: where it is above the level, no difference can be shown."""
    return max(2 / 2 ** count_blocks(windows, horizon), 1 / (DRAWN + 1))


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
