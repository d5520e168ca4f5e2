"""Scales against explicit loops: halving, a norm for each, mixing both ways, heads."""

import numpy as np
import pytest
import torch
from torch import nn
from zoo_parts import linear, randomised, weights_of, windows

from olinear.core.errors import ConfigError
from olinear.models.zoo.blocks.averages import moving_average
from olinear.models.zoo.blocks.scales import (
    ConvolvedScales,
    ScaleHeads,
    ScaleNorms,
    ThroughNorm,
    average_matrix,
    average_scales,
    by_series,
    coarse_to_fine,
    fine_to_coarse,
    scale_lengths,
)
from olinear.nn import RevIN


class TestLengths:
    @pytest.mark.parametrize(
        ("lookback", "halvings", "lengths"),
        [(96, 3, [96, 48, 24, 12]), (33, 2, [33, 17, 9]), (8, 3, [8, 4, 2, 1]), (5, 0, [5])],
    )
    def test_an_odd_step_counts(self, lookback, halvings, lengths):
        assert scale_lengths(lookback, halvings) == lengths

    @pytest.mark.parametrize("lookback", [16, 17, 30, 33])
    @pytest.mark.parametrize("make", [lambda x: average_scales(x, 3), ConvolvedScales(3)], ids=["average", "convolved"])
    def test_are_those_of_both_halvings(self, lookback, make):
        assert [scale.shape for scale in make(torch.zeros(2, lookback, 3))] == [
            (2, length, 3) for length in scale_lengths(lookback, 3)
        ]

    @pytest.mark.parametrize(
        ("lookback", "halvings", "shortest", "told"),
        [
            (7, 3, 1, "3 halvings need a lookback of at least 8, found 7: pass fewer halvings"),
            (8, 3, 2, "3 halvings need a lookback of at least 9, found 8: pass fewer halvings"),
            (8, -1, 1, "halvings must be at least 0, found -1"),
        ],
    )
    def test_too_short_lookbacks_are_refused(self, lookback, halvings, shortest, told):
        with pytest.raises(ConfigError, match=told):
            scale_lengths(lookback, halvings, shortest=shortest)
        assert min(scale_lengths(8, 3)) == 1
        assert min(scale_lengths(9, 3, shortest=2)) == 2


class TestAverage:
    def test_means_of_two(self):
        x = torch.tensor([1.0, 3.0, 5.0, 9.0, 2.0])[None, :, None]
        assert [scale.flatten().tolist() for scale in average_scales(x, 2)] == [[1, 3, 5, 9, 2], [2, 7, 2], [4.5, 2]]

    def test_missing_values_are_left_out(self):
        x = torch.tensor([1.0, torch.nan, torch.nan, torch.nan])[None, :, None]
        first, second = average_scales(x, 2)[1:]
        assert first[0, 0] == second[0, 0] == 1
        assert first[0, 1].isnan()


class TestConvolution:
    def test_by_a_loop(self):
        layer, x = ConvolvedScales(2).double(), windows(2, 7, 3)
        taps, scale = layer.convolution.weight.detach().numpy().ravel(), x.numpy()
        for found in layer(x)[1:]:
            length = scale.shape[1]
            scale = np.stack(
                [
                    sum(taps[tap] * scale[:, (step + tap - 1) % length] for tap in range(3))
                    for step in range(0, length, 2)
                ],
                axis=1,
            )
            np.testing.assert_allclose(found.detach(), scale)

    def test_a_missing_value_is_the_mean(self):
        """Else it would reach its neighbours, and the taps' gradient."""
        layer, x = ConvolvedScales(1), windows(2, 8, 3).float()
        filled = x.clone()
        x[0, 3, 1] = x[1, :, 2] = torch.nan
        filled[0, 3, 1], filled[1, :, 2] = x[0, :, 1].nanmean(), 0
        torch.testing.assert_close(layer(x)[1], layer(filled)[1])


