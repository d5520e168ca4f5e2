"""NormLin for many series: the promises of NormLin at a cost of n·r."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from olinear.core.errors import ConfigError
from olinear.nn import LowRankNormLin


@given(size=st.integers(1, 12), rank=st.integers(1, 12), scale=st.floats(0.01, 5))
@settings(max_examples=40)
def test_rows_are_positive_and_sum_to_one(size: int, rank: int, scale: float):
    layer = LowRankNormLin(size, rank=min(rank, size)).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter *= scale
    matrix = layer.matrix()
    assert (matrix > 0).all()
    torch.testing.assert_close(matrix.sum(1), torch.ones(size, dtype=torch.float64))


def test_equals_its_formula():
    layer = LowRankNormLin(6, rank=2).double()
    u, v = (torch.log1p(factor.exp()) for factor in (layer.left, layer.right))
    low_rank = u @ v.T
    share = 1 / (1 + (-layer.share).exp())
    expected = torch.diag(share) + (1 - share)[:, None] * low_rank / low_rank.sum(1, keepdim=True)
    torch.testing.assert_close(layer.matrix(), expected)
    x = torch.randn(3, 6, 4, dtype=torch.float64)
    torch.testing.assert_close(layer(x), expected @ x)


def test_dropout_falls_on_the_factors_and_only_in_training():
    layer = LowRankNormLin(8, rank=4, dropout=0.5).double()
    eye = torch.eye(8, dtype=torch.float64)
    first, second = layer(eye), layer(eye)
    assert not torch.equal(first, second)
    torch.testing.assert_close(first.sum(1), torch.ones(8, dtype=torch.float64))  # normalised after the dropout
    layer.eval()
    torch.testing.assert_close(layer(eye), layer.matrix())


def test_the_matrix_is_never_formed():
    """With 200,000 series the whole matrix would take 160 GB."""
    layer = LowRankNormLin(200_000, rank=2)
    assert layer(torch.randn(200_000, 1)).shape == (200_000, 1)


def test_what_cannot_be_is_refused():
    with pytest.raises(ConfigError, match="causal"):
        LowRankNormLin(4, rank=2, causal=True)
    with pytest.raises(ConfigError, match="rank must lie between 1 and the number of series, 4, found 5"):
        LowRankNormLin(4, rank=5)
