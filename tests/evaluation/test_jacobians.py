"""The closed forms of the paper's Appendix B against autograd, and what their diagonals can and cannot tell."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from olinear.evaluation.analysis import compare_gradients, diagonal_share, normlin_jacobian, softmax_jacobian
from olinear.nn.functional import row_normalise

CLOSED = {
    softmax_jacobian: lambda row: row.softmax(-1),
    normlin_jacobian: lambda row: row_normalise(row[None])[0],
}
rows = arrays(np.float64, st.integers(2, 9), elements=st.floats(-20, 20))


@pytest.mark.parametrize("closed", CLOSED, ids=lambda each: each.__name__)
@settings(max_examples=25)
@given(row=rows)
def test_the_closed_form_is_what_autograd_finds(closed, row):
    found = torch.autograd.functional.jacobian(CLOSED[closed], torch.from_numpy(row))
    np.testing.assert_allclose(closed(row), found.numpy(), atol=1e-12, rtol=1e-7)


@pytest.mark.parametrize("closed", CLOSED, ids=lambda each: each.__name__)
def test_rows_are_taken_one_by_one(closed):
    many = np.random.default_rng(0).normal(size=(2, 3, 5))
    found = closed(many)
    assert found.shape == (2, 3, 5, 5)
    np.testing.assert_allclose(found[1, 2], closed(many[1, 2]))


@pytest.mark.parametrize("closed", CLOSED, ids=lambda each: each.__name__)
@given(row=rows)
def test_half_of_it_is_the_diagonal_whatever_the_row(closed, row):
    """Columns sum to zero, and only the diagonal is positive: so the diagonal's share tells nothing of a map."""
    jacobian = closed(row)
    np.testing.assert_allclose(jacobian.sum(0), 0, atol=1e-12)
    if abs(jacobian).sum() > 1e-9:
        assert diagonal_share(jacobian) == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("closed", CLOSED, ids=lambda each: each.__name__)
def test_entries_that_lie_far_out_are_numbers(closed):
    assert np.isfinite(closed([1000.0, -1000.0, 0.0])).all()


def test_of_a_flat_row_softmax_has_the_larger_gradient():
    """At zero: (1 - 1/n) / n against 0.5 / log 2 of it, so NormLin's is larger only where entries lie apart."""
    found = compare_gradients(np.zeros((1, 10)))
    assert found.softmax.mean == pytest.approx(0.9)
    assert found.normlin.mean == pytest.approx(0.9 * 0.5 / np.log(2))
    assert (found.larger, found.softmax.spread, found.normlin.spread) == (0.0, pytest.approx(1), pytest.approx(1))


def test_where_softmax_is_sharp_normlin_keeps_its_gradient():
    sharp = 5 * np.random.default_rng(0).normal(size=(20, 30))
    found = compare_gradients(sharp)
    assert found.normlin.median > 10 * found.softmax.median
    assert found.normlin.spread > 3 * found.softmax.spread
    assert found.larger > 0.8


def test_by_hand():
    """Two rows of two: mean, median and share from the entries themselves."""
    given_rows = np.array([[0.0, 1.0], [2.0, -1.0]])
    diagonal = np.stack([np.diag(softmax_jacobian(row)) for row in given_rows])
    found = compare_gradients(given_rows).softmax
    assert found.mean == pytest.approx(2 * diagonal.mean())
    assert found.median == pytest.approx(2 * np.median(diagonal))
    assert found.share == pytest.approx(0.5)
