"""FEDformer against explicit sums over frequencies: the filter, the cross-attention, seasons, trends and counts."""

import numpy as np
import pytest
import torch
from torch import nn
from zoo_parts import FEDFORMER_TSL as TSL
from zoo_parts import count, gelu, linear, randomised, sines, weights_of, windows

from olinear.core.errors import ConfigError
from olinear.models.zoo.fedformer import CentredNorm, EncoderBlock, FEDformer, FourierCross, FourierFilter

SMALL = {"model_dim": 8, "ff_dim": 6, "heads": 2, "modes": 4, "window": 6, "label_length": 7}


def convolved(x, kernel):  # t c, m c 3
    steps = range(len(x))
    return np.stack([sum(kernel[..., tap] @ x[(step + tap - 1) % len(x)] for tap in range(3)) for step in steps])


def split(x, window):  # t m
    padded = np.pad(x, ((window // 2, (window - 1) // 2), (0, 0)), mode="edge")
    trend = np.stack([padded[start : start + window].mean(0) for start in range(len(x))])
    return x - trend, trend


def spectrum(x, heads, modes):  # k m -> H d f
    """Single frequencies of each feature by their defining sum."""
    waves = np.exp(-2j * np.pi * np.outer(np.arange(len(x)), modes) / len(x))
    return (x.T @ waves).reshape(heads, -1, len(modes))


def signal(values, places, steps):  # H d f -> k m, read on without turning
    """Real waves at the places given; what is not at frequency 0 counts twice, for its mirror image."""
    angle = 2j * np.pi * np.outer(places, np.arange(steps)) / steps
    twice = np.where(np.asarray(places) == 0, 1, 2)[:, None]
    return ((values @ (twice * np.exp(angle))).real / steps).reshape(steps, -1)


def times(x, weight):  # H d f, f H d d 2
    matrices = weight[..., 0] + 1j * weight[..., 1]
    result = np.empty_like(x)
    for head in range(x.shape[0]):
        for mode in range(x.shape[2]):
            result[head, :, mode] = x[head, :, mode] @ matrices[mode, head]
    return result


def filtered(x, w, name):
    modes = w[f"{name}.modes"]
    return signal(times(spectrum(x, 2, modes), w[f"{name}.weight"]), range(len(modes)), len(x))


def crossed(query, key, w, parts):
    modes = w["cross.modes"]
    queries, keys = spectrum(query, 2, modes), spectrum(key, 2, w["cross.source_modes"])
    mixed = np.empty_like(queries)
    for head in range(2):
        scores = queries[head].T @ keys[head]
        scores = np.tanh(scores.real) + 1j * np.tanh(scores.imag) if parts else np.tanh(scores)
        mixed[head] = keys[head] @ scores.T
    return signal(times(mixed, w["cross.weight"]) / query.shape[-1] ** 2, modes, len(query))


def forward(x, w, name):
    return gelu(x @ w[f"{name}.0.weight"].T) @ w[f"{name}.3.weight"].T


def centred(x, weight):
    normed = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * weight
    return normed - normed.mean(0)


def one_window(x, w, horizon, *, tsl, label=7, window=6):  # t n
    position = sines if tsl else (lambda steps, width: 0)
    state = convolved(x, w["embed_lookback.weight"]) + position(len(x), 8)
    for block in range(2):
        name = f"encoder.{block}"
        mixed = filtered(linear(state, w, f"{name}.query"), w, "encoder_filter") @ w[f"{name}.output.weight"].T
        state, _ = split(state + mixed, window)
        state, _ = split(state + forward(state, w, f"{name}.feed_forward"), window)
    state = centred(state, w["encoder_norm.weight"])
    season, trend = (part[-label:] for part in split(x, window))
    trend = np.concatenate([trend, np.tile(x.mean(0), (horizon, 1))])
    season = np.concatenate([season, np.zeros((horizon, x.shape[1]))])
    tokens = convolved(season, w["embed_season.weight"]) + position(len(season), 8)
    name = "decoder.0"
    mixed = linear(filtered(linear(tokens, w, f"{name}.query"), w, "decoder_filter"), w, f"{name}.output")
    tokens, first = split(tokens + mixed, window)
    mixed = crossed(linear(tokens, w, f"{name}.cross_query"), linear(state, w, f"{name}.cross_key"), w, tsl)
    tokens, second = split(tokens + linear(mixed, w, f"{name}.cross_output"), window)
    tokens, third = split(tokens + forward(tokens, w, f"{name}.feed_forward"), window)
    trend = trend + convolved(first + second + third, w[f"{name}.trend.weight"])
    return (linear(centred(tokens, w["decoder_norm.weight"]), w, "output") + trend)[-horizon:]


@pytest.mark.parametrize("form", [{}, TSL], ids=["authors", "tsl"])
@pytest.mark.parametrize(("lookback", "horizon", "modes"), [(20, 5, 4), (21, 4, 4), (21, 4, 64)])
def test_equals_numpy(form, lookback, horizon, modes):
    """Odd and even lengths, with some and with all frequencies chosen."""
    model = randomised(FEDformer(3, lookback, horizon, **SMALL | form | {"modes": modes}))
    x, w = windows(2, lookback, 3), weights_of(model)
    expected = np.stack([one_window(window, w, horizon, tsl=bool(form)) for window in x.numpy()])
    np.testing.assert_allclose(model(x).detach(), expected, rtol=1e-5 if form else 1e-8)  # float32 sinusoids


def test_parameter_counts():
    """16.3 M in the release with complex numbers counted once, 22.1 M with both parts; less what has no influence."""
    with torch.device("meta"):
        model = FEDformer(7, 96, 96)
    complex_ones = count(model.encoder_filter) + count(model.decoder_filter) + count(model.cross)  # both parts
    marks, unused_maps, unseen_biases = 2 * 4 * 512, (2 * 2 + 2 + 1) * (512 * 512 + 512), 4 * 512
    released = count(model) + marks + unused_maps + unseen_biases
    assert count(model) == 20_225_543
    assert released == 22_070_279
    assert released - complex_ones // 2 == 16_303_111
    assert count(model) - complex_ones // 2 == 14_458_375


class TestModes:
    def test_how_many_are_chosen(self):
        """At most half the steps, the highest never: 48 of 48 in the encoder, 64 of 72 in the decoder."""
        model = FEDformer(7, 96, 96, model_dim=8, ff_dim=8)
        assert model.encoder_filter.modes.tolist() == list(range(48)) == model.cross.source_modes.tolist()
        for modes in (model.decoder_filter.modes, model.cross.modes):
            assert len(modes) == 64
            assert modes.max() < 72
            assert (modes.diff() > 0).all()
        assert not torch.equal(model.decoder_filter.modes, model.cross.modes)

    def test_are_part_of_the_state(self):
        """They are drawn anew for each model: a loaded one must have those it was trained with."""
        one, other = (FEDformer(3, 40, 5, **SMALL).eval() for _ in range(2))
        x = windows(2, 40, 3).float()
        assert not torch.equal(one.encoder_filter.modes, other.encoder_filter.modes)
        other.load_state_dict(one.state_dict())
        assert torch.equal(other(x), one(x))


class TestFourierFilter:
    def identity(self, layer):
        with torch.no_grad():
            layer.weight.zero_()
            layer.weight[..., 0] = torch.eye(layer.weight.shape[-2])
        return layer.double()

    def test_writes_the_first_chosen_frequency_to_frequency_0(self):
        layer = self.identity(FourierFilter(12, 1, heads=1, modes=2))
        layer.modes.copy_(torch.tensor([3, 5]))
        angle = 2 * torch.pi * torch.arange(12.0).double() / 12
        y = layer((3 * angle).cos()[None, :, None])
        torch.testing.assert_close(y, torch.full_like(y, 0.5))
        y = layer((5 * angle).cos()[None, :, None])
        torch.testing.assert_close(y[0, :, 0], angle.cos())

    def test_reads_features_as_steps(self):
        """With all frequencies and no change it gives back the input, but turned."""
        layer = self.identity(FourierFilter(9, 4, heads=2, modes=9))
        x = torch.randn(2, 9, 4, dtype=torch.float64)
        x = torch.fft.irfft(torch.fft.rfft(x, dim=1)[:, :4], n=9, dim=1)  # without the highest frequency
        torch.testing.assert_close(layer(x), x.mT.reshape(2, 9, 4))

    def test_is_one_for_all_blocks_of_the_encoder(self):
        model = FEDformer(3, 20, 5, encoder_blocks=4, **SMALL)
        names = [name for name, _ in model.named_parameters() if name.endswith("filter.weight")]
        assert names == ["encoder_filter.weight", "decoder_filter.weight"]


class TestFourierCross:
    def test_puts_frequencies_back_where_they_were(self):
        layer = FourierCross(12, 10, 1, heads=1, modes=1).double()
        layer.modes.fill_(4)
        y = torch.fft.rfft(layer(*(torch.randn(1, steps, 1, dtype=torch.float64) for steps in (12, 10))), dim=1)
        assert [place for place in range(7) if y[0, place].abs() > 1e-12] == [4]

    def test_is_close_to_nothing_at_the_start(self):
        layer = FourierCross(40, 30, 64, heads=8, modes=16)
        assert layer(torch.randn(2, 40, 64), torch.randn(2, 30, 64)).abs().max() < 1e-4

    def test_of_parts_has_no_poles(self):
        """The complex tanh is infinite at iπ/2; that of each part never passes 1."""
        plain, parts = (FourierCross(4, 4, 1, heads=1, modes=1, split_tanh=kind).double() for kind in (False, True))
        for layer in (plain, parts):
            layer.modes.fill_(1)
            layer.source_modes.fill_(1)
            nn.init.ones_(layer.weight)
        near_pole = torch.tensor([1.0, 0.0, -1.0, 0.0], dtype=torch.float64)[None, :, None]  # 2 at frequency 1
        query = near_pole.roll(-1, 1) * torch.pi / 8 * (1 + 1e-6)  # i π/4 there
        assert plain(query, near_pole).abs().max() > 1e4
        assert parts(query, near_pole).abs().max() < 3


def test_complex_weights_are_kept_as_reals():
    """From U(0, 1) / m² in both parts; Adam, averaging and files then need to know nothing of complex numbers."""
    model = FEDformer(3, 40, 5, model_dim=32, heads=4, ff_dim=8)
    for layer in (model.encoder_filter, model.decoder_filter, model.cross):
        assert layer.weight.shape == (len(layer.modes), 4, 8, 8, 2)
        scaled = layer.weight.detach() * 32**2
        assert 0 <= scaled.min() < 0.01
        assert 0.99 < scaled.max() <= 1
    assert all(parameter.is_floating_point() for parameter in model.parameters())


def test_biases_left_out_would_not_be_seen():
    """Of a LayerNorm before its mean over time is taken away, and of what enters a season in the encoder."""
    norm, x = CentredNorm(8).double(), torch.randn(2, 9, 8, dtype=torch.float64)
    plain = nn.LayerNorm(8).double()
    nn.init.normal_(plain.bias)
    torch.testing.assert_close(norm(x), plain(x) - plain(x).mean(1, keepdim=True))
    block, frequencies = EncoderBlock(8, 6, window=4, dropout=0.0).double(), FourierFilter(9, 8, heads=2, modes=4)
    y = block(x, frequencies.double())
    block.output.bias = nn.Parameter(torch.randn(8, dtype=torch.float64))
    torch.testing.assert_close(block(x, frequencies), y)


def test_the_decoder_sees_no_more_than_the_lookback():
    assert FEDformer(3, 96, 5, **SMALL | {"label_length": 48}).label == 48
    model = FEDformer(3, 20, 5, **SMALL | {"label_length": 48, "modes": 64})
    assert model.label == 20
    assert len(model.decoder_filter.modes) == 12
    assert model(windows(2, 20, 3).float()).shape == (2, 5, 3)


def test_starts_the_decoder_from_the_last_season_and_trend():
    model, x = FEDformer(3, 20, 5, **SMALL).double(), windows(2, 20, 3)
    season, trend = model._split(x)
    assert not season[:, 7:].any()
    torch.testing.assert_close(trend[:, 7:], x.mean(1, keepdim=True).expand(-1, 5, -1))
    torch.testing.assert_close((season + trend)[:, :7], x[:, -7:])


@pytest.mark.parametrize(
    ("sizes", "options", "message"),
    [
        ((3, 20, 5), {"modes": 0}, "modes, window and label_length must be at least 1, found 0, 24 and 48"),
        ((3, 20, 5), {"label_length": 0}, "modes, window and label_length must be at least 1, found 64, 24 and 0"),
        ((3, 20, 5), {"model_dim": 12}, "model_dim must be a multiple of heads, found 12 and 8"),
        ((3, 1, 5), {}, "a spectrum needs a lookback of at least 2, found 1: pass a longer one"),
    ],
)
def test_bad_options_are_refused(sizes, options, message):
    with pytest.raises(ConfigError, match=message):
        FEDformer(*sizes, **options)
