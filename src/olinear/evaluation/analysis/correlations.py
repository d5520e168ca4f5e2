"""How far OrthoTrans decorrelates the steps of a series."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from olinear.core import ConfigError
from olinear.data.frames import bridge_gaps
from olinear.nn import lag_correlation, orthogonal_basis

Values = NDArray[np.floating]


@dataclass(frozen=True)
class Decorrelation:
    """Correlation matrices of the same rows: between time steps, and between features of an orthogonal basis."""

    steps: Values  # t t
    features: Values  # t t

    @property
    def of_steps(self) -> float:
        """The mean size of a correlation between two steps."""
        return _mean_size(self.steps)

    @property
    def of_features(self) -> float:
        """The mean size of a correlation between two features."""
        return _mean_size(self.features)


def decorrelation(values: ArrayLike, lookback: int, known: float = 0.7) -> Decorrelation:
    """The basis of the older rows judged on the newer ones, which it has not seen.

        C = corr of steps in the newer rows,   features = D Q C Qᵀ D,   D = diag(Q C Qᵀ)^(-1/2)

    Args:
        values: `[rows, series]`, missing ones (NaN) bridged.
        lookback: the number of steps, at least 2.
        known: the share of the rows, the oldest, that the basis Q is made from.
    """
    if lookback < 2:
        raise ConfigError(f"a correlation needs a lookback of at least 2 steps, found {lookback}")
    rows = np.asarray(values, dtype=np.float64)
    older = int(known * len(rows))
    basis = orthogonal_basis(lag_correlation(bridge_gaps(rows[:older]), lookback))
    steps = lag_correlation(bridge_gaps(rows[older:]), lookback)
    features = basis @ steps @ basis.T
    scale = np.sqrt(np.maximum(np.diag(features), 1e-12))
    return Decorrelation(steps, features / np.outer(scale, scale))


def _mean_size(matrix: Values) -> float:
    return float(np.abs(matrix[~np.eye(len(matrix), dtype=bool)]).mean())
