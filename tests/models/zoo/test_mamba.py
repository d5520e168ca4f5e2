"""The selective scan against the textbook's loop, and Mamba in the place of OLinear's encoder."""

from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from scipy.special import expit

from olinear.models.zoo.blocks.mamba import Mamba, selective_scan
from olinear.models.zoo.blocks.mixers import MIXERS
from olinear.nn import OLinear, OrthoTrans

ROWS = np.random.default_rng(3).normal(size=(60, 5)).cumsum(0)


def features(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def slow_scan(value, step, decay, into, out_of):
    """The recurrence as it is written, one inner feature at a time."""
    batch, tokens, width = value.shape
    rows = []
    for b in range(batch):
        for d in range(width):
            state = torch.zeros(len(decay), dtype=value.dtype)
            for i in range(tokens):
                state = torch.exp(step[b, i, d] * decay[:, d]) * state + step[b, i, d] * into[b, i] * value[b, i, d]
                rows.append(out_of[b, i] @ state)
    return torch.stack(rows).view(batch, width, tokens).mT


def scan_inputs(batch, tokens, width, state):
    shapes = [(batch, tokens, width), (batch, tokens, width), (state, width), (batch, tokens, state)]
    value, step, decay, into = (features(*shape, seed=seed) for seed, shape in enumerate(shapes))
    inputs = [value, F.softplus(step), -decay.exp(), into, features(batch, tokens, state, seed=4)]
    return [each.requires_grad_() for each in inputs]


@pytest.mark.parametrize("tokens", [1, 2, 7, 21])
def test_the_scan_equals_the_slow_one_with_its_gradients(tokens):
    inputs, weight = scan_inputs(2, tokens, 3, 4), features(2, tokens, 3, seed=9)
    fast, slow = (scan(*inputs) for scan in (selective_scan, slow_scan))
    torch.testing.assert_close(fast, slow, rtol=1e-12, atol=1e-12)
    gradients = [torch.autograd.grad((y * weight).sum(), inputs, allow_unused=True) for y in (fast, slow)]
    for name, one, other in zip(("value", "step", "decay", "into", "out_of"), *gradients, strict=True):
        if tokens == 1 and name == "decay":  # nothing has decayed yet
            continue
        torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-12, msg=lambda text, name=name: f"{name}: {text}")


def test_a_long_walk_stays_finite():
    """Decays are multiplied step by step, never divided by, so that nothing overflows."""
    inputs = [each.detach().float() for each in scan_inputs(1, 400, 3, 4)]
    inputs[1] = inputs[1] * 100
    assert selective_scan(*inputs).isfinite().all()


def test_equals_numpy():
    module, x = Mamba(6, state=3).double().eval(), features(2, 5, 6)
    w = {name: value.numpy() for name, value in module.state_dict().items()}
    for window, output in zip(x.numpy(), module(x).detach().numpy(), strict=True):
        value, gate = np.split(window @ w["expand.weight"].T, 2, axis=1)
        padded = np.concatenate([np.zeros((3, 12)), value])
        value = np.stack([(padded[i : i + 4] * w["conv.weight"][:, 0].T).sum(0) + w["conv.bias"] for i in range(5)])
        value = value * expit(value)
        low, into, out_of = np.split(value @ w["select.weight"].T, [1, 4], axis=1)
        step = np.log1p(np.exp(low @ w["step.weight"].T + w["step.bias"]))
        state, rows = np.zeros((3, 12)), []
        for i in range(5):
            state = np.exp(-step[i] * np.exp(w["log_decay"])) * state + np.outer(into[i], step[i] * value[i])
            rows.append(out_of[i] @ state + w["skip"] * value[i])
        expected = (np.stack(rows) * gate * expit(gate)) @ w["contract.weight"].T
        np.testing.assert_allclose(output, expected, atol=1e-12)


def test_no_token_sees_a_later_one():
    module = Mamba(16).double()
    for position in range(6):
        x = features(1, 6, 16).requires_grad_()
        module(x)[0, position].sum().backward()
        assert (x.grad[0, : position + 1] != 0).any(-1).all()
        assert (x.grad[0, position + 1 :] == 0).all()


def test_starts_as_its_authors_say():
    module = Mamba(64, state=16)
    torch.testing.assert_close(module.log_decay.exp(), torch.arange(1.0, 17)[:, None].expand(16, 128))
    steps = F.softplus(module.step.bias)
    assert steps.min() >= 0.99e-3
    assert steps.max() <= 1.01e-1
    assert 0.005 < steps.log().mean().exp() < 0.02  # log-uniform: the middle is 0.01
    assert module.step.weight.abs().max() <= 64**0.5 / 16  # rank 4: 1/2
    assert (module.skip == 1).all()


def test_parameter_count():
    """m → 4m, conv, 2m → r + 2N, r → 2m, A, D, 2m → m, with m = 64, r = 4, N = 16."""
    count = sum(parameter.numel() for parameter in Mamba(64).parameters())
    assert count == 64 * 256 + 128 * 5 + 128 * 36 + 5 * 128 + 16 * 128 + 128 + 128 * 64


def alone(model_dim=16, state=None, **options):
    """OLinear with Mamba in the place of all its blocks."""
    encoder = "wide-mamba" if state is None else partial(MIXERS["mamba"], state=state)
    return OLinear.for_data(ROWS, 12, 6, model_dim=model_dim, encoder=encoder, **options)


class TestInTheEncodersPlace:
    def test_there_is_nothing_but_mamba_between_encode_and_decode(self):
        model, x = (
            alone(embed_dim=3, state=4, fold=False).double().eval(),
            features(2, 12, 5),
        )
        mamba = model.blocks[0].encoder
        normed, stats = model.revin(x)
        expected = model.revin.inverse(model.decode(mamba(model.encode(normed.mT))).mT, stats)
        torch.testing.assert_close(model(x), expected)
        assert not any(isinstance(module, torch.nn.LayerNorm) for module in model.modules())

    def test_it_has_the_bases_of_its_rows(self):
        model = alone()
        torch.testing.assert_close(model.input_transform.basis, OrthoTrans.fit(ROWS, 12).basis)
        torch.testing.assert_close(model.output_transform.basis, OrthoTrans.fit(ROWS, 6).basis)

    def test_folded_and_compact_walks_are_the_plain_one(self):
        model, x = alone(embed_dim=3).double().eval(), features(40, 12, 5)
        torch.testing.assert_close(model(x), model.plain_walk(x))
        torch.testing.assert_close(model.compact()(x), model.plain_walk(x).detach())

    def test_gradient_reaches_every_parameter(self):
        model = alone(embed_dim=3)
        model(torch.randn(4, 12, 5)).square().sum().backward()
        assert all((parameter.grad != 0).any() for parameter in model.parameters())

    def test_the_comparisons_state_is_as_long_as_the_width(self):
        assert alone().blocks[0].encoder.log_decay.shape == (16, 32)
        assert len(alone(blocks=3).blocks) == 1
