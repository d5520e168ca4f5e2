"""Every basis by name: orthogonal at any size, itself and no other, and equal to an independent construction."""

import sys
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
import pywt
import scipy.fft
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import chebyshev, laguerre, legendre

from olinear.core.errors import ConfigError, DataError, MissingDependencyError
from olinear.nn.bases import BASES, DATA_BASES, FIXED_BASES, make_basis
from olinear.nn.functional import lag_correlation

SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 15, 16, 17, 24, 31, 33, 36, 60, 63, 64, 65, 96, 97, 127, 129, 720]
DATA_SIZES = [("pearson", size) for size in (1, 2, 3, 12, 31, 96, 336)] + [
    ("published", size) for size in (1, 2, 3, 12, 31, 96)
]


def autoregressive(rows):
    """Three AR(1) series whose scale grows, so that dividing by the variance or the two deviations differs."""
    rng = np.random.default_rng(0)
    shocks, values = rng.normal(size=(rows, 3)), np.zeros((rows, 3))
    for row in range(1, rows):
        values[row] = [0.9, 0.6, 0.3] * values[row - 1] + shocks[row]
    return values * np.linspace(0.2, 3, rows)[:, None] ** 2 + [0, 3, 10]


@cache
def basis_of(name, size):
    return make_basis(name, size, autoregressive(500) if name in DATA_BASES else None).astype(np.float64)


def assert_equal_up_to_row_signs(found, expected, atol):
    signs = np.sign((found * expected).sum(1, keepdims=True))
    np.testing.assert_allclose(found * signs, expected, atol=atol, rtol=0)


@pytest.mark.parametrize(
    ("name", "size"), [(name, size) for name in FIXED_BASES for size in SIZES] + DATA_SIZES, ids=str
)
def test_orthogonal(name, size):
    basis = basis_of(name, size)
    assert basis.shape == (size, size)
    np.testing.assert_allclose(basis @ basis.T, np.eye(size), atol=1e-6, rtol=0)


def test_the_nine_of_the_paper():
    nine = {"pearson", "published", "fourier", "haar", "dmey", "chebyshev", "laguerre", "legendre", "identity"}
    assert set(BASES) == nine
    assert set(DATA_BASES) == {"pearson", "published"}


@pytest.mark.parametrize("size", [3, 4, 5, 6, 7, 8, 12, 16, 31])
def test_no_two_names_give_the_same_basis(size):
    """An ablation over bases would otherwise compare one of them with itself."""
    train = autoregressive(200)
    bases = {name: make_basis(name, size, train).astype(np.float64) for name in BASES}
    for one, other in combinations(bases, 2):
        overlap = np.abs((bases[one] * bases[other]).sum(1))  # 1 where rows are equal up to sign
        assert overlap.min() < 1 - 1e-6, f"{one} and {other} are the same"


@pytest.mark.parametrize("size", [1, 2, 5, 12, 24])
class TestPolynomials:
    """`√w_j p_k(x_j)` from NumPy's Gauss nodes and weights, the polynomials by their Vandermonde matrix."""

    def test_legendre(self, size):
        nodes, weights = legendre.leggauss(size)
        scale = np.sqrt((2 * np.arange(size) + 1) / 2)
        expected = (legendre.legvander(nodes, size - 1) * scale).T * np.sqrt(weights)
        np.testing.assert_allclose(make_basis("legendre", size), expected, atol=1e-10)

    def test_chebyshev(self, size):
        nodes, weights = chebyshev.chebgauss(size)
        scale = np.sqrt(np.where(np.arange(size) == 0, 1, 2) / np.pi)
        expected = (chebyshev.chebvander(nodes[::-1], size - 1) * scale).T * np.sqrt(weights)
        np.testing.assert_allclose(make_basis("chebyshev", size), expected, atol=1e-10)

    def test_laguerre(self, size):
        """The textbook's L_k has the leading coefficient (-1)^k / k!; ours has a positive one."""
        nodes, weights = laguerre.laggauss(size)
        scale = (-1.0) ** np.arange(size)
        expected = (laguerre.lagvander(nodes, size - 1) * scale).T * np.sqrt(weights)
        np.testing.assert_allclose(make_basis("laguerre", size), expected, atol=1e-8)


