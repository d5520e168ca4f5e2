"""FilterNet against loops over frequencies: the transform along series, the filter made from it, the counts."""

import numpy as np
import pytest
import torch
from zoo_parts import count, dropped_share, layer_norm, linear, randomised, standardise, weights_of, windows

from olinear.core.errors import ConfigError
from olinear.models.zoo.filternet import FilterNet, TextureFilter

SMALL = {"embed_dim": 6, "hidden_dim": 5}


def parts(function, z):
    return function(z.real) + 1j * function(z.imag)


def filter_by_hand(x, w, name, threshold):  # n e
    """One frequency and one feature at a time."""
    numbers = {key: w[f"{name}.{key}"] @ [1, 1j] for key in ("first.weight", "first.bias", "second.weight")}
    numbers["second.bias"] = w[f"{name}.second.bias"] @ [1, 1j]
    n, series = len(x), np.arange(len(x))
    spectrum = np.empty((n // 2 + 1, x.shape[1]), complex)
    for k, e in np.ndindex(*spectrum.shape):
        z = np.sum(x[:, e] * np.exp(-2j * np.pi * k * series / n)) / np.sqrt(n)
        a = parts(lambda part: max(part, 0), numbers["first.weight"][e] * z + numbers["first.bias"][e])
        g = numbers["second.weight"][e] * a + numbers["second.bias"][e]
        spectrum[k, e] = z * parts(lambda part: np.sign(part) * max(abs(part) - threshold, 0), g)
    return np.fft.irfft(spectrum, n, axis=0, norm="ortho")


def by_hand(x, w, threshold):
    z, mean, deviation = standardise(x)
    z = z * w["norm.weight"] + w["norm.bias"]
    forecasts = []
    for window in z:
        embedded = layer_norm(linear(window.T, w, "embed.0"), w, "embed.1")  # n e
        filtered = layer_norm(filter_by_hand(embedded, w, "filter", threshold), w, "filter_norm")
        hidden = linear(filtered, w, "mlp.0")
        hidden = linear(np.where(hidden > 0, hidden, 0.01 * hidden), w, "mlp.2")
        forecasts.append(linear(hidden, w, "head").T)  # h n
    return (np.stack(forecasts) - w["norm.bias"]) / (w["norm.weight"] + 1e-10) * deviation + mean


@pytest.mark.parametrize("n_series", [1, 2, 3, 6])
def test_equals_numpy(n_series):
    model, x = randomised(FilterNet(n_series, 12, 5, threshold=0.3, **SMALL)), windows(2, 12, n_series)
    np.testing.assert_allclose(model(x).detach(), by_hand(x.numpy(), weights_of(model), 0.3), rtol=1e-7)


def test_parameter_counts():
    """The release's, without 12,416 in a convolution that it never calls."""
    assert count(FilterNet(7, 96, 96)) == 71_790 - 12_416 == 59_374
    assert count(FilterNet(7, 96, 96, hidden_dim=256)) == 104_686 - 12_416 == 92_270


class TestFilter:
    def test_starts_small(self):
        """From 0.02 N(0, 1), of which shrinkage by 0.01 leaves little: LayerNorm brings it back to scale."""
        layer = TextureFilter(500)
        for parameter in layer.parameters():
            assert float(parameter.detach().std()) == pytest.approx(0.02, rel=0.15)
        assert float(layer(torch.randn(8, 7, 500)).detach().std()) < 0.05
        y = FilterNet(3, 12, 5)(windows(2, 12, 3).float())
        assert y.isfinite().all()
        assert y.std() > 0.1

    def test_depends_on_the_window(self):
        """A fixed filter would be linear."""
        layer, x = randomised(TextureFilter(6)), windows(2, 5, 6)
        assert not torch.allclose(layer(2 * x), 2 * layer(x))

    def test_features_do_not_meet(self):
        layer, x = randomised(TextureFilter(6)), windows(2, 5, 6)
        changed = x.clone()
        changed[..., 2] *= -3
        others = [0, 1, 3, 4, 5]
        torch.testing.assert_close(layer(changed)[..., others], layer(x)[..., others], rtol=0, atol=0)

    def test_sees_phases(self):
        """Rolling the series only turns the phases of their spectrum, and yet changes the filter; a real one rolls."""
        layer, x = TextureFilter(6).double(), windows(2, 5, 6)
        assert not torch.allclose(layer(x.roll(1, -2)), layer(x).roll(1, -2))
        layer.first.weight.data.zero_()
        layer.first.bias.data[:] = 1.0
        layer.second.weight.data[:, 1] = -layer.second.weight.data[:, 0]  # (1 + i) (w - i w) = 2 w: a real gain
        layer.second.bias.data.zero_()
        torch.testing.assert_close(layer(x.roll(1, -2)), layer(x).roll(1, -2))


def test_the_order_of_series_counts():
    """The published trap: series next to each other share frequencies."""
    model, x, order = randomised(FilterNet(4, 12, 5, **SMALL)), windows(2, 12, 4), torch.tensor([2, 0, 3, 1])
    expected = model(x)[..., order]
    model.norm.weight.data, model.norm.bias.data = model.norm.weight.data[order], model.norm.bias.data[order]
    assert not torch.allclose(model(x[..., order]), expected)
    assert not model.permutes_series


def test_there_is_no_residual():
    """A filter that lets nothing through leaves a forecast that the window only shifts and stretches."""
    model, x = randomised(FilterNet(3, 12, 5, threshold=100.0, **SMALL)), windows(4, 12, 3)
    mean, deviation = x.mean(1, keepdim=True), (x.var(1, correction=0, keepdim=True) + 1e-5).sqrt()
    constant = (model(x) - mean) / deviation
    torch.testing.assert_close(constant, constant[:1].expand_as(constant))


def test_dropout_falls_on_the_filtered_features():
    model, x = FilterNet(3, 12, 5, dropout=0.3, embed_dim=64), windows(40, 12, 3).float()
    assert dropped_share(model, model.mlp, x) == pytest.approx(0.3, abs=0.03)
    assert dropped_share(model, model.filter, x) == 0


def test_works_in_mixed_precision():
    """The embedding may then be bfloat16, of which there is no Fourier transform."""
    model, x = FilterNet(3, 12, 5, **SMALL), torch.randn(2, 12, 3)
    with torch.autocast("cpu", torch.bfloat16):
        mixed = model(x)
    torch.testing.assert_close(mixed.float(), model(x), rtol=0.2, atol=0.2)


def test_a_negative_threshold_is_refused():
    with pytest.raises(ConfigError, match="threshold must be at least 0"):
        FilterNet(3, 12, 5, threshold=-0.01)
