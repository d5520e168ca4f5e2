"""The setting `bounds`: what a forecast may not leave, as text."""

import math
from collections.abc import Sequence
from typing import Any

from olinear.core.errors import ConfigError

WORDS = ("auto", "none")
NOTHING = ("", "none", "null")


def as_bounds(value: Any) -> Any:
    """`auto`, `none` or `low,high` as text, from text or a pair; an end that is left out is free."""
    if isinstance(value, Sequence) and not isinstance(value, str) and len(value) == 2:
        value = ",".join("" if end is None else f"{end:g}" if isinstance(end, float) else str(end) for end in value)
    if not isinstance(value, str):
        raise ConfigError(f"bounds must be auto, none, or low,high such as 0,100, found {value!r}")
    text = value.strip().lower().replace(" ", "")
    if text not in WORDS:
        parse_bounds(text)
    return text


def parse_bounds(text: str) -> tuple[float, float] | None:
    """The lowest and the highest value; None for `auto`."""
    if text in WORDS:
        return None if text == "auto" else (-math.inf, math.inf)
    parts = text.split(",")
    try:
        low, high = (
            free if part in NOTHING else float(part) for part, free in zip(parts, (-math.inf, math.inf), strict=True)
        )
    except ValueError as error:
        raise ConfigError(f"bounds must be auto, none, or low,high such as 0,100, found {text!r}") from error
    if not low < high:
        raise ConfigError(f"bounds must rise, such as 0,100, found {text!r}")
    return low, high
