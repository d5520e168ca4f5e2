"""The whole walk: published sizes, an independent NumPy walk, symmetries, data and errors."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from olinear_parts import H, N, T, count, random_basis, randomised, small, windows
from scipy.special import erf
from torch import nn

from olinear.core.errors import ConfigError, DataError
from olinear.nn import NormLin, OLinear, OrthoTrans
from olinear.nn.functional import series_correlation


class TestPublishedSizes:
    """The paper's table of costs: what its results were made with has these many parameters (96 → 96)."""

    @pytest.mark.parametrize(
        ("n_series", "exact", "millions"),
        [
            (7, 4_518_944, 4.52),
            (321, 4_785_844, 4.79),
            (862, 6_170_804, 6.17),
            (21, 4_522_444, 4.52),
            (137, 4_581_604, 4.58),
        ],
    )
    def test_olinear(self, n_series, exact, millions):
        model = OLinear(n_series, 96, 96, model_dim=512, ff_dim=512, embed_dim=16, blocks=2)
        assert count(model) == exact
        assert round(count(model) / 1e6, 2) == millions

    @pytest.mark.parametrize(("n_series", "millions"), [(7, 4.52), (321, 4.58), (862, 4.69), (21, 4.52), (137, 4.54)])
    def test_olinear_c(self, n_series, millions):
        mixer = partial(NormLin, fixed=np.eye(n_series), transform="softmax")
        assert abs(count(OLinear(n_series, 96, 96, mixer=mixer)) / 1e6 - millions) <= 0.01

    def test_defaults_are_those_of_the_paper(self):
        assert count(OLinear(7, 96, 96)) == 4_518_944


def numpy_walk(weights, x, head):
    """The forward pass of the experiments, one window and one series at a time."""
    w = {name: value.numpy() for name, value in weights.items()}

    def linear(name, value):
        return w[f"{name}.weight"] @ value + w[f"{name}.bias"]

    def layer_norm(name, value):
        return (value - value.mean()) / np.sqrt(value.var() + 1e-5) * w[f"{name}.weight"] + w[f"{name}.bias"]

    def gelu(value):
        return value * (1 + erf(value / np.sqrt(2))) / 2

    forecasts = []
    for window in x.numpy():
        levels, deviations, hidden = [], [], []
        for i, series in enumerate(window.T):
            levels.append(series.mean())
            deviations.append(np.sqrt(series.var() + 1e-5))
            normal = (series - levels[i]) / deviations[i] * w["revin.weight"][i] + w["revin.bias"][i]
            copies = [phi * (w["input_transform.basis"] @ normal) + w["input_offset"][i] for phi in w["extension"]]
            hidden.append(linear("encoder", np.concatenate(copies)))
        block = 0
        while f"blocks.{block}.csl.mixer.weight" in w:
            csl, isl = f"blocks.{block}.csl", f"blocks.{block}.isl"
            share = np.log1p(np.exp(w[f"{csl}.mixer.weight"]))
            pre = [linear(f"{csl}.pre", value) for value in hidden]
            for i in range(len(hidden)):
                mixed = sum(share[i, j] / share[i].sum() * pre[j] for j in range(len(pre)))
                hidden[i] = layer_norm(f"{csl}.norm", hidden[i] + linear(f"{csl}.post", mixed))
            for i, value in enumerate(hidden):
                branch = linear(f"{isl}.contract", gelu(linear(f"{isl}.expand", value)))
                hidden[i] = layer_norm(f"{isl}.norm", value + branch)
            block += 1
        forecast = []
        for i, value in enumerate(hidden):
            decoded = linear("decoder", layer_norm("norm", value)).reshape(len(w["extension"]), -1)
            decoded = np.stack([copy @ w["output_transform.basis"] + w["output_offset"][i] for copy in decoded])
            flat = decoded.reshape(-1)
            y = linear("head.output", gelu(linear("head.hidden", flat)) if head == "mlp" else flat)
            y = (y - w["revin.bias"][i]) / (w["revin.weight"][i] + 1e-10)
            forecast.append(y * deviations[i] + levels[i])
        forecasts.append(np.stack(forecast, axis=1))
    return np.stack(forecasts)


