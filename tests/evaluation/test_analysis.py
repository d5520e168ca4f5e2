"""Decorrelation, spectra, mixing matrices and summaries, each against an independent formula."""

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view

from olinear.core import ConfigError, DataError
from olinear.evaluation.analysis import (
    Spectrum,
    decorrelation,
    describe_series,
    mixing_matrices,
    spectrum,
)
from olinear.models import build_model
from olinear.nn import OLinear, OrthoTrans

nan = np.nan


def walks(rows: int = 400, series: int = 3, seed: int = 0) -> np.ndarray:
    """Autoregressive series: neighbouring steps are correlated, distant ones hardly."""
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(rows, series))
    for row in range(1, rows):
        values[row] += 0.8 * values[row - 1]
    return values


# Decorrelation


def test_correlations_by_numpy():
    """Steps: the mean over series of corrcoef; features: the correlation that the basis of older rows leaves."""
    values, size = walks(), 6
    found = decorrelation(values, size)
    older, newer = (
        np.mean([np.corrcoef(sliding_window_view(column, size).T) for column in part.T], axis=0)
        for part in (values[:280], values[280:])
    )
    np.testing.assert_allclose(found.steps, newer, atol=1e-3)
    basis = np.linalg.eigh(older)[1].T[::-1]
    covariance = basis @ newer @ basis.T
    sizes = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(abs(found.features), abs(covariance / np.outer(sizes, sizes)), atol=2e-3)


@settings(max_examples=20)
@given(st.integers(2, 12), st.integers(0, 99))
def test_both_are_correlation_matrices(size, seed):
    found = decorrelation(walks(300, 2, seed), size)
    for matrix, mean in ((found.steps, found.of_steps), (found.features, found.of_features)):
        assert matrix.shape == (size, size)
        np.testing.assert_allclose(matrix, matrix.T, atol=1e-9)
        np.testing.assert_allclose(np.diag(matrix), 1, atol=1e-6)
        off_diagonal = [abs(matrix[i, j]) for i in range(size) for j in range(size) if i != j]
        assert mean == pytest.approx(np.mean(off_diagonal))


def test_features_are_less_correlated_than_steps():
    found = decorrelation(walks(2000), 12)
    assert 0 < found.of_features < 0.3 * found.of_steps


def test_newer_rows_do_not_make_the_basis():
    """What is judged must not have been seen: with other newer rows and the same steps' correlation, same basis."""
    values = walks()
    other = values.copy()
    other[280:] = 3 - 2 * values[280:]  # the same correlations
    np.testing.assert_allclose(decorrelation(values, 5).features, decorrelation(other, 5).features, atol=1e-9)


def test_what_cannot_be_correlated_is_refused():
    with pytest.raises(ConfigError, match="at least 2 steps, found 1"):
        decorrelation(walks(), 1)
    with pytest.raises(DataError):
        decorrelation(np.ones((100, 2)), 5)
    with pytest.raises(DataError):
        decorrelation(walks(100), 90)


def test_missing_values_are_bridged():
    values = walks()
    values[[3, 50, 51, 300], 0] = nan
    filled = pd.DataFrame(values).ffill().to_numpy()
    np.testing.assert_allclose(decorrelation(values, 5).steps, decorrelation(filled, 5).steps, atol=1e-12)


# Spectra


def test_the_spectrum_of_the_pearson_basis_is_the_eigenvalues():
    """And their sum is the number of steps, whatever the basis."""
    values, size = walks(), 8
    windows = [np.corrcoef(sliding_window_view(column, size).T) for column in values.T]
    found = spectrum(OrthoTrans.fit(values, size), values)
    np.testing.assert_allclose(found.variances, np.linalg.eigvalsh(np.mean(windows, axis=0))[::-1], rtol=1e-3)
    for basis in (np.eye(size), torch.eye(size), OrthoTrans.fit(values, size, "fourier")):
        assert sum(spectrum(basis, values).variances) == pytest.approx(size, rel=1e-5)


def test_a_model_has_the_spectrum_of_its_input_basis():
    values = walks()
    model = OLinear.for_data(values, 8, 4, model_dim=8, blocks=1)
    assert spectrum(model, values) == spectrum(model.input_transform, values)
    assert len(spectrum(model, values)) == 8


def test_a_model_without_bases_is_refused():
    with pytest.raises(ConfigError, match="DLinear has no orthogonal basis"):
        spectrum(build_model("DLinear", walks(), 8, 4), walks())


def test_series_that_do_not_vary_have_no_spectrum():
    found = spectrum(np.eye(4), np.ones((50, 2)))
    assert not found
    assert found.rounded() == []
    assert found.features_for(0.9) == 0


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=20), st.floats(0.01, 1))
def test_enough_features_and_none_too_many(variances, share):
    found = Spectrum(sorted(variances, reverse=True))
    count = found.features_for(share)
    whole = sum(found.variances)
    assert 1 <= count <= len(variances)
    assert sum(found.variances[:count]) >= share * whole * (1 - 1e-12)
    assert sum(found.variances[: count - 1]) <= share * whole * (1 + 1e-12)
    assert found.rounded(2) == [round(one, 2) for one in found.variances]


# Mixing


def test_every_block_has_its_matrix():
    """Non-negative and with rows that sum to one, as NormLin makes them; nothing of the model is touched."""
    model = OLinear(3, 8, 4, model_dim=8, blocks=2)
    matrices = mixing_matrices(model)
    assert len(matrices) == 2
    for matrix in matrices:
        assert matrix.shape == (3, 3)
        assert (matrix >= 0).all()
        np.testing.assert_allclose(matrix.sum(1), 1, rtol=1e-5)
    assert all(parameter.grad is None for parameter in model.parameters())


@pytest.mark.parametrize("name", ["DLinear", "Ridge"])
def test_models_that_do_not_mix_have_none(name):
    assert mixing_matrices(build_model(name, walks(), 8, 4)) == []
    assert mixing_matrices(None) == []


# Series


@given(st.integers(1, 30), st.integers(0, 99))
def test_series_as_pandas_describes_them(rows, seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(5, 3, (rows, 3))
    values[rng.random(values.shape) < 0.2] = nan
    for name, found in zip("abc", describe_series(values, list("abc")), strict=True):
        column = pd.Series(values[:, "abc".index(name)])
        assert (found.series, found.missing) == (name, column.isna().sum())
        expected = [column.mean(), column.std(ddof=0), column.min(), column.max()]
        assert [found.mean, found.std, found.min, found.max] == pytest.approx(expected, nan_ok=True)
