"""Numbers as text that a language model can continue: how LLMTime scales a series, writes it and reads it back."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

SYMBOLS = "0123456789,-"  # all that is written; a symbol is known by its place here
DIGITS, SEPARATOR, MINUS = 10, SYMBOLS.index(","), SYMBOLS.index("-")
LARGEST = 10**7  # of a scaled number; what is larger is written as this

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Scaling:
    """A linear map that makes a series easy to write: `z = (x - offset) / unit`; `unit` is 0 if it is constant.

    Gruver et al., NeurIPS 2023, Section 3 ("Rescaling").
    """

    offset: float
    unit: float

    @classmethod
    def of(cls, series: Values, alpha: float, beta: float) -> Self:
        """The offset lies β of the range below the least value; the unit is the α-quantile of what lies above it."""
        least, most = float(series.min()), float(series.max())
        offset = least - beta * (most - least)
        return cls(offset, float(np.quantile(series - offset, alpha)) if most > least else 0.0)

    @property
    def is_constant(self) -> bool:
        """Whether there is nothing to write: the series has one value."""
        return not self.unit > 0

    def forward(self, values: Values) -> Values:
        """In units that are written."""
        return (values - self.offset) / self.unit

    def inverse(self, values: Values) -> Values:
        """In those of the series."""
        return values * self.unit + self.offset


def encode(values: Values, digits: int) -> list[str]:
    """Each number with so many digits after a point that is not written, its separator behind it: 0.1234 is `123,`."""
    size = np.minimum(np.abs(values), LARGEST) * 10**digits
    return [f"{'-' * bool(value < 0)}{int(whole)}," for value, whole in zip(values, size, strict=True)]


def decode(text: str, digits: int) -> Values:
    """The numbers of a text of numerals, each the middle of what is written alike; an unfinished last one is left out.

    |decode(encode(x)) - x| is at most half of the last digit's worth.
    """
    numerals = text.split(",")[:-1]
    sizes = np.array([int(numeral.lstrip("-")) for numeral in numerals], dtype=np.float64)
    signs = np.array([-1.0 if numeral.startswith("-") else 1.0 for numeral in numerals])
    return signs * (sizes + 0.5) / 10**digits


def widest(digits: int) -> int:
    """The digits of the longest numeral that is written."""
    return len(str(LARGEST * 10**digits))


def to_symbols(text: str) -> list[int]:
    return [SYMBOLS.index(each) for each in text]


def to_text(symbols: list[int]) -> str:
    return "".join(SYMBOLS[each] for each in symbols)


def without_gaps(series: Values) -> Values:
    """Missing values carry the one before them forward, or else the first one back; a series of none is 0."""
    known = np.flatnonzero(~np.isnan(series))
    if not len(known):
        return np.zeros_like(series)
    return series[known[np.maximum(np.searchsorted(known, np.arange(len(series)), side="right") - 1, 0)]]
