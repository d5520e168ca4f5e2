"""TimesNet against NumPy and SciPy: periods of the batch, images, one LayerNorm for all blocks."""

import numpy as np
import pytest
import torch
from image_parts import circular_embedding, fold_by_hand, frequencies_of, inception
from torch import nn
from zoo_parts import count, gelu, layer_norm, linear, randomised, softmax, standardise, weights_of, windows

from olinear.core.errors import ConfigError
from olinear.models import traits_of
from olinear.models.zoo.blocks.positions import sinusoids
from olinear.models.zoo.timesnet import PeriodBlock, TimesNet

TINY = {"model_dim": 4, "ff_dim": 3, "kernels": 3}


def block_by_hand(features, w, name, top_k):  # b t m
    """Every frequency has its image here, also where two have the same."""
    frequencies, amplitude = frequencies_of(features, top_k)
    weights, length = softmax(amplitude[:, frequencies]), features.shape[1]
    total = features.copy()
    for place, frequency in enumerate(frequencies):
        images = np.stack([fold_by_hand(row, length // frequency) for row in features])
        hidden = gelu(inception(images, w, f"{name}.mixer.widen."))
        mixed = inception(hidden, w, f"{name}.mixer.narrow.").reshape(len(features), -1, features.shape[2])
        total += weights[:, place, None, None] * mixed[:, :length]
    return total


def by_hand(x, w, *, top_k, blocks, horizon):
    z, mean, deviation = standardise(x)
    position = sinusoids(x.shape[1], w["embed.weight"].shape[0]).numpy()
    embedded = np.stack([circular_embedding(rows, w["embed.weight"]) + position for rows in z])
    features = linear(embedded.transpose(0, 2, 1), w, "extend").transpose(0, 2, 1)  # b t+h m
    for block in range(blocks):
        features = layer_norm(block_by_hand(features, w, f"blocks.{block}", top_k), w, "block_norm")
    return linear(features, w, "project")[:, -horizon:] * deviation + mean


@pytest.mark.parametrize("top_k", [1, 3, 9])
def test_equals_numpy(top_k):
    """Nine of eleven frequencies: some have a period in common."""
    model, x = randomised(TimesNet(3, 17, 5, top_k=top_k, **TINY)), windows(2, 17, 3)
    expected = by_hand(x.numpy(), weights_of(model), top_k=top_k, blocks=2, horizon=5)
    np.testing.assert_allclose(model(x).detach(), expected, rtol=1e-8)


def test_parameter_counts():
    """Time-Series-Library's 605,479, and 299,941,063 printed as 299.94 M, have 4 m weights more for marks of time."""
    assert count(TimesNet(7, 96, 96)) == 605_479 - 4 * 16
    with torch.device("meta"):
        assert count(TimesNet(7, 96, 96, model_dim=512, ff_dim=512)) == 299_941_063 - 4 * 512


class TestBatch:
    def test_companions_change_a_forecast(self):
        """As published: the periods are those of the batch's mean spectrum."""
        model, x = randomised(TimesNet(3, 17, 5, top_k=1, **TINY)), windows(8, 17, 3)
        together = model(x)
        assert traits_of(model).batch_dependent
        assert not all(torch.allclose(model(x[index : index + 1])[0], together[index]) for index in range(8))

    def test_no_companion_changes_it_where_all_frequencies_are_taken(self):
        """Then only the order of the images could differ: nothing else of the batch is used."""
        model, x = randomised(TimesNet(3, 17, 5, top_k=11, **TINY)), windows(4, 17, 3)
        torch.testing.assert_close(model(x[1:2])[0], model(x)[1])


def test_one_norm_serves_all_blocks():
    model = TimesNet(3, 17, 5, blocks=3, **TINY)
    assert len([module for module in model.modules() if isinstance(module, nn.LayerNorm)]) == 1
    calls = []
    model.block_norm.register_forward_hook(lambda *_: calls.append(1))
    model(windows(2, 17, 3).float())
    assert len(calls) == 3


def test_amplitudes_carry_a_gradient():
    """Where the images themselves give none, a block still learns how much each of them counts."""
    block, x = PeriodBlock(4, 3, top_k=2, kernels=1).double(), 0.1 * windows(2, 12, 4)
    x.requires_grad_()
    block.mixer.merged = lambda: lambda image: image.detach() * image.shape[2]
    (block(x) - x).square().sum().backward()
    assert x.grad.abs().max() > 1e-6


def test_dropout_is_in_the_embedding_only():
    model = TimesNet(3, 17, 5, dropout=0.4, **TINY)
    assert [module.p for module in model.modules() if isinstance(module, nn.Dropout)] == [0.4]
    seen = []
    model.extend.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    model.train()(windows(50, 17, 3).float())
    assert float((seen[0] == 0).float().mean()) == pytest.approx(0.4, abs=0.03)


@pytest.mark.parametrize(("lookback", "horizon"), [(1, 1), (2, 1), (7, 1), (1, 7)])
def test_very_short_windows(lookback, horizon):
    """They have fewer frequencies than five."""
    assert TimesNet(2, lookback, horizon, **TINY)(torch.randn(3, lookback, 2)).isfinite().all()


@pytest.mark.parametrize(
    ("options", "told"),
    [({"top_k": 0}, "top_k must be at least 1, found 0"), ({"kernels": 0}, "kernels must be at least 1, found 0")],
)
def test_bad_options_are_refused(options, told):
    with pytest.raises(ConfigError, match=told):
        TimesNet(3, 17, 5, **options)
