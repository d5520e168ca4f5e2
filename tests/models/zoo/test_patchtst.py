"""PatchTST against NumPy in both of its forms, and the parameter counts of the paper's tables."""

import numpy as np
import pytest
import torch
from torch import nn
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
    tsl_options,
    weights_of,
    windows,
)

from olinear.core.errors import ConfigError
from olinear.models.zoo.patchtst import PatchBlock, PatchTST

TSL = tsl_options("PatchTST")
TINY = {"patch_length": 6, "stride": 4, "model_dim": 8, "ff_dim": 10, "heads": 2, "blocks": 3}
UNDROPPED = {"dropout": 0.0, "head_dropout": 0.0}


def cut(series, length=6, stride=4):
    padded = np.concatenate([series, [series[-1]] * stride])
    return np.stack([padded[start : start + length] for start in range(0, len(padded) - length + 1, stride)])


def batch_norm(x, w, name, training):
    """Statistics over all tokens in training, those kept otherwise."""
    tokens = x.reshape(-1, x.shape[-1])
    mean, variance = (
        (tokens.mean(0), tokens.var(0)) if training else (w[f"{name}.running_mean"], w[f"{name}.running_var"])
    )
    return (x - mean) / np.sqrt(variance + 1e-5) * w[f"{name}.weight"] + w[f"{name}.bias"]


def normalised(x, w, name, training):
    return batch_norm(x, w, name, training) if f"{name}.running_mean" in w else layer_norm(x, w, name)


def mixed_tokens(tokens, w, name, scores, residual):
    """Each sequence alone; the scores come back, None from a NormLin."""
    if f"{name}.normlin.weight" in w:
        mixed = [normlin(linear(one, w, f"{name}.pre"), w[f"{name}.normlin.weight"]) for one in tokens]
        return linear(np.stack(mixed), w, f"{name}.post"), None
    earlier = scores if scores is not None and residual else [None] * len(tokens)
    results = [attention(one, w, name, 2, before) for one, before in zip(tokens, earlier, strict=True)]
    return np.stack([y for y, _ in results]), [score for _, score in results]


def by_hand(x, w, *, residual=True, training=False, blocks=3):
    z, mean, deviation = standardise(x)
    patches = np.stack([cut(series) for window in z for series in window.T])  # b·n p length
    tokens = patches @ w["embed.weight"].T + w.get("embed.bias", 0) + w["position"]
    scores = None
    for block in range(blocks):
        name = f"blocks.{block}"
        mixed, scores = mixed_tokens(tokens, w, f"{name}.mixer", scores, residual)
        tokens = normalised(tokens + mixed, w, f"{name}.mixer_norm", training)
        hidden = linear(gelu(linear(tokens, w, f"{name}.along.0")), w, f"{name}.along.3")
        tokens = normalised(tokens + hidden, w, f"{name}.along_norm", training)
    if "final_norm.weight" in w:
        tokens = normalised(tokens, w, "final_norm", training)
    features = np.stack([[one[p, m] for m in range(one.shape[1]) for p in range(len(one))] for one in tokens])
    y = linear(features, w, "head").reshape(len(x), x.shape[2], -1)  # b n h
    return y.transpose(0, 2, 1) * deviation + mean


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {},
        TSL | TINY | UNDROPPED,
        {"mixer": "normlin"},
        {"residual_attention": False},
        {"norm": "layer", "final_norm": "layer"},
    ],
    ids=["authors", "tsl", "normlin", "plain attention", "layer norm"],
)
def test_equals_numpy(options, training):
    """Without dropout, training differs from evaluation by BatchNorm's statistics alone."""
    model = randomised(PatchTST(3, 17, 5, **TINY | UNDROPPED | options)).train(training)
    x, w = windows(2, 17, 3), weights_of(model)
    expected = by_hand(x.numpy(), w, residual=options.get("residual_attention", True), training=training)
    np.testing.assert_allclose(model(x).detach(), expected, rtol=1e-8)


class Ones(nn.Module):
    """A branch that adds one."""

    def forward(self, x):
        return torch.ones_like(x)


def test_residual_attention_matters_from_the_second_block_on():
    """The first block has no earlier scores."""
    x = windows(2, 17, 3)
    for blocks, same in ((1, True), (2, False)):
        options = TINY | {"blocks": blocks}
        model, plain = (randomised(PatchTST(3, 17, 5, residual_attention=kind, **options)) for kind in (True, False))
        plain.load_state_dict(model.state_dict())
        assert torch.allclose(model(x), plain(x)) == same


def test_parameter_counts():
    """3.76 M in the paper's table of costs and 2.71 M with NormLin; TSL's form with its ETTh1 setting."""
    wide = {"model_dim": 512, "ff_dim": 512, "blocks": 2}
    assert count(PatchTST(7, 96, 96, **wide)) == 3_760_736
    assert count(PatchTST(7, 96, 96, mixer="normlin", **wide)) == 2_710_400
    assert count(PatchTST(7, 96, 96, **TSL)) == 3_751_520


