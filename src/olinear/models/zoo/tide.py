"""TiDE: a dense encoder and decoder, and a linear layer past them."""

from itertools import pairwise

import torch
from torch import Tensor, nn

from olinear.core import ConfigError
from olinear.models.zoo.blocks.layers import Dropout
from olinear.models.zoo.blocks.window_model import WindowModel
from olinear.nn import RevIN


class TiDE(WindowModel):
    """Residual MLPs encode each series and decode each step; a linear layer runs past them.

    A. Das, W. Kong, A. Leach, S. Mathur, R. Sen, R. Yu: Long-term Forecasting with TiDE: Time-series Dense Encoder.
    TMLR 2023, arXiv:2304.08424.

        u = Decoder(Encoder([RevIN(x), s])),     ŷ_j = RevIN⁻¹(Step(u_j) + (W RevIN(x) + b)_j),     j = 1 … h

    s is a learnt vector of each series. Encoder, Decoder and Step are residual blocks, each ending in a LayerNorm. That
    of Step has **one** value to normalise and returns only its bias, in the authors' release and in
    Time-Series-Library alike: with `step_norm=True` the forecast is the linear layer's plus one learnt number. All else
    is then idle: it is made and counted, as in the releases, but has no part in a forecast, does not learn, and is not
    computed. With `step_norm=False` all of it acts.

    Simplified: no marks of time, so the block that encodes them is left out, and their places in what the encoder and
    Step read; the deviation has RevIN's ε where the authors replace one of 0 by 1. The d features of a step lie side by
    side in u, as in Time-Series-Library; the authors have them apart, which orders the weights differently and changes
    nothing else.

    The defaults are the authors' widths for ETTh1, there with a lookback of 720; with 7 series, 96 → 96, they make
    3,810,082 parameters. The benchmark's setting `tsl` is Time-Series-Library's form: 985,708 parameters here, and
    1,184,638 there, with the 198,930 for marks. Not checked: how s starts in the release.

    Args:
        n_series, lookback, horizon: n, t, h.
        model_dim: m, the width of encoder and decoder and of their hidden layers.
        encoder_blocks, decoder_blocks: at least one each.
        decoder_dim: d, features for each step.
        step_dim: the hidden width of Step.
        dropout: of what each block adds to its linear path.
        series_dim: the length of s, which starts from U(±0.05); 0 for none.
        affine: RevIN's learnt weight and bias, one of each a series.
        step_norm: the LayerNorm of Step.
    """

    series_embedding: Tensor | None

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        model_dim: int = 512,
        encoder_blocks: int = 1,
        decoder_blocks: int = 1,
        decoder_dim: int = 32,
        step_dim: int = 16,
        dropout: float = 0.5,
        series_dim: int = 16,
        affine: bool = True,
        step_norm: bool = True,
    ):
        super().__init__(n_series, lookback, horizon)
        if min(encoder_blocks, decoder_blocks) < 1:
            raise ConfigError(
                f"encoder_blocks and decoder_blocks must be at least 1, found {encoder_blocks} and {decoder_blocks}"
            )
        self.permutes_series = not (affine or series_dim)
        self.decoder_dim = decoder_dim
        self.norm = RevIN(n_series, affine=affine)
        self.series_embedding = (
            nn.Parameter(torch.empty(n_series, series_dim).uniform_(-0.05, 0.05)) if series_dim else None
        )
        wide = [model_dim] * (encoder_blocks + decoder_blocks - 1)
        widths = [lookback + series_dim, *wide, horizon * decoder_dim]
        blocks = [DenseBlock(ins, model_dim, outs, dropout=dropout) for ins, outs in pairwise(widths)]
        self.encoder = nn.Sequential(*blocks[:encoder_blocks])
        self.decoder = nn.Sequential(*blocks[encoder_blocks:])
        self.step = DenseBlock(decoder_dim, step_dim, 1, dropout=dropout, norm=step_norm)
        self.linear = nn.Linear(lookback, horizon)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        x, stats = self.norm(x)
        y = self.linear(x.mT) + self.decode(x.mT)  # b n h
        return self.norm.inverse(y.mT, stats)  # b h n

    def decode(self, x: Tensor) -> Tensor:  # b n t
        """What the residual blocks add to the linear layer: `b n h`, or with the LayerNorm of Step one number."""
        if isinstance(self.step.norm, nn.LayerNorm):
            return self.step.norm.bias
        if self.series_embedding is not None:
            x = torch.cat([x, self.series_embedding.expand(len(x), -1, -1)], -1)  # b n t+s
        decoded = self.decoder(self.encoder(x))  # b n h·d
        return self.step(decoded.unflatten(-1, (-1, self.decoder_dim)))[..., 0]


class DenseBlock(nn.Module):
    """A hidden layer beside a linear path, and a LayerNorm of their sum: `... i -> ... o`.

        y = LayerNorm(drop(W₂ ReLU(W₁ x + b₁) + b₂) + W₃ x + b₃)

    Args:
        in_dim, hidden_dim, out_dim: i, the hidden width and o.
        dropout: of the hidden layer's result.
        norm: without it, y is the sum.
    """

    def __init__(self, in_dim: int, hidden_dim: int, out_dim: int, *, dropout: float = 0.0, norm: bool = True):
        super().__init__()
        self.hidden = nn.Sequential(
            nn.Linear(in_dim, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, out_dim), Dropout(dropout)
        )
        self.linear = nn.Linear(in_dim, out_dim)
        self.norm = nn.LayerNorm(out_dim) if norm else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:  # ... i
        return self.norm(self.hidden(x) + self.linear(x))
