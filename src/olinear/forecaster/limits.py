"""What a forecast may not leave, and what can be asked of a forecaster: sizes, levels, folders."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

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


def are_whole(values: Values, axis: int = 0) -> NDArray[np.bool_]:
    """The series that are whole numbers wherever they have a value."""
    return (np.isnan(values) | (values == np.floor(values))).all(axis=axis)


def check_range(**numbers: int | None) -> None:
    """Refuse what is no whole number of at least 1; a horizon and windows must be given."""
    for name, number in numbers.items():
        if number is None and name not in ("horizon", "windows"):
            continue
        if not isinstance(number, int | np.integer) or isinstance(number, bool):
            raise ConfigError(f"{name} must be a whole number, found {number!r}: pass {name}=24, for instance")
        if number < 1:
            raise ConfigError(f"{name} must be at least 1, found {number}")


def check_level(level: Any) -> float:
    """A level as a number; refuse what no interval can have."""
    if isinstance(level, bool) or not isinstance(level, int | float | np.integer | np.floating):
        raise ConfigError(f"a level must be a number of per cent, found {level!r}: pass levels=[80, 95]")
    if not 1 <= level <= 99:
        hint = f": {100 * level:g} is the same in per cent" if 0.01 <= level < 1 else ": pass one such as 80"
        raise ConfigError(f"a level must lie between 1 and 99 per cent, found {level:g}{hint}")
    return float(level)


def check_levels(levels: Any) -> list[float]:
    """Levels as a list of numbers: None is none, a number is one; refuse what no intervals can have."""
    if levels is None:
        return []
    if isinstance(levels, np.ndarray) and not levels.ndim:
        levels = levels.item()
    if isinstance(levels, str | bytes) or not isinstance(levels, Iterable):
        if isinstance(levels, int | float | np.number):
            return [check_level(levels)]
        raise ConfigError(f"levels must be numbers of per cent, found {levels!r}: pass levels=[80, 95]")
    checked = [check_level(level) for level in levels]
    names = [f"{level:g}" for level in checked]  # as the columns of the answer have them
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"levels must differ, found {name} more than once: leave one out")
    return checked


def check_path(path: Any, what: str = "a model folder") -> Path:
    """A path, with a leading ~ followed; refuse what cannot be one."""
    hint = "pass a name such as 'model'"
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise ConfigError(f"{what} must be named by text or a path, found {path!r}: {hint}")
    text = os.fspath(path)
    if not text or "\0" in text:
        raise ConfigError(f"{what} must be named by text or a path, found {text!r}: {hint}")
    try:
        found = Path(text).expanduser()
        found.exists()
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{what} cannot be called {text[:40]!r} ({reason}): {hint}") from error
    return found
