"""FreTS against NumPy in both forms, its diagonal trap and the counts of the paper's table."""

from copy import deepcopy

import numpy as np
import pytest
import torch
from torch import nn
from zoo_parts import count, gradients, linear, randomised, weights_of, windows

from olinear.core.errors import ConfigError
from olinear.models.zoo.blocks.spectra import as_complex, complex_relu, complex_shrink
from olinear.models.zoo.frets import FrequencyMLP, FreTS

SMALL = {"embed_dim": 4, "hidden_dim": 6}


def shrink(x, threshold):
    return np.sign(x) * np.maximum(abs(x) - threshold, 0)


def mlp_by_hand(x, w, name, weights, threshold):  # k e: along the first axis
    """Real and imaginary parts apart, as the paper has them; the transform as a matrix."""
    length = len(x)
    turn = np.exp(-2j * np.pi * np.outer(np.arange(length // 2 + 1), np.arange(length)) / length) / np.sqrt(length)
    real, imaginary = turn.real @ x, turn.imag @ x
    mat_r, mat_i = w[f"{name}.weight"][..., 0].T, w[f"{name}.weight"][..., 1].T
    if weights == "diagonal":
        mat_r, mat_i = mat_r * np.eye(len(mat_r)), mat_i * np.eye(len(mat_i))
    new_real = np.maximum(real @ mat_r - imaginary @ mat_i + w[f"{name}.bias"][:, 0], 0)
    new_imaginary = np.maximum(imaginary @ mat_r + real @ mat_i + w[f"{name}.bias"][:, 1], 0)
    spectrum = shrink(new_real, threshold) + 1j * shrink(new_imaginary, threshold)
    return np.fft.irfft(spectrum, length, axis=0, norm="ortho")


def by_hand(x, w, weights, threshold):
    embedded = np.einsum("btn,e->bnte", x, w["embedding"])
    mixed = embedded
    if "series_mlp.weight" in w:
        mixed = np.empty_like(embedded)
        for b, t in np.ndindex(len(x), x.shape[1]):
            mixed[b, :, t] = mlp_by_hand(embedded[b, :, t], w, "series_mlp", weights, threshold)
    y = []
    for b, i in np.ndindex(len(x), x.shape[2]):
        features = embedded[b, i] + mlp_by_hand(mixed[b, i], w, "time_mlp", weights, threshold)
        hidden = linear(np.concatenate(list(features)), w, "head.0")
        y.append(linear(np.where(hidden > 0, hidden, 0.01 * hidden), w, "head.2"))
    return np.reshape(y, (len(x), x.shape[2], -1)).transpose(0, 2, 1)


@pytest.mark.parametrize("weights", ["diagonal", "full"])
@pytest.mark.parametrize("mix_series", [False, True])
@pytest.mark.parametrize(("n_series", "lookback"), [(3, 12), (4, 9), (1, 8)])
def test_equals_numpy(weights, mix_series, n_series, lookback):
    options = {"weights": weights, "mix_series": mix_series, "threshold": 0.3}
    model, x = randomised(FreTS(n_series, lookback, 5, **options, **SMALL)), windows(2, lookback, n_series)
    expected = by_hand(x.numpy(), weights_of(model), weights, 0.3)
    np.testing.assert_allclose(model(x).detach(), expected, rtol=1e-8)


def plain_mlp(mlp, x, weights):  # ... k e
    """Layer by layer: a Fourier transform of every feature, ReLU, then the shrinkage."""
    weight = as_complex(mlp.weight)
    weight = weight * torch.eye(len(weight)) if weights == "diagonal" else weight
    z = torch.fft.rfft(x, dim=-2, norm="ortho") @ weight.mT + as_complex(mlp.bias)
    z = complex_shrink(complex_relu(z), mlp.threshold)
    return torch.fft.irfft(z, n=x.shape[-2], dim=-2, norm="ortho")


@pytest.mark.parametrize("weights", ["diagonal", "full"])
@pytest.mark.parametrize("mix_series", [False, True])
def test_one_fourier_transform_does_for_all_features(weights, mix_series):
    """x φᵀ has the spectrum of x, times φ: neither forecasts nor gradients notice when it was multiplied."""
    options = {"weights": weights, "mix_series": mix_series, "threshold": 0.3} | SMALL
    model, x, y = randomised(FreTS(3, 13, 5, **options)), windows(4, 13, 3), windows(4, 5, 3, seed=1)
    plain = deepcopy(model)
    embedded = mixed = x.mT[..., None] * plain.embedding
    if mix_series:
        mixed = plain_mlp(plain.series_mlp, embedded.transpose(1, 2), weights).transpose(1, 2)
    features = embedded + plain_mlp(plain.time_mlp, mixed, weights)
    forecasts = model(x), plain.head(features.flatten(2)).mT
    for forecast in forecasts:
        (forecast - y).square().mean().backward()
    torch.testing.assert_close(*forecasts, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(gradients(model), gradients(plain), rtol=1e-9, atol=1e-9)


def test_parameter_counts():
    """The release counts an MLP along series that never runs; with it, 0.42 M of the paper's table is `embed_dim=16`.

    That MLP holds 2 e² + 2 e numbers. Without it the table's setting is printed the same.
    """
    assert count(FreTS(7, 96, 96, mix_series=True)) == 3_236_832
    assert count(FreTS(7, 96, 96)) == 3_236_832 - 2 * (128**2 + 128) == 3_203_808
    table = count(FreTS(7, 96, 96, embed_dim=16, mix_series=True))
    alone = count(FreTS(7, 96, 96, embed_dim=16))
    assert (table, alone) == (419_248, 419_248 - 2 * (16**2 + 16))
    assert round(table / 1e6, 2) == round(alone / 1e6, 2) == 0.42
    assert count(FreTS(7, 96, 96, weights="full")) == count(FreTS(7, 96, 96))


class TestDiagonal:
    def test_features_do_not_meet(self):
        """The published trap: another feature's values change nothing; with the whole matrix they do."""
        x = windows(2, 12, 4)
        changed = x.clone()
        changed[..., 2] += torch.arange(12)
        for weights, same in (("diagonal", True), ("full", False)):
            mlp = randomised(FrequencyMLP(4, weights=weights))
            assert torch.equal(mlp(changed)[..., [0, 1, 3]], mlp(x)[..., [0, 1, 3]]) == same

    @pytest.mark.parametrize(("weights", "learning"), [("diagonal", 4), ("full", 16)])
    def test_what_is_learnt(self, weights, learning):
        mlp = randomised(FrequencyMLP(4, weights=weights))
        mlp(windows(8, 12, 4)).square().sum().backward()
        assert int(mlp.weight.grad.any(-1).sum()) == learning

    def test_both_forms_have_one_state(self):
        """And where only the diagonal is not 0, they are one function."""
        diagonal, full = (randomised(FreTS(3, 12, 5, weights=weights, **SMALL)) for weights in ("diagonal", "full"))
        full.load_state_dict(diagonal.state_dict())
        x = windows(2, 12, 3)
        assert not torch.allclose(full(x), diagonal(x))
        full.time_mlp.weight.data *= torch.eye(4, dtype=torch.float64)[..., None]
        torch.testing.assert_close(full(x), diagonal(x))


def test_the_mlp_along_series_is_off():
    """As it was in the release, whose switch compared a number with a letter."""
    model, x = FreTS(3, 12, 5, **SMALL), windows(2, 12, 3).float()
    assert isinstance(model.series_mlp, nn.Identity)
    assert model.permutes_series
    changed = x.clone()
    changed[..., 1] += 1
    torch.testing.assert_close(model(changed)[..., [0, 2]], model(x)[..., [0, 2]])
    mixing = randomised(FreTS(3, 12, 5, mix_series=True, **SMALL))
    assert not mixing.permutes_series
    order = torch.tensor([2, 0, 1])
    assert not torch.allclose(mixing(x[..., order].double()), mixing(x.double())[..., order])


def test_starts():
    """φ from N(0, 1); the MLP from 0.02 N(0, 1), so little of it that X alone speaks at first."""
    model = FreTS(3, 12, 5, embed_dim=128)
    assert float(model.embedding.detach().std()) == pytest.approx(1.0, abs=0.3)
    for parameter in model.time_mlp.parameters():
        assert float(parameter.detach().std()) == pytest.approx(0.02, rel=0.2)
        assert abs(float(parameter.detach().mean())) < 0.01


def test_nothing_is_normalised():
    """A window on a higher level is another window: with the biases at 0 and no shrinkage, twice it forecasts twice."""
    model, x = randomised(FreTS(2, 12, 5, threshold=0.0, **SMALL)), windows(2, 12, 2)
    for name, parameter in model.named_parameters():
        if name.endswith("bias"):
            parameter.data.zero_()
    torch.testing.assert_close(model(2 * x), 2 * model(x))
    assert not torch.allclose(model(x + 3), model(x) + 3)


@pytest.mark.parametrize("weights", ["diagonal", "full"])
def test_works_in_mixed_precision(weights):
    model, x = FreTS(3, 12, 5, weights=weights, mix_series=True, **SMALL), torch.randn(2, 12, 3)
    with torch.autocast("cpu", torch.bfloat16):
        mixed = model(x)
    torch.testing.assert_close(mixed.float(), model(x), rtol=0.1, atol=0.1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "sparse"}, "weights must be 'diagonal' or 'full', found 'sparse'"),
        ({"threshold": -1.0}, "threshold must be at least 0"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        FreTS(3, 12, 5, **options)