@pytest.mark.parametrize("blocks", [0, 1, 3])
@pytest.mark.parametrize("head", ["mlp", "linear"])
def test_forward_equals_the_walk_in_numpy(head, blocks):
    model, x = randomised(small(head=head, blocks=blocks, ff_dim=10, dropout=0.3)), 5 * windows() + 2
    np.testing.assert_allclose(model(x).detach(), numpy_walk(model.state_dict(), x, head), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("batch", "n_series", "lookback", "horizon"),
    [(1, 1, 1, 1), (1, 3, 12, 6), (4, 1, 12, 6), (2, 3, 5, 1), (2, 2, 1, 9)],
)
def test_smallest_shapes(batch, n_series, lookback, horizon):
    model = randomised(small(n_series, lookback, horizon))
    x = windows(batch, lookback, n_series)
    assert model(x).shape == (batch, horizon, n_series)
    np.testing.assert_allclose(model(x).detach(), numpy_walk(model.state_dict(), x, "mlp"), rtol=1e-8, atol=1e-8)


def test_golden_numbers():
    """Fixed seed, fixed numbers: a silent change of the walk or of the initialisation moves them.

    Output and gradient norm agree with `numpy_walk` and its finite differences.
    """
    torch.manual_seed(0)
    model = OLinear(N, T, H, model_dim=8, embed_dim=4).double()
    steps = torch.arange(2 * T * N, dtype=torch.float64).reshape(2, T, N)
    output = model(torch.sin(steps) + steps / 50)
    output.square().mean().backward()
    squares = sum(parameter.grad.square().sum() for parameter in model.parameters())
    assert output.sum().item() == pytest.approx(27.0858194, rel=1e-5)
    assert output[1, 2, 0].item() == pytest.approx(1.25502829, rel=1e-5)
    assert squares.sqrt().item() == pytest.approx(1.32284406, rel=1e-5)


class TestDropout:
    def test_falls_on_the_head_before_revin_is_undone(self):
        """The experiments' detail that decides the result: a dropped output is 0 on the normalised scale."""
        model, x = randomised(small(blocks=0, dropout=0.5)), 5 * windows(batch=16) + 2
        _, stats = model.revin(x)
        silent = model.revin.inverse(torch.zeros(16, H, N, dtype=torch.float64), stats)
        plain = model(x)
        dropped = model.train()(x)
        zero = dropped == silent
        assert 0.35 < zero.double().mean() < 0.65
        assert not (plain == silent).any()
        scale, bias = model.revin.weight + 1e-10, model.revin.bias
        normalised = (plain - stats.mean) / stats.deviation * scale + bias
        doubled = (2 * normalised - bias) / scale * stats.deviation + stats.mean
        torch.testing.assert_close(dropped[~zero], doubled[~zero])

    def test_rests_in_evaluation(self):
        model, x = small(dropout=0.5).eval(), windows()
        torch.testing.assert_close(model(x), model(x), rtol=0, atol=0)

    def test_reaches_every_part(self):
        model = small(dropout=0.3)
        chances = [layer.p for layer in model.modules() if isinstance(layer, nn.Dropout)]
        chances += [layer.dropout for layer in model.modules() if isinstance(layer, NormLin)]
        assert chances == [0.3] * 7  # the head's; and CSL, ISL and NormLin in two blocks


class TestSymmetries:
    @given(order=st.permutations(range(4)), seed=st.integers(0, 2**32 - 1))
    @settings(max_examples=10)
    def test_permuting_series_with_their_parameters_permutes_forecasts(self, order, seed):
        model, permuted = randomised(small(n_series=4)), small(n_series=4).eval()
        weights = model.state_dict()
        for name in ("revin.weight", "revin.bias", "input_offset", "output_offset"):
            weights[name] = weights[name][order]
        for name in [name for name in weights if name.endswith("mixer.weight")]:
            weights[name] = weights[name][order][:, order]
        permuted.load_state_dict(weights)
        x = windows(n_series=4, seed=seed)
        torch.testing.assert_close(permuted(x[..., order]), model(x)[..., order])

    @given(scale=st.floats(0.5, 100), shift=st.floats(-1e3, 1e3), seed=st.integers(0, 2**32 - 1))
    @settings(max_examples=10)
    def test_forecast_follows_the_units_of_the_input(self, scale, shift, seed):
        """RevIN's promise: Celsius or Fahrenheit, the forecast is the same temperature (up to ε in the variance)."""
        model, x = randomised(small(affine=False)), 100 * windows(seed=seed)
        expected = scale * model(x) + shift
        torch.testing.assert_close(model(scale * x + shift), expected, rtol=1e-7, atol=1e-5 * scale)

    def test_windows_of_a_batch_do_not_meet(self):
        model, x = randomised(small()), windows()
        torch.testing.assert_close(model(x)[1:2], model(x[1:2]))

    def test_gaps_in_the_lookback_leave_a_finite_forecast(self):
        model, x = randomised(small()), windows()
        x[0, 3, 1] = x[1, :, 2] = torch.nan
        assert model(x).isfinite().all()


