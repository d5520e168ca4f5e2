"""Ranks, entropy, likeness and costs of what mixes tokens: known matrices, bounds, and independent formulas."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from olinear.core import DataError
from olinear.core.runtime import count_multiplications
from olinear.evaluation.analysis import (
    attention_cost,
    effective_rank,
    likeness,
    mixing_layers,
    normlin_cost,
    numerical_rank,
    row_entropy,
    softmax_rows,
    summarise_mixing,
)
from olinear.models import build_model
from olinear.models.zoo import token_mixer
from olinear.nn import OLinear, series_correlation

draws = np.random.default_rng(0)


# Ranks


@pytest.mark.parametrize("rank", [1, 2, 5])
def test_the_rank_of_known_matrices(rank):
    """Of a projection onto so many dimensions both ranks are their number."""
    basis = np.linalg.qr(draws.normal(size=(5, 5)))[0][:rank]
    assert numerical_rank(basis.T @ basis) == rank
    assert effective_rank(basis.T @ basis) == pytest.approx(rank, rel=1e-6)


def test_a_matrix_of_zeros_has_rank_zero():
    assert (numerical_rank(np.zeros((3, 3))), effective_rank(np.zeros((3, 3)))) == (0, 0)


def test_small_singular_values_count_as_none():
    matrix = np.diag([1.0, 0.5, 0.02, 0.005])
    assert numerical_rank(matrix) == 3
    assert numerical_rank(matrix, tolerance=0.1) == 2


@given(st.integers(2, 7), st.integers(0, 99))
def test_bounds(size, seed):
    """Of a matrix whose rows sum to one: 1 ≤ effective ≤ size, 0 ≤ entropy ≤ 1."""
    matrix = np.random.default_rng(seed).dirichlet(np.full(size, 0.3), size=size)
    assert 1 <= numerical_rank(matrix) <= size
    assert 1 - 1e-9 <= effective_rank(matrix) <= size + 1e-9
    assert -1e-9 <= row_entropy(matrix) <= 1 + 1e-9


def test_entropy_at_its_ends_and_by_scipy():
    assert row_entropy(np.full((3, 4), 0.25)) == pytest.approx(1)
    assert row_entropy(np.eye(4)) == 0
    assert row_entropy(np.ones((3, 1))) == 0
    matrix = draws.dirichlet(np.ones(6), size=4)
    by_hand = np.mean([-(row * np.log(row)).sum() for row in matrix]) / np.log(6)
    assert row_entropy(3 * matrix) == pytest.approx(by_hand)
    with pytest.raises(DataError, match="not negative"):
        row_entropy([[1.0, -0.1]])


def test_a_summary_is_the_mean():
    found = summarise_mixing(np.stack([np.eye(4), np.full((4, 4), 0.25)])[None])
    assert (found.matrices, found.size, found.rank, found.entropy) == (2, 4, 2.5, pytest.approx(0.5))
    assert found.effective_rank == pytest.approx(2.5)
    assert np.isnan(summarise_mixing(-np.eye(3)).entropy)


# Likeness


def test_likeness_by_numpy():
    a, b = draws.normal(size=(2, 6, 6))
    off = ~np.eye(6, dtype=bool)
    found = likeness(a, b)
    assert found.correlation == pytest.approx(np.corrcoef(a[off], b[off])[0, 1])
    assert found.with_diagonal == pytest.approx(np.corrcoef(a.ravel(), b.ravel())[0, 1])
    assert 0 < found.p_value <= 1


def test_a_diagonal_alone_is_no_likeness():
    """Both large on the diagonal and unrelated elsewhere: with it alike, without it by chance."""
    a, b = (5 * np.eye(20) + each for each in draws.normal(size=(2, 20, 20)))
    found = likeness(a, b)
    assert found.with_diagonal > 0.5
    assert abs(found.correlation) < 0.2
    assert found.p_value > 0.01


def test_what_is_alike_is_rarely_chance():
    correlation = series_correlation(draws.normal(size=(300, 10)) @ draws.normal(size=(10, 10)))
    found = likeness(softmax_rows(correlation) + 0.001 * draws.normal(size=(10, 10)), softmax_rows(correlation))
    assert found.correlation > 0.9
    assert found.p_value == pytest.approx(1 / 1000)
    assert abs(found.chance) < 3 * found.deviation


def test_chance_is_drawn_alike_each_time_and_keeps_the_bounds():
    a, b = draws.normal(size=(2, 5, 5))
    assert likeness(a, b) == likeness(a, b)
    assert likeness(a, np.ones((5, 5))).p_value == 1  # all exchanges are as high
    with pytest.raises(DataError, match="at least 3 series"):
        likeness(a[:2, :2], b[:2, :2])
    with pytest.raises(DataError, match="shape"):
        likeness(a, b[:4])


# Layers


@settings(max_examples=3)
@given(st.integers(1, 2))
def test_every_layer_of_a_model(blocks):
    """NormLin's own matrices and attention's, each with its numbers; with rows, held against their correlation."""
    rows = np.random.default_rng(1).normal(size=(60, 4)).cumsum(0).astype(np.float32)
    windows = np.stack([rows[:12], rows[20:32]])
    model = OLinear(4, 12, 3, model_dim=8, blocks=blocks)
    found = mixing_layers(model, windows, rows)
    assert [layer.name for layer in found] == [f"blocks.{place}.csl.mixer" for place in range(blocks)]
    assert {layer.kind for layer in found} == {"matrix"}
    assert all(layer.likeness is not None and layer.summary.size == 4 for layer in found)
    assert all(layer.likeness is None for layer in mixing_layers(model))
    host = build_model("iTransformer", rows, 12, 3, model_dim=8, heads=2, blocks=blocks)
    layers = mixing_layers(host, windows, rows)
    assert [layer.kind for layer in layers] == ["attention"] * blocks
    assert layers[0].summary.matrices == 2 * 2
    assert layers[0].likeness is not None
    assert mixing_layers(host) == mixing_layers(None) == []


def test_patches_are_no_series():
    rows = np.random.default_rng(1).normal(size=(80, 4)).astype(np.float32)
    model = build_model("PatchTST", rows, 32, 3, model_dim=8, heads=2, blocks=2)
    layers = mixing_layers(model, rows[None, :32], rows)
    assert [(layer.kind, layer.summary.size, layer.likeness) for layer in layers] == [("attention", 4, None)] * 2
    assert layers[0].summary.matrices == 4 * 2  # for each series and head


# Costs


@pytest.mark.parametrize(("n", "m"), [(5, 16), (40, 8), (7, 64)])
def test_the_formulas_are_what_is_counted(n, m):
    for name, cost in (("normlin", normlin_cost(n, m)), ("attention", attention_cost(n, m, 4))):
        with torch.device("meta"):
            counted = count_multiplications(token_mixer(name, n, m, heads=4), torch.empty(1, n, m))
        assert cost.multiplications == counted
    assert attention_cost(n, m).multiplications == 2 * normlin_cost(n, m).multiplications


@pytest.mark.parametrize("heads", [1, 4])
def test_memory_is_that_of_the_matrices(heads):
    """What each keeps beyond the tokens: a matrix a head against one."""
    n, m = 6, 8
    windows = torch.randn(1, 12, n)
    host = build_model("iTransformer", windows[0].numpy(), 12, 3, model_dim=m, heads=heads, blocks=1)
    (layer,) = mixing_layers(host, windows)
    assert attention_cost(n, m, heads).memory - n * m == layer.summary.matrices * layer.matrix.size
    assert normlin_cost(n, m).memory - n * m == layer.matrix.size
