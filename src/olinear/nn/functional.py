"""The paper's computations as pure functions: statistics in NumPy, tensor functions in torch."""

from typing import Literal, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from olinear.core import ConfigError, DataError

Array = NDArray[np.floating]
Transform = Literal["softplus", "softmax", "sigmoid", "relu", "identity"]
Norm = Literal["l1", "l2"]

TRANSFORMS = {
    "softplus": F.softplus,
    "softmax": lambda weight: weight.softmax(-1),
    "sigmoid": torch.sigmoid,
    "relu": torch.relu,
    "identity": lambda weight: weight,
}
NORMS = {"l1": 1.0, "l2": 2.0}

# Below this share of a series' own variance a variance, and of its level a deviation, is rounding error.
NEGLIGIBLE = 1e-12


def lag_correlation(values: ArrayLike, lags: int) -> Array:
    """The temporal Pearson correlation matrix, averaged over series (Section 4.2).

        C[p, q] = mean over series j of corr(s_p, s_q),   s_p = x_j[p : p + M - T + 1],   T = lags

    The T lagged copies are never built. With `S[p, q] = Σ_k x[k + p] x[k + q]`, a step along a diagonal drops
    one product and gains one, so the first row (one FFT) and cumulative sums along the diagonals give every
    sum: O(n (M log M + T²)) instead of O(n M T²). The copies have length M - T + 1, one entry for each window
    of T rows (the paper's slice stops one row earlier).

    Missing values (NaN) leave pairwise-complete sums, by the same recursion. A series with a constant lagged
    copy has no correlation and is left out of the average.

    Args:
        values: `[rows, series]`, or one series `[rows]`.
        lags: T, the size of the matrix.

    Returns:
        `[lags, lags]`, symmetric, ones on the diagonal, float64.
    """
    columns = _as_columns(values)
    rows = len(columns)
    if not 1 <= lags < rows:
        raise DataError(
            f"lags must lie between 1 and rows - 1 = {rows - 1}, found {lags}: pass more rows or fewer lags"
        )
    total, used = np.zeros((lags, lags)), 0
    for series in columns.T:
        correlation = _one_lag_correlation(series, lags)
        if correlation is not None:
            total += correlation
            used += 1
    if not used:
        raise DataError(
            f"no series varies in every one of its {lags} lagged copies, so there is nothing to correlate: "
            "pass series that vary, more rows, or use a fixed basis such as 'fourier'"
        )
    step = np.arange(lags)
    return (total / used)[np.minimum.outer(step, step), abs(np.subtract.outer(step, step))]


def _one_lag_correlation(series: Array, lags: int) -> Array | None:
    """One series' correlations as `[p, d]` for the pair (p, p + d), p + d < lags; None if a copy is constant."""
    present = ~np.isnan(series)
    if present.sum() < 2:
        return None
    level, spread = series[present].mean(), series[present].std()
    if spread <= NEGLIGIBLE * abs(level):
        return None
    x = (series - level) / spread  # sums of small numbers: no cancellation at a mean of 1e6
    if present.all():
        count: Array | int = len(x) - lags + 1
        sums = _window_sums(x, lags)
        first, second = sums[:, None], _ahead(sums, lags)[:lags]
        products = _lagged_products(x, x, lags)
        variances = products[:, 0] - sums**2 / count
        first_variance, second_variance = variances[:, None], _ahead(variances, lags)[:lags]
    else:
        x, mask = np.where(present, x, 0.0), present.astype(np.float64)
        count = _lagged_products(mask, mask, lags).round()
        first, second = _lagged_products(x, mask, lags), _lagged_products(mask, x, lags)
        products = _lagged_products(x, x, lags)
        count = np.maximum(count, 1.0)
        first_variance = _lagged_products(x * x, mask, lags) - first**2 / count
        second_variance = _lagged_products(mask, x * x, lags) - second**2 / count
    inside = np.add.outer(np.arange(lags), np.arange(lags)) < lags
    if np.minimum(first_variance, second_variance)[inside].min() <= NEGLIGIBLE * len(x):
        return None
    scale = np.sqrt(np.where(inside, first_variance * second_variance, 1.0))
    correlation = np.where(inside, (products - first * second / count) / scale, 0.0)
    correlation[:, 0] = 1.0
    return correlation


