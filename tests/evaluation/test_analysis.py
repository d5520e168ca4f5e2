"""Decorrelation, spectra, mixing matrices and summaries, each against an independent formula."""

from itertools import pairwise

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
    compaction,
    decorrelation,
    describe_series,
    mixing_matrices,
    repeating_lag,
    spectrum,
    window_covariance,
    window_views,
)
from olinear.models import build_model
from olinear.nn import OLinear, OrthoTrans, lag_correlation, make_basis

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


# Bases, windows and periods


def normalised(values: np.ndarray, size: int) -> list[np.ndarray]:
    """By hand: the windows of each series, less their means and over their deviations."""
    found = []
    for column in values.T:
        windows = sliding_window_view(column, size)
        found.append((windows - windows.mean(1, keepdims=True)) / windows.std(1, keepdims=True))
    return found


def test_windows_behind_revin_by_numpy():
    values = walks()
    expected = np.mean([np.cov(windows.T, bias=True) for windows in normalised(values, 6)], axis=0)
    np.testing.assert_allclose(window_covariance(values, 6), expected, atol=1e-9)


@pytest.mark.parametrize("basis", ["pearson", "fourier", "identity"])
def test_any_basis_is_judged_on_the_newer_rows(basis):
    """Its own matrix comes along; the identity leaves the steps as they are."""
    values = walks(800)
    found = decorrelation(values, 6, basis=basis, normalised=True)
    np.testing.assert_allclose(found.basis @ found.basis.T, np.eye(6), atol=1e-9)
    covariance = found.basis @ window_covariance(values[560:], 6) @ found.basis.T
    kept = np.diag(covariance) > 1e-6
    scale = np.sqrt(np.diag(covariance)[kept])
    expected = (covariance[np.ix_(kept, kept)]) / np.outer(scale, scale)
    np.testing.assert_allclose(found.features[np.ix_(kept, kept)], expected, atol=1e-6)
    if basis == "identity":
        assert found.of_features == pytest.approx(found.of_steps)
        assert found.variances == pytest.approx([1] * 6)


def test_what_no_feature_holds_is_not_correlated():
    """Windows without their mean have nothing in Fourier's constant: its correlations are 0, not noise over noise."""
    found = decorrelation(walks(), 6, basis="fourier", normalised=True)
    np.testing.assert_array_equal(found.features[0], np.eye(6)[0])


def test_pearson_compacts_most():
    """The eigenvectors hold the most in any number of features of the rows that they come from."""
    values = np.concatenate([walks(900)] * 2)
    found = compaction(values, 8, ["identity", "haar", "pearson", "fourier"], known=0.5)
    for name, spectrum_of in found.items():
        assert spectrum_of.shares[-1] == pytest.approx(1)
        assert sum(spectrum_of.variances) == pytest.approx(8, rel=1e-6)
        assert (found["pearson"].shares >= spectrum_of.shares - 1e-6).all(), name
    assert compaction(values, 8, ["pearson"], normalised=True)["pearson"].shares[-1] == pytest.approx(1)


def test_a_period_is_found_and_a_walk_has_none():
    steps = np.arange(2000)
    waves = np.stack([np.sin(2 * np.pi * steps / 12), np.cos(2 * np.pi * steps / 12)], axis=1)
    lag, height = repeating_lag(lag_correlation(waves, 30)) or (0, 0.0)
    assert lag == 12
    assert height > 0.9
    assert repeating_lag(0.9 ** abs(np.subtract.outer(np.arange(20), np.arange(20)))) is None


def test_windows_and_their_features():
    """Newest last, a quarter apart; an orthogonal basis keeps every length and cosine."""
    series = walks(100, 1)[:, 0]
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0]
    views = window_views(series, basis)
    raw = np.stack([series[86:94], series[88:96], series[90:98], series[92:100]])
    np.testing.assert_allclose(views.windows, (raw - raw.mean(1, keepdims=True)) / raw.std(1, keepdims=True))
    np.testing.assert_allclose(views.features @ views.features.T, views.windows @ views.windows.T, atol=1e-9)
    neighbours = [np.corrcoef(first, second)[0, 1] for first, second in pairwise(raw)]
    assert views.likeness_of_steps == pytest.approx(np.mean(neighbours))
    assert len(window_views(series[:9], basis).windows) == 1
    with pytest.raises(DataError, match="a window of 8 rows"):
        window_views(series[:7], basis)


def test_a_shifted_wave_looks_alike_in_the_size_of_its_features():
    """What the paper's picture shows: the sign says where in the wave a window begins, the size does not."""
    series = np.sin(2 * np.pi * np.arange(400) / 24)
    views = window_views(series, make_basis("fourier", 24), apart=12)
    assert views.likeness_of_steps == pytest.approx(-1)
    assert views.likeness_of_features == pytest.approx(1)