@pytest.mark.parametrize("size", [8, 97])
def test_chebyshev_is_the_discrete_cosine_transform(size):
    cosines = scipy.fft.dct(np.eye(size), type=2, norm="ortho", axis=0)
    np.testing.assert_allclose(make_basis("chebyshev", size), cosines[:, ::-1], atol=1e-10)


def test_laguerre_does_not_overflow():
    """At 720 the weights reach e^-1400 and the polynomials their inverse; their product must stay a number."""
    assert np.isfinite(basis_of("laguerre", 720)).all()


@given(size=st.integers(1, 64), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_fourier_rows_carry_the_power_of_each_frequency(size, seed):
    signal = np.random.default_rng(seed).normal(size=size)
    coefficients = make_basis("fourier", size) @ signal
    spectrum = np.abs(np.fft.fft(signal)) ** 2 / size
    powers = [coefficients[0] ** 2]
    powers += [(coefficients[2 * k - 1 : 2 * k + 1] ** 2).sum() for k in range(1, size // 2 + 1)]
    folded = [spectrum[0]]
    folded += [spectrum[k] if 2 * k == size else spectrum[k] + spectrum[-k] for k in range(1, size // 2 + 1)]
    np.testing.assert_allclose(powers, folded, atol=1e-9)


def test_fourier_cosine_comes_before_sine():
    basis = make_basis("fourier", 12)
    time = 2 * np.pi * np.arange(12) / 12
    np.testing.assert_allclose(basis[3], np.cos(2 * time) / np.sqrt(6), atol=1e-12)
    np.testing.assert_allclose(basis[4], np.sin(2 * time) / np.sqrt(6), atol=1e-12)


def test_haar_of_eight_rows():
    rows = [
        [1, 1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, -1, -1, -1, -1],
        [1, 1, -1, -1, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, 1, -1, -1],
        [1, -1, 0, 0, 0, 0, 0, 0],
        [0, 0, 1, -1, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, -1, 0, 0],
        [0, 0, 0, 0, 0, 0, 1, -1],
    ]
    expected = np.array(rows) / np.linalg.norm(rows, axis=1, keepdims=True)
    assert_equal_up_to_row_signs(make_basis("haar", 8), expected, atol=1e-12)


@pytest.mark.parametrize("name", ["haar", "dmey"])
def test_finest_wavelet_rows_are_those_of_pywavelets(name):
    """Their coefficients are pywt's details, up to where the wrapped signal starts (dmey is not quite orthogonal)."""
    signal = np.random.default_rng(0).normal(size=96)
    _, details = pywt.dwt(signal, name, mode="periodization")
    ours = make_basis(name, 96)[48:] @ signal
    distances = [np.abs(np.roll(ours, shift) - sign * details).max() for shift in range(48) for sign in (1, -1)]
    assert min(distances) < (1e-12 if name == "haar" else 0.01)


def test_wavelet_filters_are_centred():
    """Row k of the finest details looks at samples 2k and 2k + 1, so an odd size may drop its last of both."""
    peaks = np.abs(make_basis("dmey", 96)[48:]).argmax(1)
    np.testing.assert_array_equal(peaks // 2, np.arange(48))


def test_dmey_names_the_extra_it_needs(monkeypatch):
    monkeypatch.setitem(sys.modules, "pywt", None)
    with pytest.raises(MissingDependencyError, match=r"olinear\[bases\]"):
        make_basis("dmey", 8)


def test_pearson_diagonalises_the_lag_correlation():
    train = autoregressive(200)
    basis = make_basis("pearson", 16, train)
    rotated = basis @ lag_correlation(train, 16) @ basis.T
    np.testing.assert_allclose(rotated, np.diag(np.diag(rotated)), atol=1e-12)
    assert (np.diff(np.diag(rotated)) <= 0).all()


# From a float64 implementation in plain loops of the recipe behind the paper's matrices, eigenvectors by SciPy.
PUBLISHED_SIX = [
    [0.398687, 0.413223, 0.420412, 0.424139, 0.403542, 0.388342],
    [0.605522, 0.325145, -0.180075, 0.157933, -0.332319, -0.599849],
    [-0.261786, 0.510651, 0.087231, -0.451201, 0.528089, -0.425011],
    [-0.049340, 0.116019, 0.771457, -0.316265, -0.537512, -0.003996],
    [0.125325, 0.491471, -0.424408, -0.430702, -0.265247, 0.553866],
    [0.622672, -0.455805, 0.089156, -0.553221, 0.297599, 0.044201],
]


def published_case():
    """A random walk, a swelling noise, and a series whose lag variances of 1e-6 leave it out."""
    rng = np.random.default_rng(7)
    walk = 100 + rng.normal(size=60).cumsum()
    swell = rng.normal(size=60) * np.linspace(0.5, 6, 60)
    return np.column_stack([walk, swell, 1 + 1e-3 * rng.normal(size=60)])


def test_published_recipe_on_a_small_case():
    basis = make_basis("published", 6, published_case())
    assert basis.dtype == np.float32
    np.testing.assert_allclose(basis, PUBLISHED_SIX, atol=5e-6, rtol=0)
    np.testing.assert_array_equal(make_basis("published", 6, published_case()[:, :2]), basis)


def test_published_takes_one_series_without_its_axis():
    train = published_case()
    np.testing.assert_array_equal(make_basis("published", 6, train[:, 0]), make_basis("published", 6, train[:, :1]))


def test_published_needs_a_series_that_varies():
    with pytest.raises(DataError, match="variance under 1e-4"):
        make_basis("published", 6, published_case()[:, 2])


@pytest.mark.parametrize(
    ("matrix", "file", "size"),
    [
        ("ILI_12_ratio0.70", "national_illness", 12),
        ("ILI_60_ratio0.70", "national_illness", 60),
        ("covid_36_ratio0.70", "covid", 36),
        ("dow_jones_12_ratio0.7", "dowjones", 12),
        ("weather_96_ratio0.7", "weather", 96),
        ("website_24_ratio0.7", "website", 24),
    ],
)
def test_published_gives_the_matrices_of_the_paper(paper_folder, dataset_folder, matrix, file, size):
    """The recipe is right if it makes the paper's own files (with this LAPACK: nearly equal eigenvalues mix)."""
    expected = np.load(paper_folder / "reference_bases" / f"{matrix}.npy")
    frame = pd.read_csv(dataset_folder / f"{file}.csv", encoding="latin-1")
    values = frame.iloc[:, 1:].fillna(0).to_numpy()
    basis = make_basis("published", size, values[: int(0.7 * len(values))])
    assert_equal_up_to_row_signs(basis, expected, atol=1e-6)


def test_unknown_basis_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"pearson.*legendre.*'hermite'"):
        make_basis("hermite", 8)


@pytest.mark.parametrize("size", [0, -3])
@pytest.mark.parametrize("name", BASES)
def test_a_basis_has_at_least_one_row(name, size):
    with pytest.raises(ConfigError, match=f"at least 1, found {size}"):
        make_basis(name, size, autoregressive(20))


@pytest.mark.parametrize("name", DATA_BASES)
def test_data_bases_ask_for_data(name):
    with pytest.raises(DataError, match=f"'{name}' is computed from data"):
        make_basis(name, 8)


@pytest.mark.parametrize("name", DATA_BASES)
@pytest.mark.parametrize("size", [20, 21, 50])
def test_data_bases_refuse_more_rows_than_there_are(name, size):
    """A horizon longer than the training rows is a user's mistake: an error of ours, not of NumPy's."""
    with pytest.raises(DataError):
        make_basis(name, size, autoregressive(20))


@pytest.mark.parametrize("name", FIXED_BASES)
def test_fixed_bases_do_not_look_at_data(name):
    np.testing.assert_array_equal(make_basis(name, 7, autoregressive(50)), make_basis(name, 7))
