"""CARD against NumPy: both attentions, the blend, the smoothing that stops at the T-th row, and its count."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from zoo_parts import count, dropped_share, gelu, gradients, linear, randomised, softmax, weights_of, windows

from olinear.core.errors import ConfigError
from olinear.models.plugins.ortho import Unnormalised
from olinear.models.zoo.card import CARD, BlendAttention, blend, smoothing_matrix

ALPHA = 0.25  # its powers are exact in float32, in which the smoothing is made
# 4 patches, so 5 tokens
SMALL = {"patch_length": 6, "stride": 4, "model_dim": 8, "ff_dim": 6, "heads": 4, "merge": 2, "rank": 3}
SMALL |= {"smoothing": ALPHA}


def batch_norm(x, w, name, training):
    tokens = x.reshape(-1, x.shape[-1])
    mean, variance = (
        (tokens.mean(0), tokens.var(0)) if training else (w[f"{name}.running_mean"], w[f"{name}.running_var"])
    )
    return (x - mean) / np.sqrt(variance + 1e-5) * w[f"{name}.weight"] + w[f"{name}.bias"]


def smoothed(rows, filled):
    """The average walked step by step; from `filled` on there is nothing."""
    result = [rows[0]]
    for row in rows[1:]:
        result.append((1 - ALPHA) * result[-1] + ALPHA * row)
    return np.stack([row if place < filled else 0 * row for place, row in enumerate(result)])


def blended(heads, merge=2):
    """New tokens from the list of all heads' tokens, entry by entry."""
    entries, tokens = np.concatenate(heads), len(heads[0])
    groups = len(heads) // merge
    return np.stack(
        [
            np.concatenate([entries[(g * tokens + j) * merge + r] for r in range(merge) for g in range(groups)])
            for j in range(tokens)
        ]
    )


def compressed(rows, w, name):  # k d
    return softmax(linear(rows, w, name)).T @ rows


