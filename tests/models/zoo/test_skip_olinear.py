"""The network behind the paper's rows of fixed bases."""

import numpy as np
import pytest
import torch

from olinear.core.errors import ConfigError
from olinear.models.zoo import SkipOLinear
from olinear.models.zoo.skip_olinear import BASES, POLYNOMIALS, fixed_matrix
from olinear.nn import make_basis

N, T, H = 3, 12, 6
WINDOWS = torch.from_numpy(np.random.default_rng(0).normal(size=(4, T, N)))


def small(basis="fourier", **options):
    return SkipOLinear(N, T, H, basis=basis, model_dim=8, embed_dim=4, **options).double()


@pytest.mark.parametrize("basis", BASES)
def test_shape_and_gradient(basis):
    model = small(basis)
    output = model(WINDOWS)
    assert output.shape == (4, H, N)
    output.square().sum().backward()
    for name, parameter in model.named_parameters():
        assert (parameter.grad != 0).any(), name


@pytest.mark.parametrize(("ff_dim", "blocks"), [(8, 2), (20, 1), (8, 0)])
def test_parameters(ff_dim, blocks):
    """RevIN, φ, d·t → m → d·t, CSL and ISL, the last LayerNorm, d·t → f → h."""
    square = 8 * 8 + 8
    block = N * N + 2 * square + 16 + (8 * ff_dim + ff_dim) + (ff_dim * 8 + 8) + 16
    ends = (4 * T * 8 + 8) + (8 * 4 * T + 4 * T) + (4 * T * ff_dim + ff_dim) + (ff_dim * H + H)
    count = sum(parameter.numel() for parameter in small(ff_dim=ff_dim, blocks=blocks).parameters())
    assert count == 2 * N + 4 + ends + blocks * block + 16


def test_the_skip_connection_reaches_the_head_past_the_blocks():
    """With a decoder that says nothing, the head sees the normalised copies alone."""
    model = small().eval()
    model.decoder.weight.data.zero_()
    model.decoder.bias.data.zero_()
    normal, stats = model.revin(WINDOWS)
    copies = normal.mT[:, :, None] * model.extension[:, None]
    torch.testing.assert_close(model(WINDOWS), model.revin.inverse(model.head(copies.flatten(-2)).mT, stats))


@pytest.mark.parametrize("basis", ["fourier", "haar", "dmey"])
def test_these_have_an_inverse(basis):
    matrix = fixed_matrix(basis, T)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(T), atol=1e-8)


def test_wavelets_have_one_level():
    """Each coarse feature of Haar's is the sum of two neighbours over √2, each fine one their difference."""
    x = np.random.default_rng(1).normal(size=T)
    coarse, fine = np.split(fixed_matrix("haar", T) @ x, 2)
    np.testing.assert_allclose(coarse, (x[::2] + x[1::2]) / np.sqrt(2))
    np.testing.assert_allclose(np.abs(fine), np.abs(x[::2] - x[1::2]) / np.sqrt(2))
    np.testing.assert_allclose(make_basis("haar", T, levels=9), make_basis("haar", T))
    with pytest.raises(ConfigError, match="levels belong to haar and dmey, found basis 'fourier'"):
        make_basis("fourier", T, levels=1)


@pytest.mark.parametrize("basis", POLYNOMIALS)
@pytest.mark.parametrize("size", [T, 336])
def test_polynomials_are_sampled_and_scaled(basis, size):
    matrix = fixed_matrix(basis, size)
    np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1)
    np.testing.assert_allclose(matrix[0], matrix[0, 0])  # the constant
    np.testing.assert_allclose(np.diff(matrix[2], 3), 0, atol=1e-9)  # of degree two
    assert np.abs(matrix @ matrix.T - np.eye(size)).max() > 0.1  # no orthogonal pair


def test_an_unknown_basis_is_refused():
    with pytest.raises(ConfigError, match="basis must be one of fourier, haar"):
        small("pearson")
