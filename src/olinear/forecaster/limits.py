"""What a forecast may not leave: bounds that are given, and zero for a series that never was below it."""

import numpy as np
from numpy.typing import NDArray

from olinear.core import ConfigError
from olinear.core.settings import parse_bounds
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
    """Refuse what is no whole number of at least 1; only a horizon must be given."""
    for name, number in numbers.items():
        if number is None and name != "horizon":
            continue
        if not isinstance(number, int | np.integer):
            raise ConfigError(f"{name} must be a whole number, found {number!r}")
        if number < 1:
            raise ConfigError(f"{name} must be at least 1, found {number}")
