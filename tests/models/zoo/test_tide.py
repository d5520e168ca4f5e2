"""TiDE against NumPy with and without its trap, the LayerNorm of a single value."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from zoo_parts import (
    count,
    dropped_share,
    gradients,
    layer_norm,
    linear,
    randomised,
    standardise,
    tsl_options,
    weights_of,
    windows,
)

from olinear.core.errors import ConfigError
from olinear.models.zoo.tide import DenseBlock, TiDE

SMALL = {"model_dim": 7, "decoder_dim": 3, "step_dim": 4, "series_dim": 2}


def block_by_hand(x, w, name):
    y = linear(np.maximum(linear(x, w, f"{name}.hidden.0"), 0), w, f"{name}.hidden.2") + linear(x, w, f"{name}.linear")
    return layer_norm(y, w, f"{name}.norm") if f"{name}.norm.weight" in w else y


def by_hand(x, w, blocks, decoder_dim=3):
    z, mean, deviation = standardise(x)
    weight, bias = w.get("norm.weight", np.ones(x.shape[2])), w.get("norm.bias", np.zeros(x.shape[2]))
    z = z * weight + bias
    horizon = len(w["linear.bias"])
    y = np.empty((len(x), horizon, x.shape[2]))
    for b, i in np.ndindex(len(x), x.shape[2]):
        u = z[b, :, i]
        if "series_embedding" in w:
            u = np.concatenate([u, w["series_embedding"][i]])
        for part in ("encoder", "decoder"):
            for index in range(blocks):
                u = block_by_hand(u, w, f"{part}.{index}")
        past = linear(z[b, :, i], w, "linear")
        for j in range(horizon):
            y[b, j, i] = block_by_hand(u[j * decoder_dim : (j + 1) * decoder_dim], w, "step")[0] + past[j]
    return (y - bias) / (weight + (1e-10 if "norm.weight" in w else 0)) * deviation + mean


@pytest.mark.parametrize("step_norm", [True, False])
@pytest.mark.parametrize("blocks", [1, 2])
@pytest.mark.parametrize("options", [{}, {"series_dim": 0, "affine": False}], ids=["authors", "tsl"])
def test_equals_numpy(step_norm, blocks, options):
    options = SMALL | {"encoder_blocks": blocks, "decoder_blocks": blocks, "step_norm": step_norm} | options
    model, x = randomised(TiDE(3, 12, 5, **options)), windows(2, 12, 3)
    np.testing.assert_allclose(model(x).detach(), by_hand(x.numpy(), weights_of(model), blocks), rtol=1e-8)


def test_parameter_counts():
    """Time-Series-Library's count, less what it has for marks: a block from 4 to 2 and what reads its results."""

    def block(ins, hidden, outs):
        return (ins + 1) * hidden + (hidden + 1) * outs + (ins + 1) * outs + 2 * outs

    marks = block(4, 256, 2)
    encoder = block(96 + 2 * 192, 256, 256) - block(96, 256, 256)
    step = block(8 + 2, 256, 1) - block(8, 256, 1)
    assert marks + encoder + step == 198_930
    assert count(TiDE(7, 96, 96, **tsl_options("TiDE"))) == 1_184_638 - 198_930 == 985_708
    assert count(TiDE(7, 96, 96)) == 3_810_082
    assert count(TiDE(7, 96, 96, step_norm=False)) == 3_810_082 - 2


