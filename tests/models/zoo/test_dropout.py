"""Dropout with four decisions a random number is dropout."""

import pytest
import torch

from olinear.models.zoo.blocks.layers import Dropout


@pytest.mark.parametrize("p", [0.1, 0.5, 0.95])
def test_drops_its_share_and_scales_the_rest(p):
    """Within five standard deviations; the four that share a random number are as independent as any."""
    torch.manual_seed(0)
    y = Dropout(p)(torch.ones(1000, 4, 25))
    kept = (y != 0).double()
    torch.testing.assert_close(y.double(), kept / (1 - p), rtol=1e-3, atol=0)
    assert kept.mean().item() == pytest.approx(1 - p, abs=5 * (p * (1 - p) / kept.numel()) ** 0.5 + 2**-16)
    four = kept.view(-1, 4) - (1 - p)
    pairs = (four.T @ four / len(four)).triu(1)
    assert pairs.abs().max() < 5 * p * (1 - p) / len(four) ** 0.5


def test_the_gradient_passes_where_values_do():
    x = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)  # 15 values: no multiple of four
    y = Dropout(0.4)(x)
    y.sum().backward()
    torch.testing.assert_close(x.grad * x, y)


def test_a_seed_repeats_it_and_evaluation_leaves_values_alone():
    layer, x = Dropout(0.4), torch.randn(7, 30)
    torch.manual_seed(1)
    first, second = layer(x), layer(x)
    torch.manual_seed(1)
    assert torch.equal(layer(x), first)
    assert not torch.equal(first, second)
    assert torch.equal(layer.eval()(x), x)


@pytest.mark.parametrize(("p", "share"), [(0.0, 1.0), (1.0, 0.0)])
def test_none_and_all(p, share):
    assert torch.equal(Dropout(p)(torch.ones(6)), torch.full((6,), share))


def test_half_precision_stays():
    assert Dropout(0.5)(torch.ones(8, dtype=torch.bfloat16)).dtype == torch.bfloat16
