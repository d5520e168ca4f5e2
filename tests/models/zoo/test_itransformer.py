"""iTransformer against NumPy, and the parameter counts of the paper's tables."""

import numpy as np
import pytest
import torch
from zoo_parts import (
    attention,
    count,
    dropped_share,
    gelu,
    layer_norm,
    linear,
    normlin,
    randomised,
    standardise,
    weights_of,
    windows,
)

from olinear.models.zoo.itransformer import ITransformer


def by_hand(x, w, blocks, heads, mixer):
    z, mean, deviation = standardise(x)
    forecasts = []
    for window in z:
        tokens = linear(window.T, w, "embed")  # n m
        for block in range(blocks):
            name = f"blocks.{block}"
            if mixer == "attention":
                mixed, _ = attention(tokens, w, f"{name}.0.mixer", heads)
            else:
                mixed = normlin(linear(tokens, w, f"{name}.0.mixer.pre"), w[f"{name}.0.mixer.normlin.weight"])
                mixed = linear(mixed, w, f"{name}.0.mixer.post")
            tokens = layer_norm(tokens + mixed, w, f"{name}.0.norm")
            hidden = gelu(linear(tokens, w, f"{name}.1.expand"))
            tokens = layer_norm(tokens + linear(hidden, w, f"{name}.1.contract"), w, f"{name}.1.norm")
        forecasts.append(linear(layer_norm(tokens, w, f"blocks.{blocks}"), w, "project").T)  # h n
    return np.stack(forecasts) * deviation + mean


@pytest.mark.parametrize("mixer", ["attention", "normlin"])
def test_equals_numpy(mixer):
    model = randomised(ITransformer(3, 12, 5, model_dim=8, ff_dim=6, blocks=2, heads=2, mixer=mixer))
    x = windows(2, 12, 3)
    np.testing.assert_allclose(model(x).detach(), by_hand(x.numpy(), weights_of(model), 2, 2, mixer), rtol=1e-9)


def test_parameter_counts():
    """4.83 M and, with NormLin and a block less, 2.21 M in the paper's tables of costs; first, the ETTh1 setting."""
    wide = {"model_dim": 512, "ff_dim": 512}
    assert count(ITransformer(7, 96, 96)) == 841_568
    assert count(ITransformer(7, 96, 96, blocks=3, **wide)) == 4_833_888
    assert count(ITransformer(7, 96, 96, blocks=2, mixer="normlin", **wide)) == 2_205_378


def test_normlin_keeps_the_order_of_series():
    """Its weights belong to pairs of places, where attention's belong to none."""
    x, order = windows(2, 12, 3), torch.tensor([2, 0, 1])
    for mixer, promised in (("attention", True), ("normlin", False)):
        model = randomised(ITransformer(3, 12, 5, model_dim=8, heads=2, mixer=mixer))
        assert model.permutes_series == promised
        assert torch.allclose(model(x[..., order]), model(x)[..., order]) == promised


def test_dropout_is_everywhere_the_paper_has_it():
    """On the embedding, on both branches and the hidden features of a block, and on the attention matrix."""
    model = ITransformer(3, 12, 5, model_dim=8, heads=2, blocks=1, dropout=0.3)
    mix, along = model.blocks[0]
    assert [mix.dropout.p, mix.mixer.dropout, along.dropout.p] == [0.3] * 3
    assert dropped_share(model, model.blocks, windows(50, 12, 3).float()) == pytest.approx(0.3, abs=0.06)