def test_every_scale_has_its_norm_and_the_forecast_goes_back_by_the_finest():
    norms, scales, y = randomised(ScaleNorms(3, 2)), [windows(2, 8, 3), windows(2, 4, 3, seed=1)], windows(2, 5, 3)
    normalised, stats = norms(scales)
    for norm, x, found in zip(norms.norms, scales, normalised, strict=True):
        assert isinstance(norm, RevIN)
        torch.testing.assert_close(found, norm(x)[0])
    torch.testing.assert_close(norms.inverse(y, stats), norms.norms[0].inverse(y, norms.norms[0](scales[0])[1]))
    assert not list(ScaleNorms(3, 2, affine=False).parameters())


class TestThroughNorm:
    def test_is_revin_with_statistics_that_learn(self):
        norms, x = [randomised(kind(3)) for kind in (RevIN, ThroughNorm)], windows(2, 8, 3)
        (expected, stats), (z, learning) = (norm(x) for norm in norms)
        torch.testing.assert_close(z, expected)
        torch.testing.assert_close(learning, stats)
        assert torch.autograd.gradcheck(lambda x: norms[1](x)[0], x.requires_grad_())

    def test_level_and_scale_do_not_pull(self):
        """z does not change with them, so what made the window must not be moved along them."""
        x = windows(2, 8, 3)
        level = torch.zeros((), dtype=torch.float64, requires_grad=True)
        scale = torch.ones((), dtype=torch.float64, requires_grad=True)
        z, _ = ThroughNorm(3, affine=False)(scale * x + level)
        (z * torch.randn_like(z)).sum().backward()
        torch.testing.assert_close(torch.stack([level.grad, scale.grad]), torch.zeros(2).double(), rtol=0, atol=1e-4)

    def test_stands_where_the_scale_was_learnt(self):
        """The finest one is the window itself, which may have gaps."""
        assert [type(norm) for norm in ScaleNorms(3, 3, learnt=True).norms] == [RevIN, ThroughNorm, ThroughNorm]
        assert [type(norm) for norm in ScaleNorms(3, 3).norms] == [RevIN] * 3


def test_by_series():
    x = windows(2, 5, 3)
    torch.testing.assert_close(by_series(x)[4, :, 0], x[1, :, 1])


@pytest.mark.parametrize(("length", "window"), [(12, 25), (30, 25), (9, 4), (5, 1), (1, 25)])
def test_the_matrix_of_a_moving_average(length, window):
    x = windows(2, 3, length).float()
    torch.testing.assert_close(x @ average_matrix(length, window), moving_average(x, window))


def test_steps_see_what_the_step_before_has_made():
    parts = [torch.tensor(1.0), torch.tensor(10.0), torch.tensor(100.0)]
    steps = [lambda x: 2 * x, lambda x: 3 * x]
    assert [float(x) for x in fine_to_coarse(parts, steps)] == [1, 12, 136]
    assert [float(x) for x in coarse_to_fine(parts, steps)] == [1 + 2 * 310, 310, 100]
    assert [float(x) for x in parts] == [1, 10, 100]


class TestHeads:
    @pytest.mark.parametrize("ensemble", ["sum", "mean"])
    def test_equal_numpy(self, ensemble):
        """Each feature by the head of its scale, then the features by the one map, scale by scale."""
        heads, scales = randomised(ScaleHeads([8, 4], 6, 5, ensemble=ensemble)), [windows(2, 8, 6), windows(2, 4, 6)]
        w, forecasts = weights_of(heads), []
        for index, scale in enumerate(scales):
            by_feature = linear(scale.numpy().transpose(0, 2, 1), w, f"heads.{index}")  # b m h
            forecasts.append(linear(by_feature.transpose(0, 2, 1), w, "project")[..., 0])
        expected = getattr(np, ensemble)(forecasts, axis=0)
        np.testing.assert_allclose(heads(scales).detach(), expected, rtol=1e-9)

    def test_start_as_linear_layers_do(self):
        heads = ScaleHeads([96, 12], 16, 96)
        assert [type(head) for head in heads.heads] == [nn.Linear] * 2
        for head, length in zip(heads.heads, (96, 12), strict=True):
            assert 0.98 * length**-0.5 < head.weight.detach().abs().max() <= length**-0.5

    def test_an_unknown_ensemble_is_refused(self):
        with pytest.raises(ConfigError, match="ensemble must be 'sum' or 'mean', found 'median'"):
            ScaleHeads([8], 6, 5, ensemble="median")
