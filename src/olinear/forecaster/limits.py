"""What a forecast may not leave: bounds that are given, and zero for a series that never was below it."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from olinear.core import ConfigError
from olinear.core.settings import parse_bounds
from olinear.forecaster.intervals import check_level
from olinear.forecaster.known import Past

Values = NDArray[np.float64]


def find_limits(bounds: str, nonnegative: NDArray[np.bool_], past: Past) -> tuple[Values, Values]:
    """The lowest and the highest value a forecast may have, `b n` each.

    By themselves (`auto`) forecasts stop at zero where neither the rows of the fit nor those at hand have a negative
    value.
    """
    shape = past.negative.shape
    given = parse_bounds(bounds)
    if given is not None:
        return np.full(shape, given[0]), np.full(shape, given[1])
    never = nonnegative & ~past.negative
    return np.where(never, 0.0, -np.inf), np.full(shape, np.inf)


def check_range(**numbers: int | None) -> None:
    """Refuse what is no whole number of at least 1; horizon and windows must be given."""
    for name, number in numbers.items():
        if number is None and name not in ("horizon", "windows"):
            continue
        if isinstance(number, bool) or not isinstance(number, int | np.integer):
            raise ConfigError(f"{name} must be a whole number, found {number!r}")
        if number < 1:
            raise ConfigError(f"{name} must be at least 1, found {number}")


def check_levels(levels: Any) -> list[float]:
    """The levels of intervals as a list; refused is what is no list of numbers between 1 and 99."""
    wanted = "levels must be a list of numbers in per cent, such as [80, 95]"
    if isinstance(levels, str | bytes) or not isinstance(levels, Iterable):
        raise ConfigError(f"{wanted}, found {levels!r}: pass a list")
    found = list(levels)
    for level in found:
        if isinstance(level, bool) or not isinstance(level, int | float | np.integer | np.floating):
            raise ConfigError(f"{wanted}, found {level!r} in it: pass numbers")
        check_level(float(level))
    return found
