"""FEDformer: seasons are mixed by chosen frequencies, trends are carried beside them."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core import ConfigError
from olinear.models.zoo.blocks.attention import head_width, split_heads
from olinear.models.zoo.blocks.averages import decompose
from olinear.models.zoo.blocks.layers import CircularConvolution, Dropout, circular_embedding, feed_forward
from olinear.models.zoo.blocks.positions import sinusoids
from olinear.models.zoo.blocks.spectra import as_complex
from olinear.models.zoo.blocks.window_model import WindowModel


class FEDformer(WindowModel):
    """An encoder and a decoder that mix time by a few frequencies and set its trend aside (Fourier form).

    T. Zhou, Z. Ma, Q. Wen, X. Wang, L. Sun, R. Jin: FEDformer: Frequency Enhanced Decomposed Transformer for Long-term
    Series Forecasting. ICML 2022.

        S⁰, T⁰ = [season(x) last 48, 0 … 0], [trend(x) last 48, mean(x) … mean(x)]
        E = Norm(Encoder(embed(x))),     S, T = Decoder(embed(S⁰), E) + (0, T⁰),     ŷ = last h of W Norm(S) + b + T

    Nothing is normalised at the ends; `Norm` is LayerNorm without its mean over time. The frequencies are drawn at
    random when the model is made and kept in its state. All blocks of the encoder share the matrices of its
    frequencies, those of the decoder likewise. The defaults are the authors' setting for ETTh1; Time-Series-Library's
    form is `modes=32, split_tanh=True, sinusoidal=True`.

    With 7 series, 96 → 96: 20,225,543 real parameters, 14,458,375 with each complex one counted once. The release
    counts 16,303,111 (16.3 M) in this way, 22,070,279 as reals: with 4,096 for the marks of time, 1,838,592 in key and
    value maps that it never uses, and 2,048 biases that do not reach a forecast in evaluation (those before a mean over
    time is taken away: LayerNorms, and the outputs of the encoder's frequencies), which are all left out here.
    Simplified: no marks of time (hour, weekday, …), which the published results had, and which were all that told the
    steps of the horizon apart: `sinusoidal=True` gives them positions instead. Not checked: several decoder blocks,
    which the authors do not use.

    Args:
        n_series, lookback, horizon: n, t, h.
        model_dim, ff_dim: m and f.
        encoder_blocks, decoder_blocks: how many of each.
        heads: H.
        modes: frequencies drawn, at most half of the steps they describe.
        window: of the moving average that is the trend.
        label_length: steps of the lookback that the decoder sees before the forecast; all where there are fewer.
        dropout: of the embeddings, the branches and the hidden features.
        split_tanh: tanh of real and imaginary parts apart instead of the complex function, which has poles.
        sinusoidal: add fixed positions to the embeddings.
    """

    waves: Tensor | None

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        model_dim: int = 512,
        ff_dim: int = 2048,
        encoder_blocks: int = 2,
        decoder_blocks: int = 1,
        heads: int = 8,
        modes: int = 64,
        window: int = 24,
        label_length: int = 48,
        dropout: float = 0.05,
        split_tanh: bool = False,
        sinusoidal: bool = False,
    ):
        super().__init__(n_series, lookback, horizon)
        _check(lookback, modes, window, label_length)
        self.window, self.label = window, min(label_length, lookback)
        steps = self.label + horizon
        self.embed_lookback, self.embed_season = (circular_embedding(n_series, model_dim) for _ in range(2))
        waves = sinusoids(max(lookback, steps), model_dim) if sinusoidal else None
        self.register_buffer("waves", waves, persistent=False)
        self.dropout = Dropout(dropout)
        self.encoder_filter = FourierFilter(lookback, model_dim, heads=heads, modes=modes)
        self.decoder_filter = FourierFilter(steps, model_dim, heads=heads, modes=modes)
        self.cross = FourierCross(steps, lookback, model_dim, heads=heads, modes=modes, split_tanh=split_tanh)
        self.encoder = nn.ModuleList(
            EncoderBlock(model_dim, ff_dim, window=window, dropout=dropout) for _ in range(encoder_blocks)
        )
        self.decoder = nn.ModuleList(
            DecoderBlock(n_series, model_dim, ff_dim, window=window, dropout=dropout) for _ in range(decoder_blocks)
        )
        self.encoder_norm, self.decoder_norm = CentredNorm(model_dim), CentredNorm(model_dim)
        self.output = nn.Linear(model_dim, n_series)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        state = self._embed(self.embed_lookback, x)  # b t m
        for block in self.encoder:
            state = block(state, self.encoder_filter)
        state = self.encoder_norm(state)
        season, trend = self._split(x)  # b l+h n
        tokens = self._embed(self.embed_season, season)  # b l+h m
        for block in self.decoder:
            tokens, removed = block(tokens, state, self.decoder_filter, self.cross)
            trend = trend + removed
        return (self.output(self.decoder_norm(tokens)) + trend)[:, -self.horizon :]  # b h n

    def _embed(self, layer: nn.Module, x: Tensor) -> Tensor:  # b k n -> b k m
        embedded = layer(x)
        return self.dropout(embedded if self.waves is None else embedded + self.waves[: x.shape[1]])

    def _split(self, x: Tensor) -> tuple[Tensor, Tensor]:  # b t n -> twice b l+h n
        """What the decoder starts from: the lookback's last season and zeros, its last trend and the mean."""
        season, trend = (part[:, x.shape[1] - self.label :] for part in _decompose(x, self.window))
        ahead = x.mean(1, keepdim=True).expand(-1, self.horizon, -1)
        return F.pad(season, (0, 0, 0, self.horizon)), torch.cat([trend, ahead], 1)


class FourierFilter(nn.Module):
    """FEB: each chosen frequency of a head times a complex matrix of its own: `b k m -> b k m`.

        Y_j = X_{f_j} W_j,     y = IFFT(Y_0, Y_1, …)     f_0 < f_1 < … chosen,  d·d matrices W_j

    Two things as in the release: the j-th chosen frequency is written to frequency j, which is another one where not
    all are chosen, and the result `[H, d, k]` is read on as `[k, m]` without turning it.

    Args:
        steps, model_dim, heads: k, m, H.
        modes: how many frequencies are chosen.
    """

    modes: Tensor

    def __init__(self, steps: int, model_dim: int, *, heads: int, modes: int):
        super().__init__()
        self.heads = heads
        self.register_buffer("modes", choose_modes(steps, modes))
        self.weight = _complex_weights(len(self.modes), model_dim, heads)

    def forward(self, x: Tensor) -> Tensor:  # b k m
        chosen = spectrum_of(x, self.heads, self.weight).index_select(-1, self.modes)  # b H d f
        signal = torch.fft.irfft(_multiply(chosen, self.weight), n=x.shape[1])  # b H d k
        return signal.reshape(x.shape)


class FourierCross(nn.Module):
    """FEA: chosen frequencies of the decoder attend to those of the encoder: `b k m, b t m -> b k m`.

        A = tanh(Qᵀ K),     Y_{f_j} = Σ_i A_ji K_i W_j / m²,     y = IFFT(Y)     Q, K at the chosen frequencies

    Complex throughout and without a conjugate; the keys are their own values. The result is read on unturned, as
    FourierFilter's is, but each frequency goes back to its own place.

    Args:
        steps, source_steps, model_dim, heads: k, t, m, H.
        modes: how many frequencies are chosen, of each side.
        split_tanh: tanh of real and imaginary parts apart.
    """

    modes: Tensor
    source_modes: Tensor

    def __init__(
        self, steps: int, source_steps: int, model_dim: int, *, heads: int, modes: int, split_tanh: bool = False
    ):
        super().__init__()
        self.heads, self.split_tanh = heads, split_tanh
        self.register_buffer("modes", choose_modes(steps, modes))
        self.register_buffer("source_modes", choose_modes(source_steps, modes))
        self.weight = _complex_weights(len(self.modes), model_dim, heads)

    def forward(self, query: Tensor, key: Tensor) -> Tensor:  # b k m, b t m
        queries = spectrum_of(query, self.heads, self.weight)  # b H d k/2+1
        keys = spectrum_of(key, self.heads, self.weight).index_select(-1, self.source_modes)  # b H d g
        scores = queries.index_select(-1, self.modes).mT @ keys  # b H f g
        scores = torch.complex(scores.real.tanh(), scores.imag.tanh()) if self.split_tanh else scores.tanh()
        mixed = _multiply(keys @ scores.mT, self.weight) / query.shape[-1] ** 2  # b H d f
        spectrum = torch.zeros_like(queries).index_copy(-1, self.modes, mixed)
        return torch.fft.irfft(spectrum, n=query.shape[1]).reshape(query.shape)


class EncoderBlock(nn.Module):
    """A season passed through the frequencies and a feed-forward layer; trends are dropped: `b t m -> b t m`.

    x = season(x + drop(W_o FEB(W_q x))),     x = season(x + drop(W₂ drop(GELU(W₁ x))))
    """

    def __init__(self, model_dim: int, ff_dim: int, *, window: int, dropout: float):
        super().__init__()
        self.window = window
        self.query = nn.Linear(model_dim, model_dim)
        self.output = nn.Linear(model_dim, model_dim, bias=False)  # a bias is trend
        self.feed_forward = feed_forward(model_dim, ff_dim, dropout, bias=False)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, frequencies: FourierFilter) -> Tensor:  # b t m
        x, _ = _decompose(x + self.dropout(self.output(frequencies(self.query(x)))), self.window)
        x, _ = _decompose(x + self.dropout(self.feed_forward(x)), self.window)
        return x


