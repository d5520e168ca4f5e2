"""Leddam against NumPy: smoothing along the width, rolls, both branches, and the counts of the paper's tables."""

import numpy as np
import pytest
import torch
from zoo_parts import (
    attention,
    count,
    gelu,
    layer_norm,
    linear,
    normlin,
    randomised,
    sines,
    softmax,
    standardise,
    weights_of,
    windows,
)

from olinear.core.errors import ConfigError
from olinear.models.zoo.leddam import AutoAttention, Leddam, Smoothing
from olinear.nn import SeriesLinear

SMALL = {"model_dim": 10, "ff_dim": 6, "blocks": 2, "kernel": 5, "roll": 4}


def auto_attention(rows, w, name, roll):  # n m
    outputs = []
    for row in rows:
        copies = np.stack([np.concatenate([row[shift:], row[:shift]]) for shift in range(0, len(row), roll)])
        query, keys = linear(row, w, f"{name}.query"), linear(copies, w, f"{name}.key")
        values = linear(copies, w, f"{name}.value")
        outputs.append(softmax(keys @ query / np.sqrt(len(row))) @ values)
    return linear(np.stack(outputs), w, f"{name}.output")


def block_by_hand(x, mixed, w, name):  # n m
    scale = w[f"{name}.series_norm.weight"] / np.sqrt(w[f"{name}.series_norm.running_var"] + 1e-5)
    a = (x + mixed - w[f"{name}.series_norm.running_mean"][:, None]) * scale[:, None]
    a = a + w[f"{name}.series_norm.bias"][:, None]
    hidden = gelu(linear(a, w, f"{name}.feed_forward.0"))
    return layer_norm(a + linear(hidden, w, f"{name}.feed_forward.3"), w, f"{name}.norm")


def by_hand(x, w, mixer):
    z, mean, deviation = standardise(x)
    kernel, bias = w["smooth.convolution.weight"][0, 0], w["smooth.convolution.bias"]
    forecasts = []
    for window in z:
        embedded = linear(window.T, w, "embed") + w["position"]  # n m
        padded = np.pad(embedded, ((0, 0), (2, 2)), mode="edge")
        main = np.stack([np.correlate(row, kernel, "valid") for row in padded]) + bias
        within = across = embedded - main
        for index in range(2):
            name = f"within.{index}"
            within = block_by_hand(within, auto_attention(within, w, f"{name}.mix", 4), w, name)
            name = f"across.{index}"
            if mixer == "attention":
                mixed, _ = attention(across, w, f"{name}.mix", heads=1)
            else:
                mixed = normlin(linear(across, w, f"{name}.mix.pre"), w[f"{name}.mix.normlin.weight"])
                mixed = linear(mixed, w, f"{name}.mix.post")
            across = block_by_hand(across, mixed, w, name)
        forecasts.append((linear(main, w, "main_head") + linear(within + across, w, "rest_head")).T)  # h n
    return np.stack(forecasts) * deviation + mean


@pytest.mark.parametrize("mixer", ["attention", "normlin"])
@pytest.mark.parametrize("learn_position", [True, False])
def test_equals_numpy(mixer, learn_position):
    model = randomised(Leddam(3, 12, 5, mixer=mixer, learn_position=learn_position, **SMALL))
    x = windows(2, 12, 3)
    np.testing.assert_allclose(model(x).detach(), by_hand(x.numpy(), weights_of(model), mixer), rtol=1e-9)


def test_parameter_counts():
    """The ETTh1 setting, then that of the paper's tables of costs, which print 8.55 and, with NormLin, 7.51 million.

    NormLin takes the place of four linear layers of a block by two and its matrix: 2 (512² + 512) - 7² = 525,263 less,
    twice. Both printed numbers are met up to one in their last digit, in opposite directions.
    """
    costs = {"model_dim": 512, "blocks": 2, "learn_position": False}
    assert count(Leddam(7, 96, 96)) == 1_129_206
    assert count(Leddam(7, 96, 96, **costs)) == 8_555_282
    assert count(Leddam(7, 96, 96, mixer="normlin", **costs)) == 8_555_282 - 2 * 525_263 == 7_504_756


class TestSmoothing:
    def test_starts_nearly_flat(self):
        """The softmax is taken of the bell's values, which lie between 0 and 1: no tap has e times another's weight."""
        layer = Smoothing(25)
        bell = np.exp(-(((np.arange(25) - 12) / 2) ** 2))
        taps = layer.convolution.weight.detach().numpy()[0, 0]
        np.testing.assert_allclose(taps, np.exp(bell) / np.exp(bell).sum(), rtol=1e-6)
        assert taps.max() / taps.min() < np.e + 1e-4
        assert layer.convolution.bias.item() == 0

    def test_keeps_a_constant_at_first(self):
        """Weights that sum to one and repeated ends: what does not change along the width is main part, to its ends."""
        constant = torch.tensor([[[3.0], [-2.0]]]).expand(1, 2, 7)
        torch.testing.assert_close(Smoothing(25)(constant), constant)

    @pytest.mark.parametrize("kernel", [0, 4, -3])
    def test_refuses_what_has_no_middle(self, kernel):
        with pytest.raises(ConfigError, match=f"kernel must be odd and at least 1, found {kernel}"):
            Leddam(3, 12, 5, kernel=kernel)


