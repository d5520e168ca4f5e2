"""Crossformer against NumPy in both of its forms: segments, routers, scales, and the parameter counts."""

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from zoo_parts import (
    attention,
    count,
    gelu,
    layer_norm,
    linear,
    randomised,
    sines,
    softmax,
    tsl_options,
    weights_of,
    windows,
)

from olinear.core.errors import ConfigError
from olinear.models.zoo.crossformer import Crossformer, RouterAttention, SegmentMerge, TwoStageAttention

TSL = tsl_options("Crossformer")
SMALL = {"segment_length": 4, "model_dim": 6, "ff_dim": 10, "blocks": 3, "heads": 2, "routers": 2}


def cross(x, source, w, name, heads=2):  # k m, l m
    """Attention to other tokens, query by query."""
    query = linear(x, w, f"{name}.query")
    key, value = (linear(source, w, f"{name}.{kind}") for kind in ("key", "value"))
    width = query.shape[-1] // heads
    rows = []
    for one in query:
        parts = [slice(head * width, (head + 1) * width) for head in range(heads)]
        rows.append([softmax(key[:, part] @ one[part] / np.sqrt(width)) @ value[:, part] for part in parts])
    return linear(np.array(rows).reshape(len(x), -1), w, f"{name}.output")


def forward(x, w, name):
    hidden = gelu(linear(x, w, f"{name}.mixer.0"))
    return layer_norm(x + linear(hidden, w, f"{name}.mixer.3"), w, f"{name}.norm")


def two_stages(x, w, name):  # n s m of one window
    mixed = np.stack([attention(series, w, f"{name}.time.0.mixer", 2)[0] for series in x])
    x = forward(layer_norm(x + mixed, w, f"{name}.time.0.norm"), w, f"{name}.time.1")
    mixed = np.empty_like(x)
    for segment in range(x.shape[1]):
        tokens, inner = x[:, segment], f"{name}.series.0.mixer"
        gathered = cross(w[f"{inner}.routers"][segment], tokens, w, f"{inner}.gather")
        mixed[:, segment] = cross(tokens, gathered, w, f"{inner}.spread")
    return forward(layer_norm(x + mixed, w, f"{name}.series.0.norm"), w, f"{name}.series.1")


def merged(x, w, name):  # n s m
    pairs = [(j, min(j + 1, x.shape[1] - 1)) for j in range(0, x.shape[1], 2)]
    joined = np.stack([np.concatenate([x[:, one], x[:, other]], -1) for one, other in pairs], 1)
    return linear(layer_norm(joined, w, f"{name}.norm"), w, f"{name}.linear")


def by_hand(x, w, horizon, *, form, length=4, blocks=3):
    missing = -x.shape[1] % length
    forecasts = []
    for window in x.transpose(0, 2, 1):  # n t
        filled = np.pad(window, ((0, 0), (0, missing) if form else (missing, 0)), mode="edge")
        x0 = filled.reshape(len(window), -1, length) @ w["embed.weight"].T + w.get("embed.bias", 0) + w["position"]
        if form:
            x0 = x0 + sines(x0.shape[1], 6)
        states = [layer_norm(x0, w, "norm")]
        states.append(two_stages(states[0], w, "encoder.0"))
        for block in range(1, blocks):
            states.append(two_stages(merged(states[-1], w, f"encoder.{block}.0"), w, f"encoder.{block}.1"))
        tokens, total = w["start"], 0
        for layer, state in enumerate(states):
            name = f"decoder.{layer}"
            tokens = two_stages(tokens, w, f"{name}.two_stages")
            mixed = np.stack([cross(*pair, w, f"{name}.cross") for pair in zip(tokens, state, strict=True)])
            tokens = forward(layer_norm(tokens + mixed, w, f"{name}.cross_norm"), w, f"{name}.feed_forward")
            total = total + linear(tokens, w, f"{name}.output")
        forecasts.append(total.reshape(len(window), -1)[:, :horizon].T)
    return np.stack(forecasts)


@pytest.mark.parametrize("form", [{}, TSL], ids=["authors", "tsl"])
@pytest.mark.parametrize(("lookback", "horizon"), [(24, 8), (18, 5)])
def test_equals_numpy(form, lookback, horizon):
    """Where segments fill both lengths and merge in pairs, and where neither is so."""
    model = randomised(Crossformer(3, lookback, horizon, **form | SMALL))
    x = windows(2, lookback, 3)
    expected = by_hand(x.numpy(), weights_of(model), horizon, form=form)
    np.testing.assert_allclose(model(x).detach(), expected, rtol=1e-5 if form else 1e-8)  # float32 sinusoids


def test_parameter_counts():
    """11.4 M with the authors' widths and 42.2 M in the form of Time-Series-Library."""
    with torch.device("meta"):
        assert count(Crossformer(7, 96, 96)) == 11_370_776
        assert count(Crossformer(7, 96, 96, **TSL)) == 42_176_036