class DecoderBlock(nn.Module):
    """A season passed through its frequencies, the encoder's and a feed-forward layer; its trends are handed on.

        x, T₁ = split(x + drop(W_o FEB(W_q x))),     x, T₂ = split(x + drop(W_c FEA(W_r x, W_k E)))
        x, T₃ = split(x + drop(W₂ drop(GELU(W₁ x)))),     T = conv(T₁ + T₂ + T₃)

    `b k m, b t m -> b k m, b k n`
    """

    def __init__(self, n_series: int, model_dim: int, ff_dim: int, *, window: int, dropout: float):
        super().__init__()
        self.window = window
        self.query, self.output = nn.Linear(model_dim, model_dim), nn.Linear(model_dim, model_dim)
        self.cross_query, self.cross_key, self.cross_output = (nn.Linear(model_dim, model_dim) for _ in range(3))
        self.feed_forward = feed_forward(model_dim, ff_dim, dropout, bias=False)
        self.trend = CircularConvolution(model_dim, n_series)
        self.dropout = Dropout(dropout)

    def forward(
        self, x: Tensor, state: Tensor, frequencies: FourierFilter, cross: FourierCross
    ) -> tuple[Tensor, Tensor]:  # b k m, b t m
        x, first = _decompose(x + self.dropout(self.output(frequencies(self.query(x)))), self.window)
        mixed = self.cross_output(cross(self.cross_query(x), self.cross_key(state)))
        x, second = _decompose(x + self.dropout(mixed), self.window)
        x, third = _decompose(x + self.dropout(self.feed_forward(x)), self.window)
        return x, self.trend(first + second + third)


