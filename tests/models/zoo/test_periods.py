"""Periods, folding and Inception layers against NumPy and SciPy."""

import numpy as np
import pytest
import torch
from image_parts import inception, transposed_inception
from zoo_parts import gelu, randomised, softmax, weights_of, windows

from olinear.core.errors import ConfigError
from olinear.models.zoo.blocks.periods import (
    ImageMixer,
    Inception,
    check_top_k,
    convolve,
    fold,
    spread,
    square_images,
    strongest_periods,
    unfold,
)


def waves(*periods, length=48, batch=2):
    """A batch of windows with one feature: the sum of sines, the first the strongest."""
    step = np.arange(length)
    row = sum(np.sin(2 * np.pi * step / period) / (place + 1) for place, period in enumerate(periods))
    return torch.from_numpy(np.broadcast_to(row[None, :, None], (batch, length, 1)).copy())


class TestPeriods:
    def test_are_those_of_the_waves(self):
        assert list(strongest_periods(waves(12, 4, 24), 3)) == [12, 4, 24]

    def test_a_level_is_no_period(self):
        """Frequency 0 has the largest amplitude here, and no period at all."""
        assert list(strongest_periods(waves(12) + 100, 1)) == [12]

    def test_weights_are_each_windows_own_softmax(self):
        x = windows(3, 20, 4)
        amplitude = np.abs(np.fft.rfft(x.numpy(), axis=1)).mean(2)  # b frequencies
        order = np.argsort(-amplitude[:, 1:].mean(0))[:3] + 1
        found = strongest_periods(x, 3)
        weights = softmax(amplitude[:, order])
        for period, weight in found.items():
            expected = sum(weights[:, place] for place, frequency in enumerate(order) if 20 // frequency == period)
            np.testing.assert_allclose(weight, expected)

    def test_frequencies_of_one_period_are_one_image(self):
        """22 // 8 = 22 // 9 = 2: to convolve the same image twice would give the same."""
        found = strongest_periods(windows(3, 22, 4), 11)
        assert set(found) == {22 // frequency for frequency in range(1, 12)}
        torch.testing.assert_close(sum(found.values()), torch.ones(3, dtype=torch.float64))

    def test_all_frequencies_if_there_are_less_than_k(self):
        assert len(strongest_periods(windows(2, 3, 4), 5)) == 1
        assert set(strongest_periods(windows(2, 5, 4), 5)) == {5, 2}

    def test_weights_carry_a_gradient(self):
        x = windows(2, 20, 4).requires_grad_()
        next(iter(strongest_periods(x, 3).values())).sum().backward()
        assert x.grad.abs().max() > 0

    def test_the_batch_decides_together(self):
        """Two windows with waves of their own are folded alike, and count each period by themselves."""
        x = torch.cat([waves(12, batch=1), waves(4, batch=1)])
        found = strongest_periods(x, 2)
        assert set(found) == {12, 4}
        assert found[12][0] > 0.99
        assert found[4][1] > 0.99
        assert [next(iter(strongest_periods(x[index : index + 1], 1))) for index in (0, 1)] == [12, 4]

    @pytest.mark.parametrize(("length", "top_k"), [(192, 5), (12, 3), (3, 5), (2, 1)])
    def test_square_images_need_no_data(self, length, top_k):
        """What counts multiplications runs on tensors without memory, what measures time on noise."""
        with square_images():
            found = strongest_periods(torch.empty(2, length, 3, device="meta"), top_k)
            assert list(strongest_periods(windows(2, length, 3), top_k)) == list(found)
        assert all(2 <= period <= length for period in found)

    def test_images_are_about_square_only_inside(self):
        with square_images():
            assert list(strongest_periods(waves(48, length=96), 1)) == [10]
        assert list(strongest_periods(waves(48, length=96), 1)) == [48]

    def test_half_precision_has_a_spectrum(self):
        assert list(strongest_periods(waves(12, 4).bfloat16(), 2)) == [12, 4]

    def test_no_periods_are_refused(self):
        with pytest.raises(ConfigError, match="top_k must be at least 1, found 0"):
            check_top_k(0)


class TestFolding:
    def test_one_period_a_row(self):
        x = torch.arange(1.0, 8)[None, :, None]
        assert fold(x, 3)[0, :, :, 0].tolist() == [[1, 2, 3], [4, 5, 6], [7, 0, 0]]

    def test_a_period_that_divides_needs_no_copy(self):
        x = torch.randn(2, 12, 3)
        assert fold(x, 4).data_ptr() == x.data_ptr()
        assert unfold(fold(x, 4), 12).data_ptr() == x.data_ptr()

    @pytest.mark.parametrize("period", [1, 3, 4, 7, 12, 13])
    def test_unfold_undoes_it(self, period):
        x = torch.randn(2, 12, 3)
        assert torch.equal(unfold(fold(x, period), 12), x)


SHAPES = [(1, 9), (2, 5), (4, 4), (7, 2), (9, 1), (12, 13)]


class TestInception:
    @pytest.mark.parametrize("stride", [1, 2])
    @pytest.mark.parametrize("shape", SHAPES)
    def test_is_the_mean_of_its_convolutions(self, shape, stride):
        """Also for images smaller than the kernel, whose outer taps are left away."""
        layer, image = randomised(Inception(3, 4, kernels=4)), windows(2, *shape, 3)
        expected = inception(image.numpy(), weights_of(layer), "", stride=stride)
        np.testing.assert_allclose(convolve(image, *layer.merged(), stride=stride).detach(), expected, atol=1e-9)

    @pytest.mark.parametrize("less", [0, 1])
    @pytest.mark.parametrize("shape", SHAPES)
    def test_transposed(self, shape, less):
        layer, image = randomised(Inception(3, 4, kernels=4)), windows(2, *shape, 3)
        rows = 2 * shape[0] - less
        expected = transposed_inception(image.numpy(), weights_of(layer), "", rows=rows)
        np.testing.assert_allclose(spread(image, *layer.merged(), rows=rows).detach(), expected, atol=1e-9)

    def test_starts_from_kaimings_normal_of_the_outputs(self):
        torch.manual_seed(0)
        layer = Inception(32, 24)
        assert [tuple(weight.shape) for weight in layer.weights] == [(24, 32, size, size) for size in range(1, 12, 2)]
        for weight in layer.weights:
            assert float(weight.detach().std()) == pytest.approx((2 / (24 * weight.shape[-1] ** 2)) ** 0.5, rel=0.08)
        assert not layer.biases.detach().any()

    def test_no_kernels_are_refused(self):
        with pytest.raises(ConfigError, match="kernels must be at least 1, found 0"):
            Inception(3, 4, kernels=0)


@pytest.mark.parametrize("rows", ["keep", "halve", "double"])
def test_an_image_mixer_is_two_inception_layers_with_gelu_between(rows):
    mixer, image = randomised(ImageMixer(3, 4, kernels=2, rows=rows)), windows(2, 5, 4, 3)
    w, target = weights_of(mixer), {"keep": 5, "halve": 3, "double": 9}[rows]
    if rows == "double":
        hidden = transposed_inception(image.numpy(), w, "widen.", rows=target)
    else:
        hidden = inception(image.numpy(), w, "widen.", stride=2 if rows == "halve" else 1)
    mixed = mixer.merged()(image, *[target] * (rows == "double"))
    np.testing.assert_allclose(mixed.detach(), inception(gelu(hidden), w, "narrow."), atol=1e-9)
    assert mixed.shape == (2, target, 4, 3)
