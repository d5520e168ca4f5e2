"""Crossformer: attention over the segments of a series, then over series through a few routers."""

import math
from typing import Literal

import torch
from torch import Tensor, nn

from olinear.core import ConfigError
from olinear.models.zoo.blocks.attention import CrossAttention, SelfAttention
from olinear.models.zoo.blocks.averages import repeat_ends
from olinear.models.zoo.blocks.layers import Dropout, feed_forward
from olinear.models.zoo.blocks.positions import sinusoids
from olinear.models.zoo.blocks.transformer import post_norm
from olinear.models.zoo.blocks.window_model import WindowModel

Pad = Literal["front", "end"]


class Crossformer(WindowModel):
    """Segments attend within their series, series meet through routers, on several scales of time.

    Y. Zhang, J. Yan: Crossformer: Transformer Utilizing Cross-Dimension Dependency for Multivariate Time Series
    Forecasting. ICLR 2023.

        E⁰ = LayerNorm(Segments(x) W_e + P),     E¹ = TSA(E⁰),     Eˡ⁺¹ = TSA(Merge(Eˡ))
        Dˡ, Yˡ = Decode(Dˡ⁻¹, Eˡ),     ŷ = Y⁰ + … + Yᴸ

    The decoder starts from a learnt array D `[n, ⌈h/p⌉, m]`. Nothing is normalised, as published: where the level of
    the series has moved since training, forecasts are poor. P, D and the routers start from N(0, 1).

    The defaults are the authors' widths for ETTh1 (they forecast 24 steps from 168); the benchmark's setting `tsl` is
    the other form in use, Time-Series-Library's. With 7 series, 96 → 96: 11,370,776 parameters; 42,176,036 in that
    form. Dropout falls on the attention matrices and the branches, not on hidden features or the decoder's last branch.
    Nothing was simplified. Not checked: which of the two forms, at which learning rate, made the published results.

    Args:
        n_series, lookback, horizon: n, t, h. Positions tie the model to its series.
        segment_length: p. Where it does not divide the lookback, an end is repeated (`pad`).
        model_dim, ff_dim: m and f.
        blocks: L, the scales of the encoder; each after the first joins two neighbouring segments.
        heads: H.
        routers: c, through which series meet.
        dropout: of the attention matrices and the branches.
        add_mean: forecast what is added to the window's mean, an option of the authors'.
        pad: repeat the first value at the `front`, or the last one at the `end`.
        embed_bias: of the map W_e of a segment.
        sinusoidal: add fixed sinusoids to the learnt positions.
    """

    waves: Tensor | None

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        segment_length: int = 6,
        model_dim: int = 256,
        ff_dim: int = 512,
        blocks: int = 3,
        heads: int = 4,
        routers: int = 10,
        dropout: float = 0.2,
        add_mean: bool = False,
        pad: Pad = "front",
        embed_bias: bool = True,
        sinusoidal: bool = False,
    ):
        super().__init__(n_series, lookback, horizon)
        _check(segment_length, blocks, routers, pad)
        self.segment_length, self.pad, self.add_mean = segment_length, pad, add_mean
        segments, ahead = math.ceil(lookback / segment_length), math.ceil(horizon / segment_length)
        self.embed = nn.Linear(segment_length, model_dim, bias=embed_bias)
        self.position = nn.Parameter(torch.randn(n_series, segments, model_dim))
        self.register_buffer("waves", sinusoids(segments, model_dim) if sinusoidal else None, persistent=False)
        self.norm = nn.LayerNorm(model_dim)
        self.start = nn.Parameter(torch.randn(n_series, ahead, model_dim))

        def two_stages(count: int) -> TwoStageAttention:
            return TwoStageAttention(count, model_dim, ff_dim, heads=heads, routers=routers, dropout=dropout)

        self.encoder = nn.ModuleList([two_stages(segments)])
        for _ in range(blocks - 1):
            segments = math.ceil(segments / 2)
            self.encoder.append(nn.Sequential(SegmentMerge(model_dim), two_stages(segments)))
        self.decoder = nn.ModuleList(
            DecoderBlock(two_stages(ahead), model_dim, segment_length, heads=heads, dropout=dropout)
            for _ in range(blocks + 1)
        )

    def forward(self, x: Tensor) -> Tensor:  # b t n
        embedded = self.embed(self.cut(x.mT)) + self.position  # b n s m
        if self.waves is not None:
            embedded = embedded + self.waves
        states = [self.norm(embedded)]
        for block in self.encoder:
            states.append(block(states[-1]))
        tokens = self.start.repeat(len(x), 1, 1, 1)  # b n k m: PyTorch's counter of operations trips over a view of it
        parts = []
        for layer, state in zip(self.decoder, states, strict=True):
            tokens, part = layer(tokens, state)
            parts.append(part)  # b n k p
        y = torch.stack(parts).sum(0).flatten(-2)[..., : self.horizon].mT  # b h n
        return y + x.mean(1, keepdim=True) if self.add_mean else y

    def cut(self, x: Tensor) -> Tensor:  # ... t -> ... s p
        """Segments of p steps, the first or last value repeated to fill them."""
        missing = -x.shape[-1] % self.segment_length
        filled = repeat_ends(x, missing, 0) if self.pad == "front" else repeat_ends(x, 0, missing)
        return filled.unflatten(-1, (-1, self.segment_length))


