"""How far OrthoTrans, or another basis, decorrelates the steps of a series."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray

from olinear.core import ConfigError, DataError
from olinear.data.frames import bridge_gaps
from olinear.nn import lag_correlation, make_basis

Values = NDArray[np.floating]
MOST_WINDOWS = 4000  # of a series, evenly spread: more say the same of their covariance
RISE = 0.02  # of a correlation: less is noise, not a period
EMPTY = 1e-9  # of the mean variance: a feature with less holds nothing that could correlate


@dataclass(frozen=True)
class Decorrelation:
    """Correlation matrices of the same rows, between time steps and between features of an orthogonal basis, and Q."""

    steps: Values  # t t
    features: Values  # t t; 0 where a feature holds nothing
    basis: Values  # t t, the rows are the basis vectors

    @property
    def variances(self) -> list[float]:
        """Of the features, if each step has the variance 1."""
        return np.einsum("ft,ts,fs->f", self.basis, self.steps, self.basis, optimize=True).tolist()

    @property
    def of_steps(self) -> float:
        """The mean size of a correlation between two steps."""
        return _mean_size(self.steps)

    @property
    def of_features(self) -> float:
        """The mean size of a correlation between two features."""
        return _mean_size(self.features)


def decorrelation(
    values: ArrayLike, lookback: int, known: float = 0.7, basis: str = "pearson", *, normalised: bool = False
) -> Decorrelation:
    """The basis of the older rows judged on the newer ones, which it has not seen.

        C = corr of steps in the newer rows,   features = D Q C Qᵀ D,   D = diag(Q C Qᵀ)^(-1/2)

    Args:
        values: `[rows, series]`, missing ones (NaN) bridged.
        lookback: the number of steps, at least 2.
        known: the share of the rows, the oldest, that the basis Q is made from.
        basis: which one, a name in `olinear.nn.BASES`; the fixed ones are made from nothing.
        normalised: C is the covariance of windows each less its mean and over its deviation, as a model sees them
            behind RevIN, and not the paper's correlation of the rows as they are.
    """
    older, newer = split_known(values, lookback, known)
    q = make_basis(basis, lookback, older)
    covariance = window_covariance(newer, lookback) if normalised else lag_correlation(newer, lookback)
    return Decorrelation(_correlation(covariance), _correlation(q @ covariance @ q.T), q)


def split_known(values: ArrayLike, lookback: int, known: float) -> tuple[Values, Values]:
    """The older rows, which a basis is made from, and the newer ones; gaps bridged within each."""
    if lookback < 2:
        raise ConfigError(f"a correlation needs a lookback of at least 2 steps, found {lookback}")
    rows = np.asarray(values, dtype=np.float64)
    older = int(known * len(rows))
    return bridge_gaps(rows[:older]), bridge_gaps(rows[older:])


def window_covariance(values: ArrayLike, lookback: int) -> Values:
    """The covariance of the steps of windows that have mean 0 and deviation 1, averaged over series."""
    found = [np.cov(windows.T, bias=True) for windows in normalised_windows(np.asarray(values), lookback)]
    if not found:
        raise DataError(f"no series varies within windows of {lookback} rows, so there is nothing to correlate")
    return np.asarray(np.mean(found, axis=0))


def normalised_windows(rows: Values, lookback: int) -> Iterator[Values]:
    """Of each series that varies, windows `[k, t]` each less its mean and over its deviation, evenly spread."""
    if len(rows) <= lookback:
        raise DataError(f"windows of {lookback} rows need more than so many rows, found {len(rows)}")
    for series in rows.T:
        windows = sliding_window_view(series, lookback)
        windows = windows[:: ceil(len(windows) / MOST_WINDOWS)]
        centred = windows - windows.mean(1, keepdims=True)
        deviation = centred.std(1, keepdims=True)
        varies = deviation[:, 0] > 1e-9 * max(float(np.abs(series).max()), 1e-300)
        if varies.sum() > 1:
            yield centred[varies] / deviation[varies]


def repeating_lag(steps: ArrayLike) -> tuple[int, float] | None:
    """After how many steps a series repeats itself, as its correlation matrix shows it, and the correlation there.

    The lag of the highest mean along a diagonal beyond the first valley; None where nothing rises again.
    """
    matrix = np.asarray(steps, dtype=np.float64)
    by_lag = np.array([np.diagonal(matrix, lag).mean() for lag in range(len(matrix))])
    rises = np.flatnonzero(np.diff(by_lag) > 0)
    if not len(rises):
        return None
    peak = int(rises[0] + by_lag[rises[0] :].argmax())
    inside = peak < len(by_lag) - 1  # what still rises at the end has its peak elsewhere
    return (peak, float(by_lag[peak])) if inside and by_lag[peak] - by_lag[rises[0]] > RISE else None


def _correlation(covariance: Values) -> Values:
    """Its correlation matrix, 0 for what does not vary."""
    variances = np.diag(covariance)
    varies = variances > EMPTY * max(float(variances.mean()), 1e-300)
    scale = np.where(varies, 1 / np.sqrt(np.where(varies, variances, 1.0)), 0.0)
    correlation = covariance * np.outer(scale, scale)
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(correlation)


def _mean_size(matrix: Values) -> float:
    return float(np.abs(matrix[~np.eye(len(matrix), dtype=bool)]).mean())
