"""Fredformer against NumPy: patches of the spectrum, the walk to its inverse, and the counts of the paper's table."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from zoo_parts import (
    attention,
    count,
    gelu,
    layer_norm,
    linear,
    normlin,
    randomised,
    standardise,
    weights_of,
    windows,
)

from olinear.core.errors import ConfigError
from olinear.models.zoo.fredformer import Fredformer, spectrum_patches

SMALL = {"model_dim": 8, "ff_dim": 6, "patch_dim": 5, "blocks": 2, "heads": 2, "head_dim": 3}


def block_by_hand(x, w, name, mixer):  # n m
    inner = layer_norm(x, w, f"{name}.mix_norm")
    if mixer == "attention":
        mixed, _ = attention(inner, w, f"{name}.mix", heads=2)
    else:
        mixed = normlin(linear(inner, w, f"{name}.mix.pre"), w[f"{name}.mix.normlin.weight"])
        mixed = linear(mixed, w, f"{name}.mix.post")
    x = x + mixed
    hidden = gelu(linear(layer_norm(x, w, f"{name}.forward_norm"), w, f"{name}.feed_forward.0"))
    return x + linear(hidden, w, f"{name}.feed_forward.3")


def stream_by_hand(features, w, name):  # p n k
    embedded = linear(features, w, f"{name}.embed")
    v = np.concatenate(list(embedded), axis=-1)  # n p·k
    for index in range(3):
        v = v + np.maximum(linear(v, w, f"{name}.layers.{index}"), 0)
    return linear(v, w, f"{name}.output")  # n h


def by_hand(x, w, mixer, length=4):
    z, mean, deviation = standardise(x)
    forecasts = []
    for window in z:
        spectrum = np.fft.fft(window, axis=0).T  # n t
        features = []
        for first in range(0, spectrum.shape[1], length):
            patch = np.zeros((len(spectrum), length), complex)
            part = spectrum[:, first : first + length]
            patch[:, : part.shape[1]] = part
            tokens = linear(np.concatenate([patch.real, patch.imag], axis=1), w, "embed")
            for index in range(2):
                tokens = block_by_hand(tokens, w, f"blocks.{index}", mixer)
            features.append(linear(tokens, w, "project"))
        streams = [stream_by_hand(np.stack(features), w, name) for name in ("real", "imaginary")]
        signal = np.fft.ifft(streams[0] + 1j * streams[1], axis=-1)
        forecasts.append(linear(np.concatenate([signal.real, signal.imag], axis=1), w, "output").T)  # h n
    return np.stack(forecasts) * deviation + mean


@pytest.mark.parametrize("mixer", ["attention", "normlin"])
@pytest.mark.parametrize("lookback", [12, 33])
def test_equals_numpy(mixer, lookback):
    model = randomised(Fredformer(3, lookback, 5, mixer=mixer, **SMALL))
    x = windows(2, lookback, 3)
    np.testing.assert_allclose(model(x).detach(), by_hand(x.numpy(), weights_of(model), mixer), rtol=1e-8)


def test_parameter_counts():
    """The ETT setting without the 55,903 parameters of the authors' release that nothing reads.

    The paper's table of costs counts those too, and prints 8.59 and, with NormLin, 8.39 million. NormLin puts two
    layers of 128 → 128 and its matrix in the place of four between 128 and the 256 of eight heads of 32.
    """
    attention_layers = 3 * (128 * 256 + 256) + 256 * 128 + 128
    normlin_layers = 2 * (128 * 128 + 128) + 7 * 7
    plain, plugged = count(Fredformer(7, 96, 96)), count(Fredformer(7, 96, 96, mixer="normlin"))
    assert plain == 8_591_951 - 55_903 == 8_536_048
    assert plugged == plain - 2 * (attention_layers - normlin_layers) == 8_338_258
    assert round((plain + 55_903) / 1e6, 2) == 8.59
    assert round((plugged + 55_903) / 1e6, 2) == 8.39


class TestPatches:
    def test_real_parts_come_first(self):
        x = windows(1, 8, 1)[0].mT  # 1 t
        spectrum = np.fft.fft(x.numpy())[0]
        patches = spectrum_patches(x, 4)[0].numpy()
        np.testing.assert_allclose(patches[0], [*spectrum.real[:4], *spectrum.imag[:4]], atol=1e-10)
        np.testing.assert_allclose(patches[1], [*spectrum.real[4:], *spectrum.imag[4:]], atol=1e-10)

    @settings(max_examples=30)
    @given(lookback=st.integers(1, 40), length=st.integers(1, 12))
    def test_hold_the_whole_window(self, lookback, length):
        """Nothing is lost where the patch does not divide the lookback: the inverse of all patches is the window."""
        x = windows(2, 3, lookback)
        patches = spectrum_patches(x, length)
        assert patches.shape == (2, 3, -(-lookback // length), 2 * length)
        real, imaginary = patches.unflatten(-1, (2, length)).unbind(-2)
        spectrum = torch.complex(real, imaginary).flatten(-2)
        assert not spectrum[..., lookback:].abs().any()
        torch.testing.assert_close(torch.fft.ifft(spectrum[..., :lookback]).real, x)

    def test_refuses_empty_ones(self):
        with pytest.raises(ConfigError, match="patch_length must be at least 1, found 0"):
            Fredformer(3, 12, 5, patch_length=0)


def test_a_band_does_not_see_the_others_before_the_streams():
    """Of two windows that differ only in the frequencies of the middle patch, the others give the same features."""
    model = randomised(Fredformer(3, 12, 5, **SMALL))
    features = []
    model.project.register_forward_hook(lambda module, inputs, output: features.append(output))
    angle = 2 * torch.pi * torch.arange(12, dtype=torch.float64)[None, :, None].repeat(1, 1, 3) / 12
    for fast in (torch.cos(5 * angle), torch.cos(6 * angle) / 2**0.5):  # one variance, so one normalisation
        model(torch.cos(angle) + fast)
    first, second = features  # p n k
    torch.testing.assert_close(first[[0, 2]], second[[0, 2]])
    assert not torch.allclose(first[1], second[1])


@pytest.mark.parametrize("mixer", ["attention", "normlin"])
def test_gradient_reaches_every_parameter(mixer):
    """But for the biases of keys, which shift all scores of a query alike."""
    model = randomised(Fredformer(3, 13, 5, mixer=mixer, dropout=0.0, **SMALL)).train()
    (model(windows(4, 13, 3)) - windows(4, 5, 3, seed=1)).square().mean().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None
        assert parameter.grad.abs().max() > 1e-8 or name.endswith("key.bias"), name


def test_normlin_keeps_the_order_of_series():
    x, order = windows(2, 12, 3), torch.tensor([2, 0, 1])
    for mixer, promised in (("attention", True), ("normlin", False)):
        model = randomised(Fredformer(3, 12, 5, mixer=mixer, **SMALL))
        assert model.permutes_series == promised
        assert torch.allclose(model(x[..., order]), model(x)[..., order]) == promised


@pytest.mark.parametrize(("n_series", "lookback", "horizon"), [(1, 33, 5), (4, 33, 5), (2, 3, 1), (3, 5, 40)])
def test_odd_sizes(n_series, lookback, horizon):
    model = Fredformer(n_series, lookback, horizon, **SMALL).double()
    assert model(windows(2, lookback, n_series)).shape == (2, horizon, n_series)
    model.float()
    assert model(windows(2, lookback, n_series).float()).dtype == torch.float32


def test_saved_weights_give_the_same_forecasts_bit_by_bit():
    x = windows(2, 12, 3).float()
    model, copy = (Fredformer(3, 12, 5, **SMALL).eval() for _ in range(2))
    copy.load_state_dict(model.state_dict())
    assert torch.equal(copy(x), model(x))
    assert torch.equal(model(x), model(x))


def test_works_in_mixed_precision():
    """The streams then give bfloat16, of which there are no complex numbers."""
    model, x = Fredformer(3, 12, 5, **SMALL).eval(), windows(2, 12, 3).float()
    with torch.autocast("cpu", torch.bfloat16):
        mixed = model(x)
    torch.testing.assert_close(mixed.float(), model(x), rtol=0.1, atol=0.1)


@pytest.mark.parametrize("mixer", ["attention", "normlin"])
def test_dropout_is_where_the_authors_have_it(mixer):
    """On the embedding, before the projection and in the branches, not on the matrix of attention, nor of NormLin."""
    model = Fredformer(3, 12, 5, dropout=0.3, mixer=mixer, **SMALL)
    block = model.blocks[0]
    matrix = block.mix if mixer == "attention" else block.mix.normlin
    assert [model.dropout.p, block.dropout.p, block.feed_forward[2].p, matrix.dropout] == [0.3, 0.3, 0.3, 0.0]
