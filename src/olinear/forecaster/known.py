"""What is known where a forecast is made: the rows before it, the age of each series' last value, and its signs."""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from olinear.data.frames import bridge_gaps

Values = NDArray[np.float64]
NEVER = 2**30  # the age of a last value where there is none


@dataclass(frozen=True)
class Past:
    """The lookbacks of some origins.

    Args:
        values: `b t n`, gaps bridged by the value before them.
        stale: `b n`, rows since the last value; 0 if the newest row has one, `NEVER` if none was there at all.
        negative: `b n`, whether a value below zero was seen.
    """

    values: Values
    stale: NDArray[np.int64]
    negative: NDArray[np.bool_]

    @classmethod
    def whole(cls, values: Values) -> Self:
        """Lookbacks in which nothing is missing at the end."""
        return cls(values, np.zeros(values.shape[::2], dtype=np.int64), np.any(values < 0, axis=1))

    def goes_on(self, forecast: Values) -> Self:
        """The past once a forecast `b h n` is taken for what came."""
        length = self.values.shape[1]
        return replace(self, values=np.concatenate([self.values, forecast], axis=1)[:, -length:])


class History:
    """Rows `[rows, series]` with gaps, as they are known at any of their origins.

    A series without a value so far is known by `mean` alone, that of its training rows, and never by a value to come.
    """

    def __init__(self, values: Values, mean: Values):
        self._rows, self._mean = bridge_gaps(values), mean
        rows = np.arange(len(values), dtype=np.int32)[:, None]
        self._last = np.maximum.accumulate(np.where(np.isnan(values), np.int32(-1), rows), axis=0)
        self._negative = np.logical_or.accumulate(values < 0, axis=0)

    def before(self, origins: NDArray[np.intp], count: int) -> Past:
        """The `count` rows before each origin."""
        last = self._last[origins - 1].astype(np.int64)  # w n
        unknown = last < 0
        values = self._rows[origins[:, None] + np.arange(-count, 0)]  # w t n
        if unknown.any():
            values = np.where(unknown[:, None], self._mean, values)
        stale = np.where(unknown, NEVER, origins[:, None] - 1 - last)
        return Past(values, stale, self._negative[origins - 1])

    def at_end(self, count: int) -> Past:
        """The last `count` rows, from which `predict` goes on."""
        return self.before(np.array([len(self._rows)]), count)
