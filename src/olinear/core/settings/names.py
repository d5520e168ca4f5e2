"""Settings that are lists of names."""

from collections.abc import Iterable, Mapping
from typing import Any


def as_names(value: Any) -> tuple[str, ...]:
    """One name or several as a tuple of text; numbers become their text."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        value = (value,)
    if isinstance(value, Mapping) or not isinstance(value, Iterable):
        raise ValueError("must be a name or a list of names")
    names = tuple(str(name) for name in value)
    if not names:
        raise ValueError("must have at least one name")
    return names
