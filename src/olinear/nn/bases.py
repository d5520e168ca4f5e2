"""Orthogonal bases by name. Rows are basis vectors: `x @ Q.T` analyses, `y @ Q` synthesises.

Two come from training rows, `pearson` (Section 4.2) and `published` (as the paper's matrices were made); the
others are the fixed bases of the paper's ablation and do not look at data.
"""

from collections.abc import Callable

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from olinear.core import ConfigError, DataError, MissingDependencyError
from olinear.nn.functional import Array, fix_signs, lag_correlation, orthogonal_basis


def make_basis(name: str, size: int, train: ArrayLike | None = None, *, levels: int | None = None) -> Array:
    """The orthogonal matrix `name` of the given size, `Q Qᵀ = I`.

    Args:
        name: one of `BASES`.
        size: the lookback or the horizon.
        train: training rows `[rows, series]`, never later ones; only `pearson` and `published` read them.
        levels: of the wavelets `haar` and `dmey`, how often the coarse half is halved; as often as it can be if None.
    """
    if name not in BASES:
        raise ConfigError(f"basis must be one of {', '.join(BASES)}, found {name!r}")
    if size < 1:
        raise ConfigError(f"a basis needs a size of at least 1, found {size}")
    if levels is not None:
        if name not in WAVELETS:
            raise ConfigError(f"levels belong to {' and '.join(WAVELETS)}, found basis {name!r}: leave them out")
        return WAVELETS[name](size, levels)
    if name not in DATA_BASES:
        return BASES[name](size)
    if train is None:
        raise DataError(
            f"the basis {name!r} is computed from data: pass the training rows, or use a fixed basis such as 'fourier'"
        )
    return BASES[name](size, train)


def pearson(size: int, train: ArrayLike) -> Array:
    """OrthoTrans: the eigenvectors of the average temporal Pearson correlation matrix (Section 4.2)."""
    return orthogonal_basis(lag_correlation(train, size))


def published(size: int, train: ArrayLike) -> Array:
    """The recipe behind the paper's own matrices, kept for comparison.

    Raw values in float32, missing ones 0, covariances of the lagged copies, each *column* divided by the
    diagonal (so not quite symmetric), series with a lag variance under 1e-4 left out, and a float32 `eigh`,
    which reads the lower triangle. Nearly equal eigenvalues mix with another LAPACK: compare spans, not entries.
    """
    columns = np.nan_to_num(np.asarray(train, dtype=np.float32), nan=0.0)
    columns = columns[:, None] if columns.ndim == 1 else columns
    if size >= len(columns):
        raise DataError(f"a basis of size {size} needs at least {size + 1} rows, found {len(columns)}: pass more rows")
    matrices = []
    for series in columns.T:
        covariance = np.atleast_2d(np.cov(sliding_window_view(series, len(series) - size + 1)))
        variances = np.diag(covariance)
        if variances.min() >= 1e-4:
            matrices.append((covariance / variances).astype(np.float32))
    if not matrices:
        raise DataError("every series has a lagged copy with a variance under 1e-4: use basis='pearson'")
    _, vectors = np.linalg.eigh(np.mean(matrices, axis=0, dtype=np.float32))
    return fix_signs(vectors.T[::-1]).astype(np.float32)


def identity(size: int) -> Array:
    """No transform: the time domain itself."""
    return np.eye(size)


