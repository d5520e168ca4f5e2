"""Windows of a series, and the same windows as features of a basis."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from olinear.core import DataError

Values = NDArray[np.float64]


@dataclass(frozen=True)
class WindowViews:
    """Windows that follow each other, each with mean 0 and deviation 1, and their features, both `[k, t]`.

    An orthogonal basis leaves the cosine of two windows as it is. What can look more alike than two windows do is the
    **size** of their features, which the paper's picture shows: the sign of a feature says where in its wave a window
    begins, its size how much of the wave there is.
    """

    windows: Values
    features: Values

    @property
    def likeness_of_steps(self) -> float:
        """The mean correlation of a window with the next."""
        return _likeness(self.windows)

    @property
    def likeness_of_features(self) -> float:
        """The mean correlation of the sizes of a window's features with those of the next."""
        return _likeness(np.abs(self.features))


def window_views(series: ArrayLike, basis: ArrayLike, count: int = 4, apart: int | None = None) -> WindowViews:
    """The newest windows of one series, without gaps, `[rows]`, and their features.

    Args:
        basis: Q `[t, t]`, whose rows are the basis vectors.
        count: how many windows, or fewer where there are fewer rows.
        apart: how many rows later the next one begins; a quarter of t, unless given.
    """
    values, q = np.asarray(series, dtype=np.float64), np.asarray(basis, dtype=np.float64)
    size = len(q)
    apart = max(size // 4, 1) if apart is None else apart
    if len(values) < size:
        raise DataError(f"a window of {size} rows needs so many rows, found {len(values)}")
    ends = len(values) - apart * np.arange(min(count, 1 + (len(values) - size) // apart))[::-1]
    windows = np.stack([values[end - size : end] for end in ends])
    centred = windows - windows.mean(1, keepdims=True)
    deviation = centred.std(1, keepdims=True)
    scaled = np.divide(centred, deviation, out=np.zeros_like(centred), where=deviation > 0)
    return WindowViews(scaled, scaled @ q.T)


def _likeness(rows: Values) -> float:
    """0 where a row does not vary; NaN of a single one."""
    if len(rows) < 2:
        return float("nan")
    centred = rows - rows.mean(1, keepdims=True)
    sizes = np.linalg.norm(centred, axis=1)
    products, scales = (centred[1:] * centred[:-1]).sum(1), sizes[1:] * sizes[:-1]
    return float(np.divide(products, scales, out=np.zeros_like(products), where=scales > 0).mean())