class TestStepNorm:
    """The published trap: a LayerNorm of one value returns its bias."""

    def test_cuts_everything_off_but_the_linear_layer(self):
        model, x = randomised(TiDE(3, 12, 5, **SMALL)), windows(2, 12, 3)
        z, stats = model.norm(x)
        expected = model.norm.inverse((model.linear(z.mT) + model.step.norm.bias).mT, stats)
        torch.testing.assert_close(model(x), expected)

    def test_nothing_else_learns(self):
        model, x = randomised(TiDE(3, 12, 5, **SMALL)), windows(4, 12, 3)
        model(x).square().sum().backward()
        learning = {name for name, gradient in gradients(model).items() if gradient is not None}
        assert learning == {"norm.weight", "norm.bias", "step.norm.bias", "linear.weight", "linear.bias"}
        assert all(gradients(model)[name].abs().max() > 1e-6 for name in learning)

    def test_equals_the_whole_walk(self):
        """What is not computed would have changed no forecast and no gradient."""
        model, x = randomised(TiDE(3, 12, 5, **SMALL)), windows(4, 12, 3)
        walked = deepcopy(model)
        z, stats = walked.norm(x)
        features = torch.cat([z.mT, walked.series_embedding.expand(4, -1, -1)], -1)
        steps = walked.decoder(walked.encoder(features)).unflatten(-1, (5, 3))
        forecasts = model(x), walked.norm.inverse((walked.step(steps)[..., 0] + walked.linear(z.mT)).mT, stats)
        for forecast in forecasts:
            forecast.square().mean().backward()
        torch.testing.assert_close(*forecasts, rtol=1e-9, atol=1e-9)
        for name, gradient in gradients(model).items():
            expected = gradients(walked)[name]
            torch.testing.assert_close(torch.zeros_like(expected) if gradient is None else gradient, expected)

    def test_idle_parts_are_not_computed(self):
        model, called = TiDE(3, 12, 5, **SMALL), []
        for part in (model.encoder, model.decoder, model.step):
            part.register_forward_hook(lambda *_: called.append(True))
        model(windows(2, 12, 3).float())
        assert not called

    def test_dropout_has_no_effect_then(self):
        x = windows(2, 12, 3).float()
        cut_off, whole = (TiDE(3, 12, 5, step_norm=kind, **SMALL).train() for kind in (True, False))
        assert torch.equal(cut_off(x), cut_off(x))
        assert not torch.equal(whole(x), whole(x))

    def test_without_it_everything_acts(self):
        model, x = randomised(TiDE(3, 12, 5, step_norm=False, **SMALL)), windows(4, 12, 3)
        model(x).square().sum().backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad.abs().max() > 1e-6, name


def test_series_do_not_meet():
    model, x = randomised(TiDE(3, 12, 5, step_norm=False, **SMALL)), windows(2, 12, 3)
    changed = x.clone()
    changed[..., 1] += torch.arange(12)
    torch.testing.assert_close(model(changed)[..., [0, 2]], model(x)[..., [0, 2]], rtol=0, atol=0)
    assert not torch.allclose(model(changed)[..., 1], model(x)[..., 1])


@pytest.mark.parametrize(
    ("options", "promised"), [({}, False), ({"affine": False}, False), ({"series_dim": 0, "affine": False}, True)]
)
def test_series_have_a_vector_of_their_own(options, promised):
    """With it the same window is forecast differently for another series."""
    model = randomised(TiDE(2, 12, 5, step_norm=False, **(SMALL | options)))
    assert model.permutes_series == promised
    y = model(windows(1, 12, 1).expand(1, 12, 2))
    assert torch.allclose(y[..., 0], y[..., 1]) == promised


def test_the_series_vectors_start_small():
    start = TiDE(50, 12, 5).series_embedding.detach()
    assert start.shape == (50, 16)
    assert 0.045 < float(start.abs().max()) <= 0.05


def test_dropout_falls_on_the_hidden_path():
    """Not on the linear one beside it: what is dropped leaves that."""
    block, x = DenseBlock(6, 8, 40, dropout=0.5, norm=False), torch.randn(50, 6)
    kept_linear = torch.isclose(block(x), block.linear(x))
    assert 0.45 < kept_linear.float().mean() < 0.55
    model = TiDE(3, 12, 5, dropout=0.3, step_norm=False, **SMALL)
    assert [block.hidden[3].p for block in (model.encoder[0], model.decoder[0], model.step)] == [0.3] * 3
    assert dropped_share(model, model.encoder, windows(2, 12, 3).float()) == 0


def test_works_in_mixed_precision():
    model, x = TiDE(3, 12, 5, step_norm=False, **SMALL).eval(), torch.randn(2, 12, 3)
    with torch.autocast("cpu", torch.bfloat16):
        mixed = model(x)
    torch.testing.assert_close(mixed.float(), model(x), rtol=0.2, atol=0.2)


@pytest.mark.parametrize("name", ["encoder_blocks", "decoder_blocks"])
def test_there_must_be_a_block_of_each(name):
    with pytest.raises(ConfigError, match="encoder_blocks and decoder_blocks must be at least 1, found"):
        TiDE(3, 12, 5, **{name: 0})
