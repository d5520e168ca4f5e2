"""OrthoTrans: rows of Q are basis vectors, the matrix is a buffer and really orthogonal."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from olinear_parts import random_basis

from olinear.core.errors import ConfigError, DataError
from olinear.nn import OrthoTrans
from olinear.nn.bases import make_basis


@given(size=st.integers(1, 16), seed=st.integers(0, 2**32 - 1), leading=st.sampled_from([(), (3,), (2, 1, 4)]))
@settings(max_examples=30)
def test_forward_equals_numpy_and_inverse_undoes_it(size, seed, leading):
    basis = random_basis(size, seed)
    transform = OrthoTrans(basis).double()
    transform.basis.copy_(torch.from_numpy(basis))
    x = np.random.default_rng(seed + 1).normal(size=(*leading, size))
    z = transform(torch.from_numpy(x))
    np.testing.assert_allclose(z, np.einsum("...t,kt->...k", x, basis), atol=1e-12)
    np.testing.assert_allclose(transform.inverse(z), x, atol=1e-12)


def test_a_basis_vector_becomes_one_feature():
    """The direction of the transform, which Q and its transpose would both pass as a round trip."""
    basis = random_basis(5)
    transform = OrthoTrans(basis)
    for row in range(5):
        feature = transform(torch.from_numpy(basis[row]).float())
        torch.testing.assert_close(feature, torch.eye(5)[row], atol=1e-6, rtol=0)
        torch.testing.assert_close(transform.inverse(torch.eye(5)[row]), transform.basis[row])


def test_the_matrix_is_saved_but_never_trained():
    transform = OrthoTrans(random_basis(4))
    assert list(transform.state_dict()) == ["basis"]
    assert not list(transform.parameters())
    assert not transform.basis.requires_grad


def test_the_matrix_is_a_copy():
    """Changing the caller's array later must not change the model."""
    given_array, given_tensor = np.eye(3, dtype=np.float32), torch.eye(3)
    from_array, from_tensor = OrthoTrans(given_array), OrthoTrans(given_tensor)
    given_array[0, 0] = given_tensor[0, 0] = 7.0
    torch.testing.assert_close(from_array.basis, torch.eye(3))
    torch.testing.assert_close(from_tensor.basis, torch.eye(3))


def test_the_matrix_follows_the_dtype():
    transform = OrthoTrans(random_basis(4))
    assert transform.basis.dtype == torch.float32
    assert transform.to(torch.float64).basis.dtype == torch.float64
    assert transform(torch.ones(4, dtype=torch.float64)).dtype == torch.float64


@pytest.mark.parametrize("name", ["pearson", "published", "haar"])
def test_fit_takes_a_basis_by_name(name):
    train = np.random.default_rng(0).normal(size=(80, 2)).cumsum(0)
    transform = OrthoTrans.fit(train, 6, name)
    assert transform.size == 6
    np.testing.assert_allclose(transform.basis, make_basis(name, 6, train), atol=1e-6)


def test_fit_is_pearson_unless_told():
    train = np.random.default_rng(0).normal(size=(80, 2)).cumsum(0)
    torch.testing.assert_close(OrthoTrans.fit(train, 6).basis, OrthoTrans.fit(train, 6, "pearson").basis)


def test_fit_refuses_an_unknown_basis():
    with pytest.raises(ConfigError, match="'cosine'"):
        OrthoTrans.fit(None, 6, "cosine")


@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 3)])
def test_only_square_matrices(shape):
    with pytest.raises(DataError, match=r"\(size, size\), found"):
        OrthoTrans(np.ones(shape))


@pytest.mark.parametrize(
    "matrix", [2 * np.eye(3), np.ones((3, 3)), np.eye(3) + 0.01, np.zeros((3, 3)), np.full((3, 3), np.nan)]
)
def test_only_orthogonal_matrices(matrix):
    with pytest.raises(DataError, match="orthogonal"):
        OrthoTrans(matrix)


def test_says_its_size():
    assert "size=5" in repr(OrthoTrans(random_basis(5)))
