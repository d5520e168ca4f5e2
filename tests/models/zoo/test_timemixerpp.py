"""TimeMixer++ against NumPy and SciPy: scales, series attention, images of all scales by the coarsest one's periods."""

import numpy as np
import pytest
import torch
from image_parts import circular_embedding, fold_by_hand, frequencies_of, inception, transposed_inception
from zoo_parts import (
    attention,
    count,
    gelu,
    layer_norm,
    linear,
    randomised,
    softmax,
    standardise,
    weights_of,
    windows,
)

from olinear.core.errors import ConfigError
from olinear.models import traits_of
from olinear.models.zoo.timemixerpp import AxisAttention, ScaleImageBlock, TimeMixerPP

TINY = {"halvings": 2, "model_dim": 4, "ff_dim": 3, "kernels": 2, "top_k": 2}
DERIVED = {"halving": "average", "affine": False, "season_axis": "across", "ensemble": "mean"}


def axis_attention(rows, w, name):  # k m
    """No division by the root of the width."""
    query, key, value = (linear(rows, w, f"{name}.{kind}") for kind in ("query", "key", "value"))
    return rows + w[f"{name}.gate"] * (softmax(query @ key.T) @ value)


def split_by_hand(images, w, name, season_axis):  # b r p m
    found = []
    for part in ("season", "trend"):
        within = (part == "season") == (season_axis == "within")
        output = np.empty_like(images)
        for sample in range(len(images)):
            for line in range(images.shape[1 if within else 2]):
                place = (sample, line) if within else (sample, slice(None), line)
                output[place] = axis_attention(images[place], w, f"{name}.{part}_attention")
        found.append(output)
    return found


def step_by_hand(images, w, name, rows):
    """Half the rows, or twice as many."""
    if rows > images.shape[1]:
        hidden = transposed_inception(images, w, f"{name}.widen.", rows)
    else:
        hidden = inception(images, w, f"{name}.widen.", stride=2)
    return inception(gelu(hidden), w, f"{name}.narrow.")


