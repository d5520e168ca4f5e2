"""The shared pieces against explicit loops."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from zoo_parts import attention, count, normlin, randomised, weights_of, windows

from olinear.core.errors import ConfigError, DataError
from olinear.models.zoo.blocks.attention import CrossAttention, SelfAttention
from olinear.models.zoo.blocks.averages import decompose, moving_average, repeat_ends
from olinear.models.zoo.blocks.layers import (
    CircularConvolution,
    Dropout,
    PerSeriesLinear,
    circular_embedding,
    feed_forward,
    time_linear,
)
from olinear.models.zoo.blocks.mixers import token_mixer
from olinear.models.zoo.blocks.norms import TokenBatchNorm, UnbiasedNorm
from olinear.models.zoo.blocks.patches import count_patches, cut_patches
from olinear.models.zoo.blocks.positions import sinusoids
from olinear.models.zoo.blocks.transformer import encoder_block


def features(*shape):
    return torch.from_numpy(np.random.default_rng(0).normal(size=shape))


UNBIASED = [
    ({}, lambda variance: (variance + 1e-5).sqrt()),
    ({"eps": 1e-4, "eps_on": "deviation"}, lambda variance: variance.sqrt() + 1e-4),
]


@pytest.mark.parametrize(("options", "deviation"), UNBIASED, ids=["variance", "deviation"])
class TestUnbiasedNorm:
    def test_divides_by_one_less(self, options, deviation):
        norm, x = UnbiasedNorm(3, affine=False, **options), windows(2, 12, 3)
        z, stats = norm(x)
        torch.testing.assert_close(stats.deviation, deviation(x.var(1, keepdim=True)))
        torch.testing.assert_close(z, (x - x.mean(1, keepdim=True)) / stats.deviation)
        torch.testing.assert_close(norm.inverse(z, stats), x)

    def test_missing_values_are_left_out(self, options, deviation):
        x = windows(1, 12, 1)
        x[0, [2, 7]] = torch.nan
        z, stats = UnbiasedNorm(1, affine=False, **options)(x)
        known = x[~x.isnan()]
        torch.testing.assert_close(stats.deviation.flatten(), deviation(known.var(keepdim=True)))
        assert not z[0, [2, 7]].any()

    def test_nothing_is_divided_by_0(self, options, deviation):
        """A constant series, a single value, none at all."""
        for x in (torch.full((1, 12, 1), 5.0), torch.ones(1, 1, 1), torch.full((1, 12, 1), torch.nan)):
            z, stats = UnbiasedNorm(1, affine=False, **options)(x)
            assert not z.any()
            torch.testing.assert_close(stats.deviation, deviation(torch.zeros(1, 1, 1)))


@pytest.mark.parametrize("window", [1, 3, 4, 24, 25])
@pytest.mark.parametrize("shape", [(9,), (2, 30), (2, 3, 30)])
def test_moving_average_equals_an_explicit_loop(window, shape):
    """Also where the window is longer than the series; an even one has its extra neighbour in front."""
    x = features(*shape)
    front, behind = window // 2, (window - 1) // 2
    rows = np.pad(x.numpy().reshape(-1, shape[-1]), ((0, 0), (front, behind)), mode="edge")
    expected = [[row[start : start + window].mean() for start in range(shape[-1])] for row in rows]
    np.testing.assert_allclose(moving_average(x, window), np.reshape(expected, shape), rtol=1e-12)


def test_season_and_trend_sum_to_the_series():
    x = features(2, 3, 30)
    season, trend = decompose(x, 25)
    torch.testing.assert_close(season + trend, x)
    torch.testing.assert_close(trend, moving_average(x, 25))


def test_ends_are_repeated():
    assert repeat_ends(torch.tensor([[1.0, 2.0, 3.0]]), 2, 1).tolist() == [[1, 1, 1, 2, 3, 3]]


@pytest.mark.parametrize("pad_end", [True, False])
@pytest.mark.parametrize(
    ("lookback", "length", "stride"), [(96, 16, 8), (33, 16, 8), (16, 16, 8), (20, 6, 7), (9, 3, 1)]
)
def test_patches_by_slicing(lookback, length, stride, pad_end):
    x = features(2, 3, lookback)
    padded = x.numpy()
    if pad_end:
        padded = np.concatenate([padded, np.repeat(padded[..., -1:], stride, axis=-1)], axis=-1)
    starts = range(0, padded.shape[-1] - length + 1, stride)
    expected = np.stack([padded[..., start : start + length] for start in starts], axis=-2)
    np.testing.assert_array_equal(cut_patches(x, length, stride, pad_end=pad_end), expected)
    assert count_patches(lookback, length, stride, pad_end=pad_end) == len(starts)


def test_patches_that_do_not_fit_are_refused():
    assert count_patches(8, 16, 8) == 1
    with pytest.raises(ConfigError, match="need a lookback of at least 8, found 7: pass shorter patches"):
        count_patches(7, 16, 8)
    with pytest.raises(ConfigError, match="need a lookback of at least 16, found 15"):
        count_patches(15, 16, 8, pad_end=False)
    with pytest.raises(ConfigError, match="a length and a stride of at least 1, found 16 and 0"):
        count_patches(32, 16, 0)


@pytest.mark.parametrize("width", [1, 6, 7])
def test_sinusoids_equal_their_formula(width):
    table = sinusoids(5, width)
    for place in range(5):
        for column in range(width):
            angle = place / 10_000 ** (2 * (column // 2) / width)
            expected = math.cos(angle) if column % 2 else math.sin(angle)
            assert float(table[place, column]) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("shape", [(7, 3), (2, 7, 3), (2, 4, 7, 3), (2, 1, 3)])
def test_circular_convolution_by_neighbours(shape):
    """The last step stands before the first; a single step is its own neighbour on both sides."""
    layer, x = randomised(CircularConvolution(3, 5)), features(*shape)
    (weight,) = weights_of(layer).values()
    before, here, after = weight.transpose(2, 1, 0)  # c m
    expected = np.roll(x, 1, -2) @ before + x.numpy() @ here + np.roll(x, -1, -2) @ after
    np.testing.assert_allclose(layer(x).detach(), expected, atol=1e-12)


def test_circular_embedding_starts_as_kaiming_does():
    layer = circular_embedding(20, 512)
    assert type(layer) is CircularConvolution
    assert count(layer) == 3 * 20 * 512
    assert float(layer.weight.detach().std()) == pytest.approx((2 / 60) ** 0.5, rel=0.02)


def test_a_layer_for_each_series_is_as_many_linear_layers():
    many = PerSeriesLinear(3, 5, 4)
    x = torch.randn(2, 3, 5)
    for series in range(3):
        one = nn.Linear(5, 4)
        one.weight.data, one.bias.data = many.weight.data[series], many.bias.data[series]
        torch.testing.assert_close(many(x)[:, series], one(x[:, series]))
    assert many.extra_repr() == "3, 5, 4"


def test_a_layer_for_each_series_starts_as_pytorch_starts_one():
    layer = PerSeriesLinear(50, 16, 40)
    for parameter in map(torch.Tensor.detach, layer.parameters()):
        assert float(parameter.abs().max()) <= 0.25
        assert float(parameter.std()) == pytest.approx(0.25 / 3**0.5, rel=0.05)


def test_time_linear_is_one_layer_or_one_each():
    assert count(time_linear(3, 8, 4)) == 36
    assert count(time_linear(3, 8, 4, individual=True)) == 3 * 36


class TestTokenBatchNorm:
    def test_statistics_run_over_all_tokens(self):
        norm, x = randomised(TokenBatchNorm(6)).train(), features(2, 3, 5, 6)
        tokens, w = x.numpy().reshape(-1, 6), weights_of(norm)
        expected = (tokens - tokens.mean(0)) / np.sqrt(tokens.var(0) + 1e-5) * w["weight"] + w["bias"]
        np.testing.assert_allclose(norm(x).detach().reshape(-1, 6), expected, atol=1e-12)

    def test_a_single_token_cannot_train(self):
        norm = TokenBatchNorm(6)
        with pytest.raises(DataError, match="a single token: pass more windows a batch"):
            norm(torch.randn(1, 1, 6))
        assert norm.eval()(torch.randn(1, 1, 6)).shape == (1, 1, 6)


def test_feed_forward_drops_hidden_features():
    layers = feed_forward(4, 9, dropout=0.3)
    assert count(layers) == 4 * 9 + 9 + 9 * 4 + 4
    assert [type(layer) for layer in layers] == [nn.Linear, nn.GELU, Dropout, nn.Linear]
    assert layers[2].p == 0.3


def test_feed_forward_without_biases():
    assert count(feed_forward(4, 9, bias=False)) == 2 * 4 * 9


class TestSelfAttention:
    @pytest.mark.parametrize("head_dim", [None, 5])
    def test_equals_numpy(self, head_dim):
        layer, x = randomised(SelfAttention(6, heads=2, head_dim=head_dim)), features(3, 4, 6)
        named = {f"a.{name}": value for name, value in weights_of(layer).items()}
        expected = np.stack([attention(one, named, "a", 2)[0] for one in x.numpy()])
        np.testing.assert_allclose(layer(x).detach(), expected, atol=1e-12)
        np.testing.assert_allclose(layer.scored(x)[0].detach(), expected, atol=1e-12)

    def test_earlier_scores_are_added_and_handed_on(self):
        layer, x = randomised(SelfAttention(6, heads=2)), features(3, 4, 6)
        earlier = features(3, 2, 4, 4)
        named = {f"a.{name}": value for name, value in weights_of(layer).items()}
        expected = [
            attention(one, named, "a", 2, before) for one, before in zip(x.numpy(), earlier.numpy(), strict=True)
        ]
        y, scores = layer.scored(x, earlier)
        np.testing.assert_allclose(y.detach(), np.stack([part for part, _ in expected]), atol=1e-12)
        np.testing.assert_allclose(scores.detach(), np.stack([part for _, part in expected]), atol=1e-12)

    @pytest.mark.parametrize("form", ["forward", "scored"])
    def test_dropout_falls_on_the_matrix(self, form):
        """With values of one and an identity behind, a row's output is the sum of what is left of its weights."""
        layer = SelfAttention(4, heads=1, dropout=0.5)
        for linear in (layer.query, layer.key, layer.value):
            nn.init.zeros_(linear.weight)
        nn.init.ones_(layer.value.bias)
        nn.init.eye_(layer.output.weight)
        nn.init.zeros_(layer.output.bias)
        x = torch.randn(50, 2, 4)
        y = layer(x) if form == "forward" else layer.scored(x)[0]
        sums = y[..., 0].detach()
        assert set(sums.flatten().tolist()) == {0.0, 1.0, 2.0}  # each of two weights of a half is dropped or doubled
        torch.testing.assert_close(y, sums[..., None].expand_as(y))

    def test_heads_must_divide_the_width(self):
        with pytest.raises(ConfigError, match="model_dim must be a multiple of heads, found 6 and 4"):
            SelfAttention(6, heads=4)


