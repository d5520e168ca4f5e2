"""Complex numbers in parts: ReLU, shrinkage and parameters that are stored as real numbers."""

import numpy as np
import pytest
import torch
from torch import nn

from olinear.core.errors import ConfigError
from olinear.models.zoo.blocks.spectra import as_complex, check_threshold, complex_normal, complex_relu, complex_shrink


def numbers(*shape, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def test_relu_acts_on_both_parts():
    z = torch.tensor([1 + 2j, -1 + 2j, 1 - 2j, -1 - 2j])
    assert complex_relu(z).tolist() == [1 + 2j, 2j, 1, 0]


def test_shrinkage_acts_on_both_parts():
    """Not on the absolute value: a number may lose one part and keep the other."""
    z = numbers(50)
    expected = [
        complex(*(np.sign(part) * max(abs(part) - 0.5, 0) for part in (number.real, number.imag))) for number in z
    ]
    shrunk = complex_shrink(torch.from_numpy(z), 0.5).numpy()
    np.testing.assert_allclose(shrunk, expected)
    assert ((shrunk.real == 0) != (shrunk.imag == 0)).any()


def test_a_threshold_of_nothing_keeps_everything():
    z = torch.from_numpy(numbers(9))
    assert torch.equal(complex_shrink(z, 0.0), z)


def test_parameters_are_real_and_become_complex():
    """So they follow the module to another precision without losing their imaginary parts."""
    parameter = complex_normal(3, 200)
    assert isinstance(parameter, nn.Parameter)
    assert parameter.shape == (3, 200, 2)
    assert parameter.dtype == torch.float32
    assert as_complex(parameter).shape == (3, 200)
    for part in parameter.detach().unbind(-1):
        assert float(part.std()) == pytest.approx(0.02, rel=0.1)
    holder = nn.ParameterList([parameter]).to(torch.float64)
    assert as_complex(holder[0]).dtype == torch.complex128


def test_adam_learns_both_parts_as_it_does_those_of_a_complex_parameter():
    start, target = numbers(4, seed=1), torch.from_numpy(numbers(4, seed=2))
    parts = nn.Parameter(torch.view_as_real(torch.from_numpy(start)).clone())
    whole = nn.Parameter(torch.from_numpy(start).clone())
    for parameter, read in ((parts, as_complex), (whole, lambda parameter: parameter)):
        optimizer = torch.optim.Adam([parameter], lr=0.1)
        for _ in range(20):
            optimizer.zero_grad()
            (read(parameter) - target).abs().square().sum().backward()
            optimizer.step()
    torch.testing.assert_close(as_complex(parts), whole)


def test_a_negative_threshold_is_refused():
    check_threshold(0.0)
    with pytest.raises(ConfigError, match=r"threshold must be at least 0, found -0.1"):
        check_threshold(-0.1)