def two_outputs(x, w, name, filled):  # k m of one sequence
    """Both attentions, head by head."""
    m = x.shape[-1]
    query, key, value = np.split(linear(x, w, f"{name}.project"), 3, axis=-1)
    by_token, by_feature = [], []
    for head in range(4):
        part = slice(head * m // 4, (head + 1) * m // 4)
        q, k, v = query[:, part], key[:, part], value[:, part]
        by_feature.append(v @ softmax(q.T @ k * np.sqrt(len(x))).T)
        if f"{name}.compress_key.weight" in w:
            k, v = compressed(k, w, f"{name}.compress_key"), compressed(v, w, f"{name}.compress_value")
        by_token.append(softmax(smoothed(q, filled) @ smoothed(k, filled).T * np.sqrt(m // 4)) @ v)
    return blended(by_token), blended(by_feature)


def attend(x, w, name, training, filled):  # b s k m
    pairs = [two_outputs(sequence, w, name, filled) for sequence in x.reshape(-1, *x.shape[-2:])]
    y = x
    for kind, outputs in zip(("token", "feature"), zip(*pairs, strict=True), strict=True):
        mixed = batch_norm(np.stack(outputs).reshape(x.shape), w, f"{name}.{kind}_norm", training)
        hidden = gelu(linear(mixed, w, f"{name}.{kind}_forward.0"))
        y = y + linear(hidden, w, f"{name}.{kind}_forward.3")
    return batch_norm(y, w, f"{name}.norm", training)


def by_hand(x, w, *, filled, training=False, blocks=2):
    mean, deviation = x.mean(1, keepdims=True), x.std(1, keepdims=True, ddof=1) + 1e-4
    z = ((x - mean) / deviation).transpose(0, 2, 1)  # b n t
    patches = np.stack([z[..., start : start + 6] for start in range(0, z.shape[-1] - 5, 4)], axis=-2)
    tokens = linear(patches, w, "embed") + w["position"]
    tokens = np.concatenate([np.broadcast_to(w["token"], (*z.shape[:2], 1, 8)), tokens], axis=-2)  # b n T m
    for block in range(blocks):
        name = f"blocks.{block}"
        series = attend(tokens.swapaxes(1, 2), w, f"{name}.series", training, filled).swapaxes(1, 2)
        time = attend(series, w, f"{name}.time", training, tokens.shape[-2])
        tokens = batch_norm(tokens + linear(series + time, w, f"{name}.linear"), w, f"{name}.norm", training)
    y = linear(tokens.reshape(*z.shape[:2], -1), w, "head")  # b n h
    return y.transpose(0, 2, 1) * deviation + mean


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize(("n_series", "smooth_all"), [(3, False), (7, False), (7, True)])
def test_equals_numpy(n_series, smooth_all, training):
    """With fewer series than the 5 tokens, and with more, where the release leaves rows of the smoothing empty."""
    model = CARD(n_series, 20, 4, smooth_all=smooth_all, dropout=0.0, **SMALL)
    model = randomised(model).train(training)
    x, w = windows(2, 20, n_series), weights_of(model)
    expected = by_hand(x.numpy(), w, filled=7 if smooth_all else 5, training=training)
    np.testing.assert_allclose(model(x).detach(), expected, rtol=1e-7)


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("gap", [False, True])
def test_normalises_by_the_mean_and_unbiased_deviation(gap, training):
    """Around a model without one it gives the same forecasts, and the same gradients to all that is learnt.

    What is missing is left out of both and becomes the mean, as in the models with RevIN.
    """
    model = randomised(CARD(3, 20, 4, dropout=0.0, **SMALL)).train(training)
    bare, x, y = deepcopy(model), windows(4, 20, 3), windows(4, 4, 3, seed=1)
    bare.norm = Unnormalised()
    if gap:
        x[0, 3:9, 1] = torch.nan
    mean = x.nanmean(1, keepdim=True)
    deviation = torch.from_numpy(np.nanstd(x, axis=1, ddof=1, keepdims=True)) + 1e-4
    forecasts = model(x), bare(((x - mean) / deviation).nan_to_num(0.0)) * deviation + mean
    for forecast in forecasts:
        (forecast - y).square().mean().backward()
    torch.testing.assert_close(*forecasts, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(gradients(model), gradients(bare), rtol=1e-9, atol=1e-9)


def test_parameter_counts():
    """0.03 M in the paper's table of costs; the release has 33,536, and what is missing here would do nothing."""
    found = count(CARD(7, 96, 96))
    assert found == 32_112
    statistics, compression, maps = 2 * 16 + 16, 2 * 2 * (8 * 8 + 8), 4 * (16 * 16 + 16)
    assert found + statistics + compression + maps == 33_536


class TestSmoothing:
    @pytest.mark.parametrize("alpha", [0.25, 0.5, 1.0])
    def test_equals_the_recursion(self, alpha):
        rows = [np.eye(6)[0]]
        for place in range(1, 6):
            rows.append((1 - alpha) * rows[-1] + alpha * np.eye(6)[place])
        np.testing.assert_allclose(smoothing_matrix(6, alpha), np.stack(rows), rtol=1e-6)

    def test_rows_sum_to_one_until_they_stop(self):
        assert smoothing_matrix(6, 0.5, 4).sum(1).tolist() == [1, 1, 1, 1, 0, 0]
        assert smoothing_matrix(6, 0.5, 9).sum(1).tolist() == [1] * 6

    def test_late_series_have_no_queries(self):
        """What they ask for is the mean of all values, whatever they are; told to, all series ask."""
        for smooth_all, same in ((False, True), (True, False)):
            model = CARD(7, 20, 4, smooth_all=smooth_all, **SMALL).double()
            layer = model.blocks[0].series
            query, key, value = torch.randn(3, 4, 7, 2, dtype=torch.float64)
            output = layer.eval().over_tokens(query, key, value)
            late, first = output[:, 5:], output[:, :5]
            mean = (layer.compress_value(value).softmax(-1).mT @ value).mean(-2, keepdim=True)
            assert torch.allclose(late, mean.expand_as(late)) == same
            assert not torch.allclose(first, mean.expand_as(first))

    def test_time_is_smoothed_throughout(self):
        model = CARD(3, 96, 4)
        assert model.blocks[0].time.query_smoothing.shape == (12, 12)
        torch.testing.assert_close(model.blocks[0].time.query_smoothing.sum(1), torch.ones(12))


def test_blend_joins_neighbours_of_a_head():
    """Two heads of two features, six tokens: token 0 is tokens 0 and 1 of the first head, the last two of the other."""
    heads = torch.arange(12.0)[:, None].expand(12, 2).reshape(2, 6, 2)
    assert blend(heads, 2)[:, ::2].tolist() == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11]]
    assert blend(heads, 1)[:, ::2].tolist() == [[j, 6 + j] for j in range(6)]


def test_scores_are_multiplied():
    """By √d over tokens, by the root of their number over features: with long queries the softmax is a choice."""
    layer = BlendAttention(4, 18, 5, heads=2, merge=2, smoothing=1.0).double().eval()
    query, key, value = torch.randn(3, 2, 4, 9, dtype=torch.float64)
    over_tokens = (query @ key.mT * 3).softmax(-1) @ value
    torch.testing.assert_close(layer.over_tokens(query, key, value), over_tokens)
    over_features = value @ (query.mT @ key * 2).softmax(-1).mT
    torch.testing.assert_close(layer.over_features(query, key, value), over_features)


def test_starts_as_the_authors_do():
    model = CARD(3, 2000, 4, model_dim=64, heads=2)
    assert model.token.shape == (1, 64)
    for start in (model.position, model.token):
        assert float(start.detach().std()) == pytest.approx(0.01, rel=0.3)
        assert abs(float(start.detach().mean())) < 0.005


def test_dropout():
    """Of the embedding before the position is added, of both matrices, the hidden features and the branch."""
    model = CARD(3, 20, 4, dropout=0.4, **SMALL)
    block = model.blocks[0]
    torch.nn.init.zeros_(model.position)
    torch.nn.init.zeros_(model.token)
    assert dropped_share(model, model.blocks, windows(50, 20, 3).float()) == pytest.approx(0.2 + 0.4 * 0.8, abs=0.05)
    assert [block.dropout.p, block.series.dropout, block.time.dropout, block.time.token_forward[2].p] == [0.4] * 4
    query, key, value = torch.randn(3, 2, 2, len(block.time.query_smoothing), 4)
    for attend in (block.time.over_tokens, block.time.over_features):
        assert not torch.equal(attend(query, key, value), attend(query, key, value))
        block.time.eval()
        assert torch.equal(attend(query, key, value), attend(query, key, value))
        block.time.train()


def test_scale_and_level_of_a_series_are_put_back():
    """Up to the small number that is added to the deviation."""
    model, x = randomised(CARD(3, 20, 4, **SMALL)), 100 * windows(2, 20, 3)
    torch.testing.assert_close(model(3 * x + 5), 3 * model(x) + 5, rtol=1e-4, atol=1e-2)


def test_a_constant_series_is_no_trouble():
    model, x = CARD(3, 20, 4, **SMALL), windows(2, 20, 3).float()
    x[..., 1] = 2.0
    forecast = model(x.requires_grad_())
    forecast.sum().backward()
    assert forecast.isfinite().all()
    assert x.grad.isfinite().all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model_dim": 9}, "model_dim must be a multiple of heads, found 9 and 2"),
        ({"merge": 3}, "merge must divide the heads, found 3 and 2"),
        ({"merge": 0}, "merge must divide the heads, found 0 and 2"),
        ({"smoothing": 0.0}, "smoothing must be above 0 and at most 1, found 0.0"),
        ({"patch_length": 21}, "patches of 21 every 8 need a lookback of at least 21, found 20"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        CARD(3, 20, 4, **options)
