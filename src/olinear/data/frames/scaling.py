"""Standardising series by the statistics of the training rows."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class StandardScaler:
    """Each series minus its mean, over its (biased) deviation; a constant series is only centred.

    Missing values (NaN) are left out of the statistics and stay missing.
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]

    @classmethod
    def fit(cls, train: ArrayLike) -> Self:
        """The statistics of training rows `[rows, series]`."""
        values = np.asarray(train, dtype=np.float64)
        present = ~np.isnan(values)
        count = np.maximum(present.sum(0), 1)
        mean = np.where(present, values, 0.0).sum(0) / count
        deviation = np.sqrt(np.where(present, (values - mean) ** 2, 0.0).sum(0) / count)
        return cls(mean, np.where(deviation <= 1e-12 * abs(mean), 1.0, deviation))

    def pick(self, series: NDArray[np.bool_]) -> Self:
        """The same for some of the series."""
        return type(self)(self.mean[series], self.deviation[series])

    def transform(self, values: ArrayLike) -> NDArray[np.float32]:
        return ((np.asarray(values, dtype=np.float64) - self.mean) / self.deviation).astype(np.float32)

    def inverse_transform(self, values: ArrayLike) -> NDArray[np.float64]:
        return np.asarray(values, dtype=np.float64) * self.deviation + self.mean