def block_by_hand(scales, w, name, *, top_k, season_axis):  # b t_i m
    frequencies, amplitude = frequencies_of(scales[-1], top_k)
    weights, coarsest = softmax(amplitude[:, frequencies]), scales[-1].shape[1]
    totals = [scale.copy() for scale in scales]
    for place, frequency in enumerate(frequencies):
        images = [np.stack([fold_by_hand(row, coarsest // frequency) for row in scale]) for scale in scales]
        seasons, trends = zip(*(split_by_hand(image, w, name, season_axis) for image in images), strict=True)
        seasons, trends = list(seasons), list(trends)
        for index in range(1, len(scales)):
            down = step_by_hand(seasons[index - 1], w, f"{name}.season_mixer", 0)
            seasons[index] = seasons[index] + down
        for index in range(len(scales) - 2, -1, -1):
            up = step_by_hand(trends[index + 1], w, f"{name}.trend_mixer", max(trends[index].shape[1], 1))
            trends[index] = trends[index] + up
        for index, total in enumerate(totals):
            mixed = (seasons[index] + trends[index]).reshape(len(total), -1, total.shape[2])[:, : total.shape[1]]
            total += weights[:, place, None, None] * mixed
    return [layer_norm(total, w, f"{name}.norm") for total in totals]


def scales_by_hand(x, w):  # b t n
    scales = [x]
    for _ in range(2):
        x, length = scales[-1], scales[-1].shape[1]
        if "scales.convolution.weight" in w:
            taps = w["scales.convolution.weight"].ravel()
            steps = [
                sum(tap * x[:, (start + offset) % length] for tap, offset in zip(taps, (-1, 0, 1), strict=True))
                for start in range(0, length, 2)
            ]
        else:
            steps = [x[:, start : start + 2].mean(1) for start in range(0, length, 2)]
        scales.append(np.stack(steps, axis=1))
    return scales


def by_hand(x, w, *, season_axis="within", ensemble="sum", **_):
    normed = []
    for index, scale in enumerate(scales_by_hand(x, w)):
        z, _, _ = standardise(scale)
        gain, shift = w.get(f"norms.norms.{index}.weight", 1.0), w.get(f"norms.norms.{index}.bias", 0.0)
        normed.append(z * gain + shift)
    normed[-1] = np.stack([rows + attention(rows.T, w, "series_attention", heads=1)[0].T for rows in normed[-1]])
    scales = []
    for z in normed:
        series = z.transpose(0, 2, 1).reshape(-1, z.shape[1], 1)  # b·n t 1
        scales.append(np.stack([circular_embedding(rows, w["embed.weight"]) for rows in series]))
    for block in range(2):
        scales = block_by_hand(scales, w, f"blocks.{block}", top_k=2, season_axis=season_axis)
    forecasts = []
    for index, scale in enumerate(scales):
        features = linear(scale.transpose(0, 2, 1), w, f"heads.heads.{index}").transpose(0, 2, 1)  # b·n h m
        forecasts.append(linear(features, w, "heads.project")[..., 0])
    y = getattr(np, ensemble)(forecasts, axis=0).reshape(len(x), x.shape[2], -1).transpose(0, 2, 1)
    _, mean, deviation = standardise(x)
    y = (y - w.get("norms.norms.0.bias", 0.0)) / (w.get("norms.norms.0.weight", 1.0) + 1e-10)
    return y * deviation + mean


@pytest.mark.parametrize("lookback", [16, 19, 21])
@pytest.mark.parametrize("options", [{}, DERIVED], ids=["paper", "derived"])
def test_equals_numpy(options, lookback):
    model, x = randomised(TimeMixerPP(3, lookback, 5, **TINY, **options)), windows(2, lookback, 3)
    expected = by_hand(x.numpy(), weights_of(model), **options)
    np.testing.assert_allclose(model(x).detach(), expected, rtol=1e-7)


def test_parameter_counts():
    """Two blocks of 1144 m f weights and what is around them: with 2 and 3 halvings; 1.19 M is printed."""
    for halvings, parameters in ((2, 1_197_042), (3, 1_196_528)):
        assert count(TimeMixerPP(7, 96, 96, halvings=halvings)) == parameters
    block = ScaleImageBlock(16, 32, top_k=3, kernels=6, season_axis="within")
    squares = sum(weight.numel() for mixer in (block.season_mixer, block.trend_mixer) for weight in mixer.parameters())
    assert squares == 1144 * 16 * 32 + 6 * 2 * (16 + 32)


class TestAxes:
    """The paper takes the season within a period and the trend across periods; derived code the other way round."""

    @pytest.mark.parametrize("season_axis", ["within", "across"])
    def test_a_change_is_seen_along_the_axis(self, season_axis):
        block = randomised(ScaleImageBlock(4, 3, top_k=2, kernels=2, season_axis=season_axis))
        image = 0.1 * torch.randn(1, 3, 5, 4, dtype=torch.float64)  # no product that makes softmax blind to the rest
        changed = image.clone()
        changed[0, 1, 2] += 0.1
        row, column = torch.zeros(3, 5, dtype=torch.bool), torch.zeros(3, 5, dtype=torch.bool)
        row[1], column[:, 2] = True, True
        pairs = zip(block.split(image), block.split(changed), strict=True)
        season, trend = ((before != after).any(-1)[0] for before, after in pairs)
        expected = (row, column) if season_axis == "within" else (column, row)
        assert torch.equal(season, expected[0])
        assert torch.equal(trend, expected[1])

    def test_both_readings_have_the_same_weights(self):
        model, other = (TimeMixerPP(3, 16, 5, **TINY, season_axis=axis) for axis in ("within", "across"))
        other.load_state_dict(randomised(model).state_dict())
        x = windows(2, 16, 3)
        assert not torch.allclose(model(x), other.double().eval()(x))


class TestAttention:
    def test_starts_as_its_input(self):
        layer, x = AxisAttention(4, 3), torch.randn(2, 5, 4)
        assert torch.equal(layer(x), x)
        assert float(layer.gate.detach()) == 0

    def test_widths(self):
        """Query and key of width f, value of width m."""
        layer = AxisAttention(16, 32)
        assert [layer.query.out_features, layer.key.out_features, layer.value.out_features] == [32, 32, 16]
        assert count(layer) == 2 * (16 * 32 + 32) + 16 * 16 + 16 + 1


def test_companions_change_a_forecast():
    model, x = randomised(TimeMixerPP(3, 24, 5, **TINY | {"top_k": 1})), windows(8, 24, 3)
    together = model(x)
    assert traits_of(model).batch_dependent
    assert not all(torch.allclose(model(x[index : index + 1])[0], together[index]) for index in range(8))


def test_series_meet_at_the_coarsest_scale_only():
    """Without what its attention gives, and with all frequencies taken, a series is forecast alone."""
    model, x = randomised(TimeMixerPP(3, 16, 5, **TINY)), windows(2, 16, 3)
    changed = x.clone()
    changed[..., 1] += torch.arange(16) ** 2
    assert not torch.allclose(model(changed)[..., 0], model(x)[..., 0])
    for parameter in model.series_attention.output.parameters():
        torch.nn.init.zeros_(parameter)
    torch.testing.assert_close(model(changed)[..., [0, 2]], model(x)[..., [0, 2]])
    assert not torch.allclose(model(changed)[..., 1], model(x)[..., 1])


def test_the_level_of_a_window_does_not_pull_at_the_halving():
    """It cancels in RevIN, in the forecast and in the gradient of what made the coarser scales."""
    model, x, y = randomised(TimeMixerPP(3, 16, 5, **TINY)), windows(4, 16, 3), windows(4, 5, 3, seed=1)
    weight, pulls = model.scales.convolution.weight, []
    for level in (0.0, 100.0):
        weight.grad = None
        (model(x + level) - (y + level)).square().mean().backward()
        pulls.append(weight.grad)
    torch.testing.assert_close(*pulls, rtol=1e-6, atol=1e-6)


def test_the_halving_learns_by_its_slope():
    """The gradient of its weights is what a small change of them makes."""
    model, x = randomised(TimeMixerPP(3, 16, 5, **TINY)), windows(4, 16, 3)
    weight, step = model.scales.convolution.weight, 1e-6
    model(x).square().mean().backward()
    for tap in range(3):
        losses = []
        for change in (step, -2 * step, step):
            weight.data[0, 0, tap] += change
            losses.append(float(model(x).detach().square().mean()))
        assert float(weight.grad[0, 0, tap]) == pytest.approx((losses[0] - losses[1]) / (2 * step), rel=1e-4)


def test_every_scale_counts():
    """Derived code forecasts from the last scale alone."""
    model, x = randomised(TimeMixerPP(3, 16, 5, **TINY)), windows(2, 16, 3)
    before = model(x)
    for head in model.heads.heads:
        bias = head.bias.data.clone()
        head.bias.data += 1
        assert not torch.allclose(model(x), before)
        head.bias.data = bias


@pytest.mark.parametrize("options", [{}, DERIVED], ids=["paper", "derived"])
def test_missing_values_reach_neither_forecast_nor_gradient(options):
    model, x = TimeMixerPP(3, 17, 6, **TINY, **options), windows(2, 17, 3).float()
    x[0, 3:9, 1] = x[1, :, 2] = torch.nan
    model(x).square().sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


def test_the_order_of_series_counts_only_if_they_have_weights():
    assert not TimeMixerPP(3, 16, 5, **TINY).permutes_series
    assert TimeMixerPP(3, 16, 5, **TINY, affine=False).permutes_series


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"halvings": 4}, "4 halvings need a lookback of at least 17, found 16"),
        ({"halvings": 0}, "halvings must be at least 1, found 0: with one scale there is nothing to mix"),
        ({"halving": "median"}, "halving must be 'convolution' or 'average', found 'median'"),
        ({"season_axis": "rows"}, "season_axis must be 'within' or 'across', found 'rows'"),
        ({"ensemble": "median"}, "ensemble must be 'sum' or 'mean', found 'median'"),
        ({"top_k": 0}, "top_k must be at least 1, found 0"),
        ({"kernels": 0}, "kernels must be at least 1, found 0"),
        ({"halvings": 2, "heads": 3}, "heads must divide the 4 steps of the coarsest scale, found 3"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        TimeMixerPP(3, 16, 5, **options)
