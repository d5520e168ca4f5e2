"""Standardising series by the statistics of the training rows."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

CONSTANT = 1e-12  # of its mean: what deviates less does not move but for rounding
LEAST_SHARE = 0.1


def is_new(train: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The series too little known from training rows: under a tenth of these have a value, or the values never move."""
    present = (~np.isnan(train)).sum(0)
    mean, deviation = _moments(train)
    return (present < LEAST_SHARE * len(train)) | (deviation <= CONSTANT * abs(mean))


def _moments(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and (biased) deviation of each series, missing values left out."""
    present = ~np.isnan(values)
    count = np.maximum(present.sum(0), 1)
    mean = np.where(present, values, 0.0).sum(0) / count
    return mean, np.sqrt(np.where(present, (values - mean) ** 2, 0.0).sum(0) / count)


@dataclass(frozen=True)
class StandardScaler:
    """Each series minus its mean, over its (biased) deviation; a constant series is only centred.

    Missing values (NaN) are left out of the statistics and stay missing.
    """

    mean: NDArray[np.float64]
    deviation: NDArray[np.float64]

    @classmethod
    def fit(cls, train: ArrayLike, later: ArrayLike | None = None) -> Self:
        """The statistics of training rows `[rows, series]`.

        Of a series that is too little known from them (see `is_new`), those of the rows up to now, `later` ones too: by
        a deviation of 1 for want of a better one, its raw units would rule every loss.
        """
        values = np.asarray(train, dtype=np.float64)
        mean, deviation = _moments(values)
        if later is not None:
            new = is_new(values)
            known = np.concatenate([values[:, new], np.asarray(later, dtype=np.float64)[:, new]])
            mean[new], deviation[new] = _moments(known)
        return cls(mean, np.where(deviation <= CONSTANT * abs(mean), 1.0, deviation))

    def pick(self, series: NDArray[np.bool_]) -> Self:
        """The same for some of the series."""
        return type(self)(self.mean[series], self.deviation[series])

    def transform(self, values: ArrayLike) -> NDArray[np.float32]:
        return ((np.asarray(values, dtype=np.float64) - self.mean) / self.deviation).astype(np.float32)

    def inverse_transform(self, values: ArrayLike) -> NDArray[np.float64]:
        return np.asarray(values, dtype=np.float64) * self.deviation + self.mean
