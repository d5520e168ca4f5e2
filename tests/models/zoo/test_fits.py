"""FITS against sums of waves: the band that is kept, the gain, the unbiased deviation."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from zoo_parts import count, randomised, weights_of, windows

from olinear.core.errors import ConfigError
from olinear.models.zoo.fits import FITS, ComplexLinear


def coefficients(series, kept):
    steps = np.arange(len(series))
    return np.array([np.sum(series * np.exp(-2j * np.pi * k * steps / len(series))) for k in range(kept)])


def waves(spectrum, length):
    """The real signal whose spectrum starts so and is 0 from there on."""
    steps, signal = np.arange(length), np.zeros(length)
    for k, value in enumerate(spectrum):
        alone = k == 0 or 2 * k == length  # its own mirror image, and real
        turned = np.exp(2j * np.pi * k * steps / length)
        signal += value.real * turned.real if alone else 2 * (value * turned).real
    return signal / length


def by_hand(x, w, horizon):
    weight, bias = (w[f"stretch.{name}"][..., 0] + 1j * w[f"stretch.{name}"][..., 1] for name in ("weight", "bias"))
    lookback = x.shape[1]
    y = np.empty((len(x), lookback + horizon, x.shape[2]))
    for b, i in np.ndindex(len(x), x.shape[2]):
        series = x[b, :, i]
        mean, deviation = series.mean(), np.sqrt(series.var(ddof=1) + 1e-5)
        spectrum = weight @ coefficients((series - mean) / deviation, weight.shape[1]) + bias
        gain = (lookback + horizon) / lookback
        y[b, :, i] = gain * waves(spectrum, lookback + horizon) * deviation + mean
    return y


@pytest.mark.parametrize(
    ("lookback", "horizon", "options"),
    [(16, 8, {}), (16, 8, {"cut": 3}), (15, 6, {"cut": 4}), (16, 5, {"order": 2, "period": 40}), (16, 16, {"cut": 9})],
)
def test_equals_a_sum_of_waves(lookback, horizon, options):
    model, x = randomised(FITS(2, lookback, horizon, **options)), windows(3, lookback, 2)
    expected = by_hand(x.numpy(), weights_of(model), horizon)
    np.testing.assert_allclose(model.extend(x).detach(), expected, rtol=1e-8)
    np.testing.assert_allclose(model(x).detach(), expected[:, -horizon:], rtol=1e-8)


def test_parameter_counts():
    """40 of 49 frequencies to 80 of 97, with a bias: 3,280 complex numbers, however many series."""
    model = FITS(7, 96, 96)
    assert model.cut == 40
    assert model.stretch.weight.shape == (80, 40, 2)
    assert count(model) == 2 * 3_280 == count(FITS(1, 96, 96))


class TestFrequencies:
    @pytest.mark.parametrize(("lookback", "cut"), [(96, 40), (360, 106), (720, 196), (36, 19), (12, 7), (3, 2)])
    def test_the_authors_rule(self, lookback, cut):
        """(⌊t/24⌋ + 1) · 6 + 10, and no more than there are."""
        assert FITS(1, lookback, 24).cut == cut

    @settings(max_examples=30)
    @given(lookback=st.integers(1, 50), horizon=st.integers(1, 50), share=st.floats(0, 1))
    def test_every_cut_works(self, lookback, horizon, share):
        """All frequencies of a lookback may stretch to one more than the longer window has."""
        cut = 1 + round(share * (lookback // 2))
        model = FITS(2, lookback, horizon, cut=cut)
        assert len(model.stretch.weight) <= (lookback + horizon) // 2 + 1
        y = model(torch.randn(2, lookback, 2))
        assert y.shape == (2, horizon, 2)
        assert y.isfinite().all()

    def test_higher_ones_are_not_seen(self):
        """Two windows that differ in a frequency behind the cut, and not in their deviation, have one forecast."""
        model, angle = randomised(FITS(1, 24, 8, cut=5)), 2 * torch.pi * torch.arange(24, dtype=torch.float64) / 24
        x = torch.stack([torch.cos(2 * angle) + torch.cos(k * angle) for k in (6, 9, 3)])[..., None]
        y = model(x)
        torch.testing.assert_close(y[0], y[1])
        assert not torch.allclose(y[0], y[2])

    @pytest.mark.parametrize("cut", [0, 10, -1])
    def test_there_are_so_many(self, cut):
        with pytest.raises(ConfigError, match=f"between 1 and the 9 frequencies of a lookback of 16, found {cut}"):
            FITS(1, 16, 8, cut=cut)

    @pytest.mark.parametrize("options", [{"order": 0}, {"period": 0}])
    def test_of_nothing(self, options):
        with pytest.raises(ConfigError, match="order and period must be at least 1"):
            FITS(1, 16, 8, **options)


def test_a_wave_goes_on():
    """The map k -> 2k with weight 1 takes a wave of the lookback to the same one of twice the length: the gain."""
    model = FITS(1, 24, 24, cut=6).double()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
        model.stretch.weight[2 * torch.arange(6), torch.arange(6), 0] = 1.0
    steps = torch.arange(48, dtype=torch.float64)
    wave = (3 + torch.cos(2 * torch.pi * steps / 12) + torch.sin(2 * torch.pi * steps / 8))[None, :, None]
    torch.testing.assert_close(model.extend(wave[:, :24]), wave)


def test_starts_real():
    """As a real linear layer does, so imaginary parts start at 0; they learn from the first step."""
    model = FITS(3, 96, 96)
    for parameter in model.parameters():
        assert not parameter[..., 1].any()
        assert 0.9 * 40**-0.5 < float(parameter[..., 0].detach().abs().max()) <= 40**-0.5
    model(windows(2, 96, 3).float()).square().mean().backward()
    assert all(parameter.grad[..., 1].any() for parameter in model.parameters())


def test_missing_values_are_bridged():
    x = windows(1, 12, 1)
    x[0, [2, 7]] = torch.nan
    assert FITS(1, 12, 4).double()(x).isfinite().all()


def test_a_constant_window_is_forecast_by_the_bias():
    """Its deviation is √ε, whatever the number of values: no division by 0, not even with a single one."""
    for lookback in (1, 12):
        model = FITS(2, lookback, 4)
        y = model(torch.full((1, lookback, 2), 5.0))
        assert y.isfinite().all()
        torch.testing.assert_close(y, torch.full_like(y, 5.0), rtol=0, atol=0.1)


def test_series_do_not_meet():
    model, x = randomised(FITS(3, 16, 5)), windows(2, 16, 3)
    changed = x.clone()
    changed[..., 1] += torch.arange(16)
    torch.testing.assert_close(model(changed)[..., [0, 2]], model(x)[..., [0, 2]], rtol=0, atol=0)


def test_works_in_mixed_precision():
    model, x = FITS(3, 16, 5), windows(2, 16, 3).float()
    with torch.autocast("cpu", torch.bfloat16):
        mixed = model(x)
    torch.testing.assert_close(mixed, model(x))


def test_the_layer_says_its_sizes():
    assert str(ComplexLinear(3, 5)) == "ComplexLinear(3, 5)"