class CentredNorm(nn.LayerNorm):
    """LayerNorm of the width, then without its mean over time, which takes a bias away too: `b k m -> b k m`."""

    def __init__(self, model_dim: int):
        super().__init__(model_dim, bias=False)

    def forward(self, x: Tensor) -> Tensor:  # b k m
        normed = super().forward(x)
        return normed - normed.mean(1, keepdim=True)


def choose_modes(steps: int, modes: int) -> Tensor:
    """Some of the frequencies 0 … ⌊steps/2⌋ - 1 at random, in rising order: all where there are no more than asked."""
    return torch.randperm(steps // 2)[:modes].sort().values


def spectrum_of(x: Tensor, heads: int, weight: Tensor) -> Tensor:  # b k m -> b H d k/2+1
    """The frequencies of each feature, by heads, in the precision of `weight`: there is no complex bfloat16."""
    return torch.fft.rfft(split_heads(x, heads).mT.to(weight.dtype))


def _complex_weights(modes: int, model_dim: int, heads: int) -> nn.Parameter:
    """U(0, 1) / m² in real and imaginary parts, kept apart on the last axis: `[f, H, d, d, 2]`."""
    width = head_width(model_dim, heads)
    return nn.Parameter(torch.rand(modes, heads, width, width, 2) / model_dim**2)


def _multiply(x: Tensor, weight: Tensor) -> Tensor:  # b H d f
    return torch.einsum("bhif,fhio->bhof", x, as_complex(weight))


def _decompose(x: Tensor, window: int) -> tuple[Tensor, Tensor]:  # b t m
    """Season and trend over the second axis."""
    season, trend = decompose(x.mT, window)
    return season.mT, trend.mT


def _check(lookback: int, modes: int, window: int, label_length: int) -> None:
    if min(modes, window, label_length) < 1:
        raise ConfigError(
            f"modes, window and label_length must be at least 1, found {modes}, {window} and {label_length}"
        )
    if lookback < 2:
        raise ConfigError(f"a spectrum needs a lookback of at least 2, found {lookback}: pass a longer one")
