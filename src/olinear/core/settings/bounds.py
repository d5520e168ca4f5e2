"""The setting `bounds`: what a forecast may not leave, as text."""

import math
from collections.abc import Sequence
from typing import Any

WORDS = ("auto", "none")
FREE = ("", "none")
RULE = "must be auto, none, or a low and a higher end such as 0,100"


def as_bounds(value: Any) -> str:
    """`auto`, `none` or `low,high` as text, from text or a pair; an end that is left out is free."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        value = ",".join("" if end is None else _plain(end) for end in value)
    if not isinstance(value, str):
        raise ValueError(RULE)
    text = value.lower().replace(" ", "")
    parse_bounds(text)
    return text


def _plain(end: Any) -> str:
    """A number so that it is read back as it was."""
    number = float(end)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)


def parse_bounds(text: str) -> tuple[float, float] | None:
    """The lowest and the highest value; None for `auto`."""
    if text in WORDS:
        return None if text == "auto" else (-math.inf, math.inf)
    low, comma, high = text.partition(",")
    try:
        ends = (-math.inf if low in FREE else float(low), math.inf if high in FREE else float(high))
    except ValueError as error:
        raise ValueError(RULE) from error
    if not comma or not ends[0] < ends[1]:
        raise ValueError(RULE)
    return ends
