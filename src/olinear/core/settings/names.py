"""Settings that are lists of names."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

FRACTION = re.compile(r"[+-]?\d+,\d+")


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


def as_marks(value: Any) -> tuple[str, ...]:
    """Names as they were given, and the parts of those with commas that are no number with a decimal comma."""
    marks = as_names(value)
    parts = {mark: [] if FRACTION.fullmatch(mark) else [part.strip() for part in mark.split(",")] for mark in marks}
    return tuple(dict.fromkeys(each for mark in marks for each in (mark, *filter(None, parts[mark]))))