def fourier(size: int) -> Array:
    """The real discrete Fourier basis: the constant, then a cosine and a sine for each frequency."""
    angle = 2 * np.pi * np.outer(np.arange(1, size // 2 + 1), np.arange(size)) / size
    waves = np.stack([np.cos(angle), np.sin(angle)], axis=1).reshape(-1, size)[: size - 1]
    rows = np.concatenate([np.ones((1, size)), waves])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def chebyshev(size: int) -> Array:
    """Chebyshev polynomials of the first kind on their Gauss nodes: the discrete cosine transform."""
    off_diagonal = np.full(size - 1, 0.5)
    off_diagonal[:1] = np.sqrt(0.5)
    return _gauss_basis(np.zeros(size), off_diagonal)


def legendre(size: int) -> Array:
    """Legendre polynomials on their Gauss nodes."""
    k = np.arange(1, size)
    return _gauss_basis(np.zeros(size), k / np.sqrt(4.0 * k * k - 1))


def laguerre(size: int) -> Array:
    """Laguerre polynomials (positive leading coefficients) on their Gauss nodes."""
    k = np.arange(size)
    return _gauss_basis(2.0 * k + 1, k[1:].astype(np.float64))


def _gauss_basis(diagonal: Array, off_diagonal: Array) -> Array:
    """`Q[k, j] = √w_j p_k(x_j)` for the orthonormal polynomials of a Jacobi matrix.

    These are the eigenvectors of that tridiagonal matrix, one column a node, so they stay orthogonal at any
    size, where evaluating polynomials would overflow. A column's sign follows from its last entry, which at
    the zeros of p_n alternates and, unlike the first (√w_j, as small as e^-1400), never vanishes.
    """
    jacobi = np.diag(diagonal) + np.diag(off_diagonal, 1) + np.diag(off_diagonal, -1)
    _, vectors = np.linalg.eigh(jacobi)
    size = len(diagonal)
    alternating = (-1.0) ** (size - 1 - np.arange(size))
    return vectors * np.where(vectors[-1] * alternating < 0, -1.0, 1.0)


def haar(size: int, levels: int | None = None) -> Array:
    """The Haar wavelet, the paper's Wavelet1. Odd sizes as in `_wavelet_matrix`."""
    return _nearest_orthogonal(_wavelet_matrix(size, np.full(2, np.sqrt(0.5)), levels))


def dmey(size: int, levels: int | None = None) -> Array:
    """The discrete Meyer wavelet, the paper's Wavelet2 (extra `bases`). Odd sizes as in `_wavelet_matrix`."""
    try:
        import pywt
    except ImportError as error:
        raise MissingDependencyError("the basis 'dmey' needs PyWavelets: pip install 'olinear[bases]'") from error
    return _nearest_orthogonal(_wavelet_matrix(size, np.asarray(pywt.Wavelet("dmey").rec_lo), levels))


def _wavelet_matrix(size: int, low_pass: Array, levels: int | None = None) -> Array:
    """The periodised wavelet analysis matrix, decomposed so many times or down to one approximation coefficient.

    Rows run from coarse to fine. An even size is halved: centred filters, shifted by two, wrapped around. An
    odd size has no such halves: it takes the matrix of the next even size without its last sample and its last
    detail coefficient; the nearest orthogonal matrix then repairs what the cut broke.
    """
    if size == 1 or levels == 0:
        return np.eye(size)
    if size % 2:
        return _wavelet_matrix(size + 1, low_pass, levels)[:-1, :-1]
    half, centre = size // 2, len(low_pass) // 2 - 1
    high_pass = low_pass[::-1] * (-1.0) ** np.arange(len(low_pass))
    halves = np.zeros((2, half, size))
    for tap, (low, high) in enumerate(zip(low_pass, high_pass, strict=True)):
        column = (2 * np.arange(half) + tap - centre) % size
        halves[0, np.arange(half), column] += low
        halves[1, np.arange(half), column] += high
    coarse = _wavelet_matrix(half, low_pass, None if levels is None else levels - 1)
    return np.concatenate([coarse @ halves[0], halves[1]])


def _nearest_orthogonal(matrix: Array) -> Array:
    """The orthogonal factor of the polar decomposition: the closest orthogonal matrix there is."""
    left, _, right = np.linalg.svd(matrix)
    return left @ right


DATA_BASES: dict[str, Callable[[int, ArrayLike], Array]] = {"pearson": pearson, "published": published}
WAVELETS = {"haar": haar, "dmey": dmey}
FIXED_BASES = {
    function.__name__: function for function in (fourier, haar, dmey, chebyshev, laguerre, legendre, identity)
}
BASES: dict[str, Callable[..., Array]] = {**DATA_BASES, **FIXED_BASES}