def _ahead(series: Array, lags: int) -> Array:
    """A view with `[k, d] = series[k + d]`, zero past the end."""
    return sliding_window_view(np.concatenate([series, np.zeros(lags - 1)]), lags)


def _window_sums(x: Array, lags: int) -> Array:
    """`[p] = Σ_k x[k + p]` over the M - T + 1 entries of lagged copy p."""
    length = len(x) - lags + 1
    return np.cumsum(np.concatenate([[x[:length].sum()], x[length:] - x[: lags - 1]]))


def _lagged_products(a: Array, b: Array, lags: int) -> Array:
    """`[p, d] = Σ_k a[k + p] b[k + p + d]` over the M - T + 1 windows, meaningful where p + d < lags."""
    length = len(a) - lags + 1
    ahead = _ahead(b, lags)
    products = np.empty((lags, lags))
    size = 1 << (len(b) - 1).bit_length()
    spectrum = np.fft.rfft(a[:length], size).conj() * np.fft.rfft(b, size)
    products[0] = np.fft.irfft(spectrum, size)[:lags]
    entering = a[length:, None] * ahead[length : length + lags - 1]
    leaving = a[: lags - 1, None] * ahead[: lags - 1]
    np.subtract(entering, leaving, out=products[1:])
    return np.cumsum(products, axis=0, out=products)


def series_correlation(values: ArrayLike) -> Array:
    """CorrMat_v: the Pearson correlation matrix across series, `[rows, series] -> [series, series]`.

    Missing values (NaN) leave pairwise-complete sums. A constant series correlates with itself only.
    """
    x = _as_columns(values)
    present = ~np.isnan(x)
    if not len(x):
        raise DataError("values must have at least one row, found none")
    level = np.nanmean(np.where(present.any(0), x, 0.0), axis=0)
    x = np.where(present, x - level, 0.0)
    x[:, abs(x).max(0) <= NEGLIGIBLE * abs(level)] = 0.0  # constant but for rounding
    mask = present.astype(np.float64)
    count = np.maximum(mask.T @ mask, 1.0)
    first = x.T @ mask  # [i, j]: sum of series i over the rows where j is present too
    variance = (x * x).T @ mask - first**2 / count
    covariance = x.T @ x - first * first.T / count
    varies = variance > NEGLIGIBLE * np.maximum(1e-300, (x * x).sum(0))[:, None]
    scale = np.sqrt(np.where(varies & varies.T, variance * variance.T, np.inf))
    correlation = covariance / scale
    np.fill_diagonal(correlation, 1.0)
    return correlation


def orthogonal_basis(matrix: ArrayLike) -> Array:
    """The eigenvectors of a symmetric matrix as **rows**, by falling eigenvalue (Section 4.2).

        C = Qᵀ Λ Q,   Q Qᵀ = I

    An eigenvector has no sign of its own: its largest entry is made positive (of entries equally large, the
    first), so that runs agree.
    """
    symmetric = np.asarray(matrix, dtype=np.float64)
    if symmetric.ndim != 2 or symmetric.shape[0] != symmetric.shape[1]:
        raise DataError(f"matrix must have shape (size, size), found {symmetric.shape}")
    if not np.isfinite(symmetric).all():
        raise DataError("matrix must be finite, found missing or infinite entries")
    _, columns = np.linalg.eigh(symmetric)
    return fix_signs(columns.T[::-1])


def fix_signs(rows: Array) -> Array:
    """Each row times ±1, so that its largest entry (the first of the nearly largest) is positive."""
    size = np.abs(rows)
    leader = np.argmax(size >= (1 - 1e-6) * size.max(1, keepdims=True), axis=1)
    signs = np.where(np.take_along_axis(rows, leader[:, None], 1) < 0, -1.0, 1.0)
    return np.ascontiguousarray(rows * signs)


