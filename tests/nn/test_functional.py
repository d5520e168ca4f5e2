"""The pure functions of the paper against NumPy, SciPy and pandas."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.lib.stride_tricks import sliding_window_view
from scipy.linalg import toeplitz
from scipy.special import expit, softmax

from olinear.core.errors import ConfigError, DataError
from olinear.nn.functional import (
    gaussian_conditional,
    lag_correlation,
    orthogonal_basis,
    row_normalise,
    series_correlation,
)

SEEDS = st.integers(0, 2**32 - 1)


def random_rows(size, seed):
    """A random orthogonal matrix."""
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(size, size)))[0]


class TestOrthogonalBasis:
    @given(size=st.integers(1, 12), seed=SEEDS)
    @settings(max_examples=40)
    def test_diagonalises_with_falling_eigenvalues(self, size, seed):
        square = np.random.default_rng(seed).normal(size=(size, size))
        matrix = square + square.T
        basis = orthogonal_basis(matrix)
        np.testing.assert_allclose(basis @ basis.T, np.eye(size), atol=1e-12)
        rotated = basis @ matrix @ basis.T
        np.testing.assert_allclose(rotated, np.diag(np.diag(rotated)), atol=1e-12 * np.abs(matrix).max() * size)
        assert (np.diff(np.diag(rotated)) <= 1e-12 * np.abs(matrix).max() * size).all()

    @given(size=st.integers(1, 8), seed=SEEDS)
    @settings(max_examples=40)
    def test_finds_the_vectors_a_matrix_was_made_of(self, size, seed):
        """Rows are the basis vectors, the first that of the largest eigenvalue, the largest entry positive."""
        rows = random_rows(size, seed)
        for row in rows:
            row *= np.sign(row[np.abs(row).argmax()])
        matrix = rows.T @ np.diag(np.arange(size, 0, -1.0)) @ rows
        found = orthogonal_basis(matrix)
        signs = np.sign((found * rows).sum(1))
        np.testing.assert_allclose(found, signs[:, None] * rows, atol=1e-9)
        largest = np.sort(np.abs(rows), axis=1)
        if size == 1 or (largest[:, -1] - largest[:, -2]).min() > 1e-3:  # otherwise the sign is a matter of rounding
            np.testing.assert_array_equal(signs, 1.0)

    def test_signs_do_not_depend_on_the_eigensolver(self, monkeypatch):
        """LAPACKs return an eigenvector or its negative as they please; runs must agree all the same."""
        matrix = toeplitz(0.8 ** np.arange(9))
        expected = orthogonal_basis(matrix)
        values, vectors = np.linalg.eigh(matrix)
        flips = np.random.default_rng(0).choice([-1.0, 1.0], size=9)
        for signs in (-np.ones(9), flips):
            monkeypatch.setattr(np.linalg, "eigh", lambda _, signs=signs: (values, vectors * signs))
            np.testing.assert_array_equal(orthogonal_basis(matrix), expected)

    @pytest.mark.parametrize("size", [2, 5, 6, 12])
    def test_antisymmetric_vectors_start_with_their_positive_half(self, size):
        """A Toeplitz matrix has vectors with v = -reversed(v): of the two largest entries the first is positive."""
        for row in orthogonal_basis(toeplitz(0.7 ** np.arange(size))):
            candidates = np.flatnonzero(np.abs(row) > np.abs(row).max() - 1e-7)
            assert row[candidates[0]] > 0

    def test_two_by_two(self):
        half = np.sqrt(0.5)
        np.testing.assert_allclose(orthogonal_basis([[1.0, 0.5], [0.5, 1.0]]), [[half, half], [half, -half]])
        np.testing.assert_allclose(orthogonal_basis([[1.0, -0.5], [-0.5, 1.0]]), [[half, -half], [half, half]])

    def test_features_of_the_training_windows_are_uncorrelated(self):
        """The point of OrthoTrans: with rows as basis vectors, windows @ Q.T has a diagonal covariance."""
        rng = np.random.default_rng(0)
        series = rng.normal(size=400).cumsum() + 5 * np.sin(np.arange(400) / 3)
        basis = orthogonal_basis(lag_correlation(series, 12))
        windows = sliding_window_view(series, 12)
        features = (windows - windows.mean(0)) / windows.std(0) @ basis.T
        np.testing.assert_allclose(np.corrcoef(features.T), np.eye(12), atol=1e-8)
        assert (np.diff(features.var(0)) < 0).all()

    @pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 2, 2)])
    def test_only_a_square_matrix_has_eigenvectors(self, shape):
        with pytest.raises(DataError, match=r"\(size, size\), found"):
            orthogonal_basis(np.zeros(shape))


class TestSeriesCorrelation:
    @given(rows=st.integers(3, 50), n_series=st.integers(2, 6), offset=st.sampled_from([0.0, 1e6]), seed=SEEDS)
    @settings(max_examples=40)
    def test_equals_numpy(self, rows, n_series, offset, seed):
        values = np.random.default_rng(seed).normal(size=(rows, n_series)) + offset
        np.testing.assert_allclose(series_correlation(values), np.corrcoef(values.T), atol=1e-9)

    @given(share=st.sampled_from([0.05, 0.4]), offset=st.sampled_from([0.0, 1e3]), seed=SEEDS)
    @settings(max_examples=30)
    def test_missing_values_are_left_out_pair_by_pair(self, share, offset, seed):
        rng = np.random.default_rng(seed)
        values = offset + rng.normal(size=(60, 4)).cumsum(0)
        values[rng.random(values.shape) < share] = np.nan
        np.testing.assert_allclose(series_correlation(values), pd.DataFrame(values).corr().to_numpy(), atol=1e-9)

    @pytest.mark.parametrize("silent", [0.0, 0.1, 1e6, 1e6 / 3, np.nan])
    def test_a_constant_series_correlates_with_itself_only(self, silent):
        """Otherwise OLinear-C would start from NaN, or from the correlation of rounding errors."""
        values = np.random.default_rng(0).normal(size=(37, 2))
        result = series_correlation(np.column_stack([values[:, 0], np.full(37, silent), values[:, 1]]))
        np.testing.assert_array_equal(result[1], [0.0, 1.0, 0.0])
        np.testing.assert_array_equal(result[:, 1], [0.0, 1.0, 0.0])
        np.testing.assert_allclose(result[np.ix_([0, 2], [0, 2])], np.corrcoef(values.T), atol=1e-12)

    def test_an_infinite_value_is_named(self):
        with pytest.raises(DataError, match="row 1, series 0"):
            series_correlation([[0.0, 1.0], [np.inf, 2.0]])


NUMPY_TRANSFORMS = {
    "softplus": lambda w: np.logaddexp(0, w),
    "softmax": lambda w: softmax(w, axis=-1),
    "sigmoid": expit,
    "relu": lambda w: np.maximum(w, 0),
    "identity": lambda w: w,
}
POSITIVE = ["softplus", "softmax", "sigmoid"]
SQUARES = st.integers(1, 8).flatmap(
    lambda size: arrays(np.float64, (size, size), elements=st.floats(-12, 12, allow_subnormal=False))
)


class TestRowNormalise:
    @pytest.mark.parametrize("causal", [False, True])
    @pytest.mark.parametrize("norm", ["l1", "l2"])
    @pytest.mark.parametrize("transform", NUMPY_TRANSFORMS)
    def test_equals_numpy(self, transform, norm, causal):
        weight = np.eye(7) + np.random.default_rng(0).normal(size=(7, 7))
        weight[0, 0] = 1.5  # causal relu: not a zero row
        positive = NUMPY_TRANSFORMS[transform](weight)
        if causal:
            positive = np.tril(positive)
        expected = positive / np.linalg.norm(positive, ord=1 if norm == "l1" else 2, axis=1, keepdims=True)
        result = row_normalise(torch.from_numpy(weight), transform, norm, causal)
        np.testing.assert_allclose(result, expected, atol=1e-14)

    @given(weight=SQUARES, transform=st.sampled_from(POSITIVE), causal=st.booleans())
    @settings(max_examples=60)
    def test_rows_of_positive_transforms_sum_to_one(self, weight, transform, causal):
        """Each series is a weighted mean of all, which is what makes NormLin comparable with attention."""
        matrix = row_normalise(torch.from_numpy(weight), transform, "l1", causal)
        assert (matrix >= 0).all()
        np.testing.assert_allclose(matrix.sum(-1), 1.0, rtol=1e-12)

    @given(weight=SQUARES, transform=st.sampled_from(sorted(NUMPY_TRANSFORMS)), norm=st.sampled_from(["l1", "l2"]))
    @settings(max_examples=60)
    def test_causal_matrix_never_looks_ahead(self, weight, transform, norm):
        matrix = row_normalise(torch.from_numpy(weight), transform, norm, causal=True).numpy()
        np.testing.assert_array_equal(matrix[np.triu_indices_from(matrix, 1)], 0.0)
        if transform in POSITIVE:
            np.testing.assert_allclose(matrix[0], np.eye(len(matrix))[0], rtol=1e-12)

    def test_a_row_that_relu_silenced_stays_zero(self):
        """Not NaN: a series may come to take nothing from anyone."""
        weight = torch.tensor([[-1.0, -2.0], [1.0, 3.0]])
        for norm in ("l1", "l2"):
            matrix = row_normalise(weight, "relu", norm)
            assert (matrix[0] == 0).all()
            assert (matrix[1] > 0).all()

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [({"transform": "tanh"}, "transform must be one of softplus.*'tanh'"), ({"norm": "l3"}, "norm must.*'l3'")],
    )
    def test_unknown_names_are_refused(self, arguments, message):
        with pytest.raises(ConfigError, match=message):
            row_normalise(torch.eye(2), **arguments)


@st.composite
def gaussians(draw):
    """A mean, a well-conditioned covariance and a mask that knows some entries but not all."""
    size = draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(SEEDS))
    factor = rng.normal(size=(size, size))
    observed = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size).filter(lambda m: 0 < sum(m) < size)))
    return rng.normal(size=size), factor @ factor.T + 0.3 * np.eye(size), observed, rng.normal(size=(3, observed.sum()))


class TestGaussianConditional:
    @given(gaussian=gaussians())
    @settings(max_examples=60)
    def test_equals_the_precision_matrix_formula(self, gaussian):
        """Theorem 1 by its other road: a conditional is read off the blocks of the inverse covariance."""
        mean, covariance, observed, values = gaussian
        precision = np.linalg.inv(covariance)
        inner = np.linalg.inv(precision[np.ix_(~observed, ~observed)])
        outer = precision[np.ix_(~observed, observed)]
        result = gaussian_conditional(*map(torch.from_numpy, gaussian))
        np.testing.assert_allclose(result.covariance, inner, atol=1e-9)
        np.testing.assert_array_equal(result.variance, np.diag(result.covariance))
        for row, value in zip(result.mean.numpy(), values, strict=True):
            np.testing.assert_allclose(row, mean[~observed] - inner @ outer @ (value - mean[observed]), atol=1e-8)

    def test_values_may_have_any_number_of_leading_axes(self):
        mean, covariance = torch.tensor([1.0, 2.0]), torch.tensor([[4.0, 1.0], [1.0, 9.0]])
        observed = torch.tensor([True, False])
        result = gaussian_conditional(mean, covariance, observed, torch.zeros(2, 3, 1))
        torch.testing.assert_close(result.mean, torch.full((2, 3, 1), 1.75))
        torch.testing.assert_close(
            gaussian_conditional(mean, covariance, observed, torch.zeros(1)).mean, result.mean[0, 0]
        )
        torch.testing.assert_close(result.variance, torch.tensor([8.75]))

    def test_knowing_nothing_changes_nothing(self):
        mean, covariance = torch.tensor([1.0, 2.0]), torch.tensor([[4.0, 1.0], [1.0, 9.0]])
        result = gaussian_conditional(mean, covariance, torch.tensor([False, False]), torch.zeros(0))
        torch.testing.assert_close(result.mean, mean)
        torch.testing.assert_close(result.covariance, covariance)

    @pytest.mark.parametrize(
        ("observed", "values", "message"),
        [
            (torch.tensor([True, False, True]), torch.zeros(2), r"shape \(2,\), found torch.bool of shape \(3,\)"),
            (torch.tensor([1, 0]), torch.zeros(1), "boolean mask.*torch.int64"),
            (torch.tensor([True, False]), torch.zeros(2), "1 observed entries, found shape \\(2,\\)"),
        ],
    )
    def test_mask_and_values_must_fit(self, observed, values, message):
        with pytest.raises(DataError, match=message):
            gaussian_conditional(torch.zeros(2), torch.eye(2), observed, values)

    def test_an_indefinite_covariance_is_refused(self):
        with pytest.raises(DataError, match="not positive definite"):
            gaussian_conditional(
                torch.zeros(3), torch.ones(3, 3) - torch.eye(3), torch.tensor([True, True, False]), torch.zeros(2)
            )