class TestAutoAttention:
    def test_rolls_the_width_by_64(self):
        assert list(AutoAttention(256).shifts) == [0, 64, 128, 192]
        assert list(AutoAttention(64).shifts) == [0]
        assert list(AutoAttention(65).shifts) == [0, 64]

    def test_a_rolled_vector_meets_the_same_copies(self):
        """Keys and values are a set of rolls: with a query that is the same everywhere, a roll by 4 changes nothing."""
        layer = AutoAttention(12, roll=4).double()
        torch.nn.init.zeros_(layer.query.weight)
        x = windows(2, 3, 12)
        torch.testing.assert_close(layer(x.roll(4, -1)), layer(x))
        assert not torch.allclose(layer(x.roll(3, -1)), layer(x))

    def test_refuses_rolls_that_do_not_move(self):
        with pytest.raises(ConfigError, match="roll must be at least 1, found 0"):
            AutoAttention(8, roll=0)


def test_batchnorm_has_series_as_channels():
    """In training its statistics are those of a series over batch and width."""
    norm = Leddam(3, 12, 5, **SMALL).within[0].series_norm.double().train()
    x = windows(4, 3, 10)
    wanted = (x - x.mean((0, 2), keepdim=True)) / (x.var((0, 2), keepdim=True, correction=0) + 1e-5).sqrt()
    torch.testing.assert_close(norm(x), wanted)


def test_starts_as_the_authors_do():
    model = Leddam(4, 12, 5, model_dim=8)
    for head in (model.main_head, model.rest_head):
        torch.testing.assert_close(head.weight.detach(), torch.full((5, 8), 1 / 8))
    waves = sines(4, 8)
    wanted = (waves - waves.mean()) / (10 * waves.std(ddof=1))
    np.testing.assert_allclose(model.position.detach(), wanted, atol=1e-6)


def largest_gradients(model, x, y):
    model.zero_grad()
    (model(x) - y).square().mean().backward()
    return {name: float(parameter.grad.abs().max()) for name, parameter in model.named_parameters()}


def seen(gradients):
    """Without the biases of keys: they shift all scores of a query alike, and a softmax does not see that."""
    return {name: size for name, size in gradients.items() if not name.endswith("key.bias")}


@pytest.mark.parametrize("mixer", ["attention", "normlin"])
def test_gradient_reaches_every_parameter(mixer):
    model = randomised(Leddam(3, 12, 5, mixer=mixer, **SMALL)).train()
    assert min(seen(largest_gradients(model, windows(4, 12, 3), windows(4, 5, 3, seed=1))).values()) > 1e-8


def test_blocks_learn_from_the_second_step_on():
    """The heads start as means over the width, and the mean of what LayerNorm gives is a constant: no slope."""
    model, x, y = Leddam(3, 12, 5, **SMALL).double(), windows(4, 12, 3), windows(4, 5, 3, seed=1)
    last = ("within.1.norm", "across.1.norm")
    blocks = {name for name, _ in model.named_parameters() if name.startswith(("within", "across"))}
    blocks = {name for name in blocks if not name.startswith(last)}
    gradients = largest_gradients(model, x, y)
    assert max(gradients[name] for name in blocks) < 1e-12
    assert min(size for name, size in gradients.items() if name not in blocks) > 1e-8
    torch.optim.Adam(model.parameters(), 1e-3).step()
    assert min(seen(largest_gradients(model, x, y)).values()) > 1e-8


@pytest.mark.parametrize(("n_series", "lookback", "horizon"), [(1, 33, 5), (4, 33, 5), (2, 1, 1), (3, 5, 40)])
def test_odd_sizes(n_series, lookback, horizon):
    model = Leddam(n_series, lookback, horizon, model_dim=9).double()
    assert model(windows(2, lookback, n_series)).shape == (2, horizon, n_series)
    model.float()
    assert model(windows(2, lookback, n_series).float()).dtype == torch.float32


def test_saved_weights_give_the_same_forecasts_bit_by_bit():
    x = windows(2, 12, 3).float()
    model = Leddam(3, 12, 5, dropout=0.5, **SMALL).train()
    model(x)  # moves BatchNorm's statistics
    model.eval()
    copy = Leddam(3, 12, 5, dropout=0.5, **SMALL).eval()
    copy.load_state_dict(model.state_dict())
    assert torch.equal(copy(x), model(x))
    assert torch.equal(model(x), model(x))


def test_takes_a_mixer_of_ones_own():
    """A factory gets the number of series, the width and no dropout; the attention within series stays."""
    asked = []

    def mixer(tokens, model_dim, *, dropout):
        asked.append((tokens, model_dim, dropout))
        return SeriesLinear(tokens)

    model = Leddam(3, 12, 5, dropout=0.2, mixer=mixer, **SMALL)
    assert asked == [(3, 10, 0.0)] * 2
    assert all(isinstance(block.mix, SeriesLinear) for block in model.across)
    assert all(isinstance(block.mix, AutoAttention) for block in model.within)


@pytest.mark.parametrize("mixer", ["attention", "normlin"])
def test_dropout_is_where_the_authors_have_it(mixer):
    """In the branches and on hidden features, not on the matrices of attention, nor of NormLin."""
    model = Leddam(3, 12, 5, dropout=0.3, mixer=mixer, **SMALL)
    for block in (*model.within, *model.across):
        assert [block.dropout.p, block.feed_forward[2].p] == [0.3, 0.3]
    across = model.across[0].mix if mixer == "attention" else model.across[0].mix.normlin
    assert across.dropout == 0.0
    assert not hasattr(model.within[0].mix, "dropout")


@pytest.mark.parametrize(
    ("options", "message"), [({"mixer": "nothing"}, "mixer must be"), ({"model_dim": 1}, "at least 2")]
)
def test_refuses_other_arguments(options, message):
    with pytest.raises(ConfigError, match=message):
        Leddam(3, 12, 5, **options)