def row_normalise(weight: Tensor, transform: Transform = "softplus", norm: Norm = "l1", causal: bool = False) -> Tensor:
    """NormLin's matrix from its weight: transform, mask, divide each row by its norm (Equation 3).

        A = RowNorm(transform(W))

    With `causal` the upper triangle is zeroed **before** the normalisation, so rows of the non-negative
    transforms still sum to one under L1. A row that is zero altogether (relu) stays zero.
    """
    if transform not in TRANSFORMS:
        raise ConfigError(f"transform must be one of {', '.join(TRANSFORMS)}, found {transform!r}")
    if norm not in NORMS:
        raise ConfigError(f"norm must be one of {', '.join(NORMS)}, found {norm!r}")
    positive = TRANSFORMS[transform](weight)
    if causal:
        positive = positive.tril()
    return F.normalize(positive, p=NORMS[norm], dim=-1, eps=torch.finfo(weight.dtype).tiny)


class Conditional(NamedTuple):
    """A Gaussian given a part of it: `mean [..., k]` and `covariance [k, k]` of the rest."""

    mean: Tensor
    covariance: Tensor

    @property
    def variance(self) -> Tensor:
        return self.covariance.diagonal(dim1=-2, dim2=-1)


def gaussian_conditional(mean: Tensor, covariance: Tensor, observed: Tensor, values: Tensor) -> Conditional:
    """Theorem 1: the distribution of the unobserved entries of a Gaussian vector, given the observed ones.

        μ_y|x = μ_y + Σ_xyᵀ Σ_x⁻¹ (x - μ_x),    Σ_y|x = Σ_y - Σ_xyᵀ Σ_x⁻¹ Σ_xy

    Args:
        mean: `[size]`.
        covariance: `[size, size]`, positive definite on the observed entries.
        observed: `[size]`, True where the entry is known.
        values: `[..., number observed]`, the known entries in their order.
    """
    if observed.dtype != torch.bool or observed.shape != mean.shape:
        raise DataError(
            f"observed must be a boolean mask of shape {tuple(mean.shape)}, "
            f"found {observed.dtype} of shape {tuple(observed.shape)}"
        )
    if covariance.shape != (len(mean), len(mean)):
        raise DataError(f"covariance must have shape {(len(mean), len(mean))}, found {tuple(covariance.shape)}")
    if values.ndim < 1 or values.shape[-1] != int(observed.sum()):
        raise DataError(f"values must end in {int(observed.sum())} observed entries, found shape {tuple(values.shape)}")
    cross = covariance[observed][:, ~observed]  # x y
    factor, failed = torch.linalg.cholesky_ex(covariance[observed][:, observed])
    if failed:
        raise DataError(
            "the covariance of the observed entries is not positive definite: add a small value to its diagonal"
        )
    gain = torch.cholesky_solve(cross, factor)  # Σ_x⁻¹ Σ_xy: x y
    conditional_mean = mean[~observed] + (values - mean[observed]) @ gain
    return Conditional(conditional_mean, covariance[~observed][:, ~observed] - cross.mT @ gain)


def check_windows(x: Tensor, lookback: int | None, n_series: int | None = None) -> None:
    """Refuse what is not a batch of windows `b t n` of this lookback and number of series; None is any but 0 rows."""
    if x.ndim != 3 or not x.shape[1] or lookback not in (None, x.shape[1]) or n_series not in (None, x.shape[2]):
        rows = "lookback" if lookback is None else f"lookback={lookback}"
        series = "series" if n_series is None else f"series={n_series}"
        raise DataError(f"input must have shape (batch, {rows}, {series}), found {tuple(x.shape)}")


def _as_columns(values: ArrayLike) -> Array:
    """`[rows, series]` in float64, one series made a column; infinite values are refused."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise DataError(f"values must have shape (rows, series), found {array.shape}")
    if np.isinf(array).any():
        row, series = np.argwhere(np.isinf(array))[0]
        raise DataError(f"values must be finite or NaN, found an infinite one in row {row}, series {series}")
    return array