def test_series_do_not_meet():
    model, x = randomised(PatchTST(3, 17, 5, **TINY)), windows(1, 17, 3)
    changed = x.clone()
    changed[..., 1] += torch.arange(17)
    torch.testing.assert_close(model(changed)[..., [0, 2]], model(x)[..., [0, 2]], rtol=0, atol=0)
    assert not torch.allclose(model(changed)[..., 1], model(x)[..., 1])


def test_positions():
    """Learnt ones start within ±0.02, fixed ones are no parameters; without either, patches have no order."""
    learnt = PatchTST(3, 96, 5).position
    assert isinstance(learnt, nn.Parameter)
    assert learnt.shape == (12, 16)
    assert 0.019 < float(learnt.detach().abs().max()) <= 0.02
    fixed = PatchTST(3, 96, 5, position="sinusoidal").position
    assert not isinstance(fixed, nn.Parameter)
    assert fixed[0, :4].tolist() == [0, 1, 0, 1]


class TestDropout:
    def test_the_authors_form(self):
        """On tokens, both branches and hidden features, and on the attention's output instead of its matrix."""
        model = PatchTST(3, 17, 5, dropout=0.3, **TINY)
        block = model.blocks[0]
        assert [model.dropout.p, block.dropout.p, block.along[2].p, block.mixer_dropout.p] == [0.3] * 4
        assert [block.mixer.dropout, model.head_dropout.p] == [0.0, 0.0]

    def test_falls_on_the_tokens(self):
        model = PatchTST(3, 17, 5, dropout=0.3, **TINY)
        assert dropped_share(model, model.blocks[0], windows(50, 17, 3).float()) == pytest.approx(0.3, abs=0.05)

    @pytest.mark.parametrize(("mixer_dropout", "share"), [(0.0, 0.5), (0.5, 0.75)])
    def test_falls_on_both_branches(self, mixer_dropout, share):
        """With one as what each branch adds, an entry is raised by what its dropout leaves; the mixer's comes twice."""
        block = PatchBlock(
            Ones(),
            Ones(),
            (nn.Identity(), nn.Identity()),
            dropout=0.5,
            mixer_dropout=mixer_dropout,
            residual_attention=True,
        )
        raised, _ = block(torch.zeros(50, 5, 8), None)
        assert set(raised.flatten().tolist()) == {0.0, 2.0, 1 / (1 - share), 1 / (1 - share) + 2}
        assert float((raised == 0).double().mean()) == pytest.approx(0.5 * share, abs=0.05)

    def test_the_other_form(self):
        """On the attention matrix and, by an argument of its own, on the head's output."""
        model = PatchTST(3, 17, 5, **TSL | TINY | {"dropout": 0.3, "head_dropout": 0.2})
        block = model.blocks[0]
        assert [block.mixer.dropout, block.mixer_dropout.p, model.head_dropout.p] == [0.3, 0.0, 0.2]

    def test_of_normlin_falls_where_attentions_does(self):
        for place, matrix, output in (("output", 0.0, 0.3), ("matrix", 0.3, 0.0)):
            model = PatchTST(3, 17, 5, dropout=0.3, mixer="normlin", mixer_dropout=place, **TINY)
            block = model.blocks[0]
            assert (block.mixer.normlin.dropout, block.mixer_dropout.p) == (matrix, output)

    def test_of_the_head_falls_on_the_forecast(self):
        """What is dropped is forecast as the window's mean."""
        model, x = PatchTST(3, 17, 40, dropout=0.0, head_dropout=0.5, **TINY), windows(4, 17, 3).float()
        dropped = torch.isclose(model(x), x.mean(1, keepdim=True), rtol=1e-5)
        assert 0.4 < dropped.float().mean() < 0.6


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"norm": "group"}, "norm and final_norm must be 'batch' or 'layer', found 'group'"),
        ({"final_norm": "group"}, "norm and final_norm must be 'batch' or 'layer', found 'group'"),
        ({"position": "rotary"}, "position must be 'learnt' or 'sinusoidal', found 'rotary'"),
        ({"mixer_dropout": "scores"}, "mixer_dropout must be 'output' or 'matrix', found 'scores'"),
        ({"mixer": "mean"}, r"mixer must be one of normlin, linear, .* or a factory, found 'mean'"),
        ({"patch_length": 30, "stride": 2}, "patches of 30 every 2 need a lookback of at least 28, found 17"),
    ],
)
def test_bad_options_are_refused(options, told):
    with pytest.raises(ConfigError, match=told):
        PatchTST(3, 17, 5, **options)