class TwoStageAttention(nn.Module):
    """TSA: over the segments of each series, then over the series of each segment: `b n s m -> b n s m`.

        x = Post(FFN, Post(attention, x)) over s,     x = Post(FFN, Post(routers, x)) over n
        Post(f, x) = LayerNorm(x + drop(f(x)))

    Args:
        segments, model_dim, ff_dim: s, m, f.
        heads, routers: H and c.
        dropout: of the attention matrices and the branches.
    """

    def __init__(self, segments: int, model_dim: int, ff_dim: int, *, heads: int, routers: int, dropout: float):
        super().__init__()
        attention = SelfAttention(model_dim, heads=heads, dropout=dropout)
        through = RouterAttention(segments, model_dim, heads=heads, routers=routers, dropout=dropout)
        self.time, self.series = (
            nn.Sequential(
                post_norm(model_dim, mix, dropout), post_norm(model_dim, feed_forward(model_dim, ff_dim), dropout)
            )
            for mix in (attention, through)
        )

    def forward(self, x: Tensor) -> Tensor:  # b n s m
        return self.series(self.time(x).transpose(1, 2)).transpose(1, 2)


class RouterAttention(nn.Module):
    """Series meet through a few learnt routers of their segment, at a cost that grows with n·c, not n².

        B = Attention(queries R, keys and values x),     y = Attention(queries x, keys and values B)

    `b s n m -> b s n m`; R `[s, c, m]` starts from N(0, 1).
    """

    def __init__(self, segments: int, model_dim: int, *, heads: int, routers: int, dropout: float):
        super().__init__()
        self.routers = nn.Parameter(torch.randn(segments, routers, model_dim))
        self.gather, self.spread = (CrossAttention(model_dim, heads=heads, dropout=dropout) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:  # b s n m
        return self.spread(x, self.gather(self.routers, x))


class SegmentMerge(nn.Module):
    """Two neighbouring segments become one, the last of an odd number with itself: `... s m -> ... ⌈s/2⌉ m`.

    y_j = W LayerNorm([x_{2j}, x_{2j+1}])
    """

    def __init__(self, model_dim: int):
        super().__init__()
        self.norm = nn.LayerNorm(2 * model_dim)
        self.linear = nn.Linear(2 * model_dim, model_dim)

    def forward(self, x: Tensor) -> Tensor:  # ... s m
        if x.shape[-2] % 2:
            x = torch.cat([x, x[..., -1:, :]], -2)
        return self.linear(self.norm(x.unflatten(-2, (-1, 2)).flatten(-2)))


class DecoderBlock(nn.Module):
    """The forecast's segments meet each other, then those of the lookback on one scale.

        x = TSA(x),     x = LayerNorm(x + drop(CrossAttention(x, E))),     x = LayerNorm(x + FFN(x)),     Y = W x

    `b n k m, b n s m -> b n k m, b n k p`; the FFN keeps the width m.
    """

    def __init__(self, two_stages: nn.Module, model_dim: int, segment_length: int, *, heads: int, dropout: float):
        super().__init__()
        self.two_stages = two_stages
        self.cross = CrossAttention(model_dim, heads=heads, dropout=dropout)
        self.cross_norm = nn.LayerNorm(model_dim)
        self.dropout = Dropout(dropout)
        self.feed_forward = post_norm(model_dim, feed_forward(model_dim, model_dim), 0.0)
        self.output = nn.Linear(model_dim, segment_length)

    def forward(self, x: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:  # b n k m, b n s m
        x = self.two_stages(x)
        x = self.feed_forward(self.cross_norm(x + self.dropout(self.cross(x, state))))
        return x, self.output(x)


def _check(segment_length: int, blocks: int, routers: int, pad: str) -> None:
    if min(segment_length, blocks, routers) < 1:
        raise ConfigError(
            f"segment_length, blocks and routers must be at least 1, found {segment_length}, {blocks} and {routers}"
        )
    if pad not in ("front", "end"):
        raise ConfigError(f"pad must be 'front' or 'end', found {pad!r}")
