"""Products by other kernels: the same numbers but for rounding, with the same gradients, and only where asked for."""

import pytest
import torch
import torch.nn.functional as F

from olinear.core.runtime import computing_in, has_onednn
from olinear.nn import NormLin, OLinear, products
from olinear.nn.products import Linear, curved_linear, linear, multiply

pytestmark = pytest.mark.skipif(not has_onednn(), reason="this torch has no such kernels of oneDNN")


@pytest.fixture(autouse=True)
def _small_ones_too(monkeypatch):
    monkeypatch.setattr(products, "LEAST", 0)


def near(found, expected) -> bool:
    return torch.allclose(found, expected, rtol=1e-4, atol=1e-4 * expected.abs().max().item())


@pytest.mark.parametrize("shape", [(6, 5), (2, 3, 5), (1, 1, 5), (2, 2, 3, 5)])
@pytest.mark.parametrize("bias", [True, False])
def test_a_product_and_its_gradients_are_those_of_torch(shape, bias):
    torch.manual_seed(0)
    x, layer = torch.randn(shape, requires_grad=True), Linear(5, 4, bias=bias)
    given = [x, *layer.parameters()]
    plain = F.linear(x, layer.weight, layer.bias)
    towards = torch.randn_like(plain)
    with computing_in("float32", "onednn"):
        found = layer(x)
        gradients = torch.autograd.grad(found, given, towards)
    assert near(found, plain)
    for one, other in zip(gradients, torch.autograd.grad(plain, given, towards), strict=True):
        assert near(one, other)


def test_any_layout_in_memory_will_do():
    """Transposed, expanded (as the gradient of a sum is), cut out, and one row or column alone."""
    torch.manual_seed(0)
    base, weight = torch.randn(8, 8), torch.randn(3, 8)
    layouts = [base.mT, base[:1].expand(4, 8), base[::2], base[:, ::2].repeat(1, 2), base[:1], base[:0]]
    with computing_in("float32", "onednn"), torch.no_grad():
        for x in layouts:
            assert near(linear(x, weight), x @ weight.mT) if len(x) else linear(x, weight).shape == (0, 3)
            assert near(multiply(weight, x.mT), weight @ x.mT) if len(x) else True
        assert near(linear(base, base.mT[:3]), base @ base.mT[:3].mT)


def test_a_curve_in_the_same_pass_is_gelu():
    torch.manual_seed(0)
    x, layer = torch.randn(4, 6, 16), Linear(16, 8)
    with torch.no_grad():
        plain = F.gelu(layer(x))
        with computing_in("float32", "onednn"):
            assert near(curved_linear(x, layer.weight, layer.bias), plain)
    with computing_in("float32", "onednn"):
        curved_linear(x, layer.weight, layer.bias).sum().backward()
    assert layer.weight.grad is not None


def test_outside_nothing_changes():
    torch.manual_seed(0)
    x, layer = torch.randn(33, 64), Linear(64, 48)
    assert torch.equal(layer(x), F.linear(x, layer.weight, layer.bias))
    with computing_in("float32"):
        assert torch.equal(layer(x), F.linear(x, layer.weight, layer.bias))
    with computing_in("float32", "onednn"), torch.autocast("cpu", torch.bfloat16):
        assert layer(x).dtype == torch.bfloat16
    with computing_in("float32", "onednn"):
        assert layer(x.double().float()).dtype == torch.float32
        assert near(linear(x.double(), layer.weight.double()), x.double() @ layer.weight.double().mT)


def test_small_products_stay_with_torch(monkeypatch):
    """For they are done before other kernels are called."""
    monkeypatch.setattr(products, "LEAST", 4 * 3 * 5)
    monkeypatch.setattr(products, "onednn_linear", lambda *_, **__: pytest.fail("called"))
    with computing_in("float32", "onednn"), torch.no_grad():
        linear(torch.ones(4, 3), torch.ones(4, 3))


@pytest.mark.parametrize(
    "options", [{}, {"rank": 2}, {"head": "linear"}, {"pre_linear": False}, {"mixer": None}, {"fold": False}], ids=str
)
def test_a_model_and_its_gradients_are_the_same(options):
    def gradients(kernels):
        torch.manual_seed(0)
        model, x = OLinear(5, 24, 8, model_dim=32, embed_dim=4, **options), torch.randn(20, 24, 5)
        with computing_in("float32", kernels):
            y = model(x)
            y.square().mean().backward()
            with torch.no_grad():
                compact = model.eval().compact()(x)
        return [y.detach(), compact, *(parameter.grad for parameter in model.parameters())]

    for found, expected in zip(gradients("onednn"), gradients("torch"), strict=True):
        assert torch.allclose(found, expected, rtol=1e-3, atol=1e-5 * max(1.0, expected.abs().max().item()))


def test_the_narrow_form_by_either_kernels():
    torch.manual_seed(0)
    x = torch.randn(20, 24, 5)
    for options in ({}, {"rank": 2}, {"mixer": "linear"}, {"mixer": lambda n, m, dropout: NormLin(n, norm="l2")}):
        narrow = OLinear(5, 24, 8, model_dim=32, embed_dim=4, **options).eval().compact().bfloat16()
        with torch.no_grad():
            plain = narrow(x)
            with computing_in("bfloat16", "onednn"):
                assert (narrow(x) - plain).abs().max() < 0.03 * plain.abs().max()


def test_the_copies_of_the_encoder_have_the_gradient_of_the_formula():
    """Written by hand, for it is made in one pass."""
    from olinear.nn.folding import _Copies

    torch.manual_seed(0)
    extension = torch.randn(3, dtype=torch.double, requires_grad=True)
    copies = torch.randn(4, 3, 5, dtype=torch.double, requires_grad=True)
    assert torch.autograd.gradcheck(_Copies.apply, (extension, copies))
    extended, summed = _Copies.apply(extension, copies)
    assert torch.equal(extended, extension @ copies)
    assert torch.equal(summed, copies.sum(1))