class TestSegments:
    def test_repeat_the_first_value_in_front(self):
        model = Crossformer(1, 6, 2, **SMALL)
        assert model.cut(torch.arange(6.0)).tolist() == [[0, 0, 0, 1], [2, 3, 4, 5]]

    def test_or_the_last_at_the_end(self):
        model = Crossformer(1, 6, 2, pad="end", **SMALL)
        assert model.cut(torch.arange(6.0)).tolist() == [[0, 1, 2, 3], [4, 5, 5, 5]]

    def test_the_last_of_an_odd_number_is_merged_with_itself(self):
        merge, x = SegmentMerge(6).double(), torch.randn(2, 5, 6, dtype=torch.float64)
        filled = torch.cat([x, x[:, -1:]], 1)
        torch.testing.assert_close(merge(x), merge(filled))
        assert merge(x).shape == (2, 3, 6)

    def test_every_scale_has_half_the_segments(self):
        model = Crossformer(3, 96, 96, model_dim=8, ff_dim=8)
        routers = [name for name, _ in model.encoder.named_parameters() if name.endswith("routers")]
        assert [len(model.encoder.get_parameter(name)) for name in routers] == [16, 8, 4]
        assert len(model.decoder) == 4


class TestTwoStageAttention:
    def test_has_three_attentions(self):
        layer = TwoStageAttention(3, 6, 10, heads=2, routers=2, dropout=0.0)
        assert sum(name.endswith("query.weight") for name, _ in layer.named_parameters()) == 3

    def test_routers_keep_segments_apart(self):
        """Series meet within a segment; a change in one segment stays there until time is mixed."""
        layer, x = RouterAttention(3, 6, heads=2, routers=2, dropout=0.0).double(), torch.randn(2, 3, 4, 6).double()
        changed = x.clone()
        changed[:, 1, 2] += 1
        same = (layer(changed) == layer(x)).all(-1)
        assert same[:, [0, 2]].all()
        assert not same[:, 1].any()

    def test_no_series_sees_another_but_through_the_routers(self):
        """With one router each series takes the same from all others."""
        layer = RouterAttention(1, 6, heads=2, routers=1, dropout=0.0).double()
        y = layer(torch.randn(2, 1, 4, 6).double())
        torch.testing.assert_close(y, y[:, :, :1].expand_as(y))


def test_starts_from_a_normal_distribution():
    model = Crossformer(7, 96, 96)
    routers = model.encoder[0].series[0].mixer.routers
    for start in (model.position, model.start, routers):
        assert float(start.detach().mean()) == pytest.approx(0, abs=0.02)
        assert float(start.detach().std()) == pytest.approx(1, abs=0.02)
    assert model.start.shape == (7, 16, 256)
    assert routers.shape == (16, 10, 256)


def test_the_level_is_lost_unless_the_mean_is_added():
    """Published without any normalisation; the authors' option adds the window's mean to the forecast."""
    plain, x = randomised(Crossformer(3, 24, 8, **SMALL)), windows(2, 24, 3)
    centred = Crossformer(3, 24, 8, add_mean=True, **SMALL).double().eval()
    centred.load_state_dict(plain.state_dict())
    assert not torch.allclose(plain(x + 100), plain(x) + 100, atol=50)
    torch.testing.assert_close(centred(x), plain(x) + x.mean(1, keepdim=True))


def test_dropout_falls_on_matrices_and_branches():
    model = Crossformer(3, 24, 8, dropout=0.3, **SMALL)
    stages, layer = model.encoder[0], model.decoder[0]
    mixers = [stages.time[0].mixer, stages.series[0].mixer.gather, stages.series[0].mixer.spread, layer.cross]
    assert [mixer.dropout for mixer in mixers] == [0.3] * 4
    assert [stage.dropout.p for stage in (*stages.time, *stages.series, layer)] == [0.3] * 5
    assert [stages.time[1].mixer[2].p, layer.feed_forward.dropout.p] == [0.0, 0.0]


def test_its_cost_can_be_counted_without_memory():
    """The benchmark's plan does so; PyTorch's counter refuses views of a parameter that enter a layer."""
    with torch.device("meta"), FlopCounterMode(display=False) as counter, torch.no_grad():
        Crossformer(3, 24, 8, **SMALL)(torch.empty(2, 24, 3))
    assert counter.get_total_flops() > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"segment_length": 0}, "segment_length, blocks and routers must be at least 1, found 0, 3 and 10"),
        ({"blocks": 0}, "segment_length, blocks and routers must be at least 1, found 6, 0 and 10"),
        ({"routers": 0}, "segment_length, blocks and routers must be at least 1, found 6, 3 and 0"),
        ({"pad": "both"}, "pad must be 'front' or 'end', found 'both'"),
        ({"model_dim": 10}, "model_dim must be a multiple of heads, found 10 and 4"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        Crossformer(3, 24, 8, **options)