class TestCrossAttention:
    def test_of_tokens_to_themselves_is_self_attention(self):
        layer, x = randomised(CrossAttention(6, heads=2, head_dim=5)), features(3, 4, 6)
        alone = SelfAttention(6, heads=2, head_dim=5).double()
        alone.load_state_dict(layer.state_dict())
        for y in (layer(x), layer(x, x)):
            torch.testing.assert_close(y, alone(x))

    def test_equals_self_attention_over_both_that_does_not_look_back(self):
        """Queries of some tokens, keys and values of others: one window of all with its other scores masked."""
        layer, x, source = randomised(CrossAttention(6, heads=2)), features(3, 2, 6), features(3, 5, 6)
        own = torch.zeros(7, 7, dtype=torch.float64)
        own[:, :2] = -torch.inf
        expected, _ = layer.scored(torch.cat([x, source], 1), own)
        torch.testing.assert_close(layer(x, source), expected[:, :2])

    def test_the_same_queries_may_serve_a_batch(self):
        layer, x, source = randomised(CrossAttention(6, heads=2)), features(2, 6), features(3, 5, 6)
        torch.testing.assert_close(layer(x, source), layer(x.expand(3, -1, -1), source))


class TestTokenMixer:
    def test_normlin_between_two_linear_layers(self):
        mixer, x = randomised(token_mixer("normlin", 4, 6)), features(3, 4, 6)
        w = weights_of(mixer)
        hidden = normlin(x.numpy() @ w["pre.weight"].T + w["pre.bias"], w["normlin.weight"])
        expected = hidden @ w["post.weight"].T + w["post.bias"]
        np.testing.assert_allclose(mixer(x).detach(), expected, atol=1e-12)

    def test_any_mixer_without_maps_of_its_own_stands_between_two(self):
        mixer, x = randomised(token_mixer("linear", 4, 6)), features(3, 4, 6)
        assert list(dict(mixer.named_children())) == ["pre", "linear", "post"]
        torch.testing.assert_close(mixer(x), mixer.post(mixer.linear(mixer.pre(x))))

    def test_dropout_goes_to_the_matrix(self):
        assert token_mixer("normlin", 4, 6, dropout=0.3).normlin.dropout == 0.3
        assert token_mixer("attention", 4, 6, heads=2, dropout=0.3).dropout == 0.3

    def test_by_factory(self):
        """A mixer of one's own is called with the number of tokens, their width and the dropout."""
        seen = {}

        def factory(tokens, model_dim, *, dropout):
            seen.update(tokens=tokens, model_dim=model_dim, dropout=dropout)
            return nn.Identity()

        block = encoder_block(4, 6, 8, mixer=factory, dropout=0.2)
        assert seen == {"tokens": 4, "model_dim": 6, "dropout": 0.2}
        assert block(torch.randn(2, 4, 6)).shape == (2, 4, 6)

    def test_unknown_mixers_are_refused(self):
        with pytest.raises(ConfigError, match=r"one of normlin, linear, attention, .* or a factory, found 'mean'"):
            token_mixer("mean", 4, 6)
