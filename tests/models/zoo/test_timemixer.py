"""TimeMixer against NumPy: scales, seasons downwards and trends upwards, the sum of the scales."""

import numpy as np
import pytest
import torch
from image_parts import circular_embedding
from torch import nn
from zoo_parts import count, gelu, linear, randomised, standardise, weights_of, windows

from olinear.core.errors import ConfigError
from olinear.models.zoo.timemixer import MovingAverages, ScaleMixing, TimeMixer

TINY = {"halvings": 2, "model_dim": 4, "ff_dim": 6, "window": 5}


def halved(x):  # b t n
    pairs = [x[:, start : start + 2].mean(1) for start in range(0, x.shape[1], 2)]
    return np.stack(pairs, axis=1)


def smoothed(rows, window):  # t m
    padded = np.pad(rows, ((window // 2, window // 2), (0, 0)), mode="edge")
    return np.stack([padded[step : step + window].mean(0) for step in range(len(rows))])


def along_time(rows, w, name):  # t m
    return linear(gelu(linear(rows.T, w, f"{name}.0")), w, f"{name}.2").T


def block_by_hand(scales, w, name, window):  # t_i m of one series
    trends = [smoothed(scale, window) for scale in scales]
    seasons = [scale - trend for scale, trend in zip(scales, trends, strict=True)]
    for index in range(len(scales) - 1):
        seasons[index + 1] = seasons[index + 1] + along_time(seasons[index], w, f"{name}.season_steps.{index}")
    for index in range(len(scales) - 2, -1, -1):
        trends[index] = trends[index] + along_time(trends[index + 1], w, f"{name}.trend_steps.{index}")
    outputs = []
    for scale, season, trend in zip(scales, seasons, trends, strict=True):
        hidden = gelu(linear(season + trend, w, f"{name}.feed_forward.0"))
        outputs.append(scale + linear(hidden, w, f"{name}.feed_forward.3"))
    return outputs


def by_hand(x, w, *, halvings, window, blocks):
    raw = [x]
    for _ in range(halvings):
        raw.append(halved(raw[-1]))
    normed = []
    for index, scale in enumerate(raw):
        z, _, _ = standardise(scale)
        normed.append(z * w[f"norms.norms.{index}.weight"] + w[f"norms.norms.{index}.bias"])
    _, mean, deviation = standardise(x)
    y = np.zeros((len(x), len(w["heads.heads.0.bias"]), x.shape[2]))
    for window_index in range(len(x)):
        for series in range(x.shape[2]):
            scales = [circular_embedding(z[window_index, :, [series]].T, w["embed.weight"]) for z in normed]
            for block in range(blocks):
                scales = block_by_hand(scales, w, f"blocks.{block}", window)
            for index, scale in enumerate(scales):
                features = linear(scale.T, w, f"heads.heads.{index}").T  # h m
                y[window_index, :, series] += linear(features, w, "heads.project")[:, 0]
    back = (y - w["norms.norms.0.bias"]) / (w["norms.norms.0.weight"] + 1e-10)
    return back * deviation + mean


@pytest.mark.parametrize("lookback", [16, 19])
@pytest.mark.parametrize("window", [5, 25])
def test_equals_numpy(lookback, window):
    """Also where the window is longer than the coarsest scale, which the published 25 is; it is kept in float32."""
    model, x = randomised(TimeMixer(3, lookback, 6, **TINY | {"window": window})), windows(2, lookback, 3)
    expected = by_hand(x.numpy(), weights_of(model), halvings=2, window=window, blocks=2)
    np.testing.assert_allclose(model(x).detach(), expected, rtol=1e-5, atol=1e-5)


def test_parameter_counts():
    """The release's 75,497 have 4 · 16 weights for marks of time and two LayerNorms of 32 that are never applied."""
    assert count(TimeMixer(7, 96, 96)) == 75_497 - 64 - 64
    assert not [module for module in TimeMixer(7, 96, 96).modules() if isinstance(module, nn.LayerNorm)]


def test_dropout_is_in_the_embedding_only():
    model = TimeMixer(3, 16, 6, **TINY, dropout=0.4)
    assert [module.p for module in model.modules() if isinstance(module, nn.Dropout)] == [0.4, 0.0, 0.0]
    seen = []
    model.blocks[0].register_forward_pre_hook(lambda _, inputs: seen.extend(inputs[0]))
    model.train()(windows(50, 16, 3).float())
    for features in seen:
        assert float((features == 0).float().mean()) == pytest.approx(0.4, abs=0.03)


def test_the_embedding_starts_from_kaimings_normal():
    """√(2/3) with one input and three taps, and no bias."""
    torch.manual_seed(0)
    model = TimeMixer(3, 16, 6, model_dim=2000)
    assert float(model.embed.weight.detach().std()) == pytest.approx((2 / 3) ** 0.5, rel=0.03)
    assert model.embed.bias is None


def test_series_do_not_meet():
    model, x = randomised(TimeMixer(3, 16, 6, **TINY)), windows(2, 16, 3)
    changed = x.clone()
    changed[..., 1] += torch.arange(16)
    torch.testing.assert_close(model(changed)[..., [0, 2]], model(x)[..., [0, 2]], rtol=0, atol=0)
    assert not torch.allclose(model(changed)[..., 1], model(x)[..., 1])


def test_season_goes_down_and_trend_goes_up():
    """With only one of them there is, a change of one scale is seen on that side of it and on no other."""
    block, scales = randomised(ScaleMixing([8, 4, 2], 3, 5)), [windows(1, 3, length) for length in (8, 4, 2)]
    changed = [scales[0], scales[1] + windows(1, 3, 4, seed=1), scales[2]]
    for trends, seen in ((torch.zeros_like, [False, True, True]), (torch.clone, [True, True, False])):
        plain, other = (block(x, [trends(scale) for scale in x]) for x in (scales, changed))
        assert [not torch.equal(a, b) for a, b in zip(plain, other, strict=True)] == seen


def test_one_scale_is_enough():
    assert TimeMixer(2, 5, 3, halvings=0)(torch.randn(4, 5, 2)).shape == (4, 3, 2)


def test_missing_values_reach_neither_forecast_nor_gradient():
    model, x = TimeMixer(3, 17, 6, **TINY), windows(2, 17, 3).float()
    x[0, 3:9, 1] = x[1, :, 2] = torch.nan
    model(x).square().sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


def test_the_averages_are_no_part_of_the_state():
    assert not MovingAverages([8, 4], 5).state_dict()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"halvings": 5}, "5 halvings need a lookback of at least 32, found 16"),
        ({"halvings": -1}, "halvings must be at least 0, found -1"),
        ({"window": 0}, "window must be at least 1, found 0"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        TimeMixer(3, 16, 6, **options)