class TestForData:
    train = np.random.default_rng(0).normal(size=(60, N)).cumsum(0)

    def test_fits_both_bases_to_the_training_rows(self):
        model = OLinear.for_data(self.train, T, H, model_dim=8, blocks=1)
        assert (model.n_series, model.lookback, model.horizon, len(model.blocks)) == (N, T, H, 1)
        torch.testing.assert_close(model.input_transform.basis, OrthoTrans.fit(self.train, T).basis)
        torch.testing.assert_close(model.output_transform.basis, OrthoTrans.fit(self.train, H).basis)

    def test_takes_a_basis_by_name(self):
        model = OLinear.for_data(self.train, T, H, basis="haar", model_dim=8)
        torch.testing.assert_close(model.input_transform.basis, OrthoTrans.fit(None, T, "haar").basis)
        torch.testing.assert_close(model.output_transform.basis, OrthoTrans.fit(None, H, "haar").basis)

    def test_olinear_c_of_the_readme(self):
        mixer = partial(NormLin, fixed=series_correlation(self.train), transform="softmax")
        model = OLinear.for_data(self.train, T, H, model_dim=8, mixer=mixer)
        assert model(windows().float()).shape == (4, H, N)

    @pytest.mark.parametrize(
        "container", [torch.from_numpy, pd.DataFrame, np.ndarray.tolist], ids=["tensor", "frame", "list"]
    )
    def test_takes_any_array_like(self, container):
        """A frame of training rows is what most users hold."""
        model = OLinear.for_data(container(self.train), T, H, model_dim=8)
        torch.testing.assert_close(model.input_transform.basis, OrthoTrans.fit(self.train, T).basis)

    @pytest.mark.parametrize("shape", [(60,), (2, 60, 3)])
    def test_needs_rows_and_series(self, shape):
        with pytest.raises(DataError, match=r"\(rows, series\), found \("):
            OLinear.for_data(np.ones(shape), T, H)


class TestErrors:
    @pytest.mark.parametrize("shape", [(T, N), (4, N, T), (4, T + 1, N), (4, T, N + 1), (4, 1, T, N)])
    def test_input_says_what_was_expected_and_found(self, shape):
        with pytest.raises(DataError) as caught:
            small()(torch.zeros(shape, dtype=torch.float64))
        assert "(batch, lookback=12, series=3)" in str(caught.value)
        assert f"found {shape}" in str(caught.value)

    @pytest.mark.parametrize(("name", "size"), [("input_transform", T), ("output_transform", H)])
    def test_transforms_must_have_their_size(self, name, size):
        with pytest.raises(DataError, match=f"{name} must have size {size}, found 5"):
            small(**{name: OrthoTrans(random_basis(5))})

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"blocks": -1}, "blocks must be 0 or more, found -1"),
            ({"dropout": 1.0}, r"dropout must lie in \[0, 1\), found 1.0"),
            ({"dropout": -0.1}, "dropout must lie"),
            ({"head": "conv"}, "head must be 'mlp' or 'linear', found 'conv'"),
            ({"temporal": "conv"}, "temporal must be"),
            ({"temporal": "normlin", "ff_dim": 9}, "set ff_dim=8, found 9"),
            ({"mixer": "blender"}, "mixer must be one of"),
            ({"model_dim": 0}, "model_dim must be at least 1, found 0"),
            ({"ff_dim": 0}, "ff_dim must be at least 1, found 0"),
            ({"embed_dim": 0}, "embed_dim must be at least 1, found 0"),
        ],
    )
    def test_options_out_of_range(self, options, message):
        with pytest.raises(ConfigError, match=message):
            small(**options)

    @pytest.mark.parametrize(
        ("sizes", "message"), [((0, T, H), "n_series"), ((N, 0, H), "lookback"), ((N, T, -2), "horizon")]
    )
    def test_sizes_must_be_positive(self, sizes, message):
        with pytest.raises(ConfigError, match=f"{message} must be at least 1"):
            OLinear(*sizes)
