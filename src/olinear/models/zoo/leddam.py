"""Leddam: a learnt decomposition, attention over series and attention within each."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core import ConfigError
from olinear.models.zoo.blocks.attention import HeadMixer
from olinear.models.zoo.blocks.averages import repeat_ends
from olinear.models.zoo.blocks.layers import Dropout, feed_forward
from olinear.models.zoo.blocks.mixers import token_mixer
from olinear.models.zoo.blocks.positions import hold_position, sinusoids
from olinear.models.zoo.blocks.window_model import WindowModel
from olinear.nn import MixerFactory, RevIN


class Leddam(WindowModel):
    """A learnt smoothing takes the main part; attention over series and within each works on the rest.

    G. Yu, J. Zou, X. Hu, A. I. Aviles-Rivero, J. Qin, S. Wang: Revitalizing Multivariate Time Series Forecasting:
    Learnable Decomposition with Inter-Series Dependencies and Intra-Series Variations Modeling. ICML 2024.

        E = W_e IN(x) + P,     M = k * E,     R = E - M
        ŷ = IN⁻¹(W_main M + W_rest (Within(R) + Across(R)))

    The convolution with k, shared by all series, and the rolls of the attention within a series run along the width m
    of the embedding, not along time, as in the authors' release. Both heads start as means over m, and a mean has no
    slope through the LayerNorm before it: the blocks learn from the second step on.

    With 7 series, 96 → 96: 1,129,206 parameters; 8,555,282 with `model_dim=512, blocks=2, learn_position=False`, which
    the paper's table of costs prints as 8.55 M. With `mixer="normlin"` the latter has 7,504,756, printed as 7.51 M.
    Dropout falls on neither attention matrix.

    Nothing was simplified. Not checked: where dropout falls with `mixer="normlin"` in the comparison with attention
    (here, as with attention, not on the matrix), and the widths of other tasks than ETTh1's, which differ.

    Args:
        n_series, lookback, horizon: n, t, h. BatchNorm and the position P `[n, m]` tie the model to its series.
        model_dim, ff_dim: m and f, 2m unless given.
        blocks: L, in each of the two branches.
        kernel: taps of k, an odd number.
        roll: the attention within a series compares its m features with themselves rolled by 0, roll, 2 roll, … < m.
        learn_position: train P, which starts as small sinusoids.
        dropout: of the branches and the hidden features of the blocks; not of the mixer's matrix.
        mixer: what mixes series: `attention` (one head), `normlin`, or a factory `mixer(n, m, dropout=0)`.
    """

    position: Tensor

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        model_dim: int = 256,
        ff_dim: int | None = None,
        blocks: int = 1,
        kernel: int = 25,
        roll: int = 64,
        learn_position: bool = True,
        dropout: float = 0.0,
        mixer: str | MixerFactory = "attention",
    ):
        super().__init__(n_series, lookback, horizon)
        ff_dim = ff_dim or 2 * model_dim
        self.norm = RevIN(n_series, affine=False)
        self.embed = nn.Linear(lookback, model_dim)
        hold_position(self, _start_position(n_series, model_dim), learnt=learn_position)
        self.smooth = Smoothing(kernel)
        self.within, self.across = nn.Sequential(), nn.Sequential()
        for _ in range(blocks):
            rolls, series = AutoAttention(model_dim, roll=roll), token_mixer(mixer, n_series, model_dim, heads=1)
            self.within.append(LeddamBlock(n_series, model_dim, ff_dim, rolls, dropout=dropout))
            self.across.append(LeddamBlock(n_series, model_dim, ff_dim, series, dropout=dropout))
        self.main_head, self.rest_head = nn.Linear(model_dim, horizon), nn.Linear(model_dim, horizon)
        for head in (self.main_head, self.rest_head):
            nn.init.constant_(head.weight, 1 / model_dim)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        x, stats = self.norm(x)
        embedded = self.embed(x.mT) + self.position  # b n m
        main = self.smooth(embedded)  # b n m
        rest = embedded - main
        rest = self.within(rest) + self.across(rest)  # b n m
        y = self.main_head(main) + self.rest_head(rest)  # b n h
        return self.norm.inverse(y.mT, stats)  # b h n


class Smoothing(nn.Module):
    """One learnt convolution along the last axis, its ends repeated: `... m -> ... m`.

        y_j = b + Σ_i k_i x_{j + i - c},     k = softmax_i(exp(-((i - c) / 2)²)),  b = 0  at the start

    c is the middle tap. The softmax of values between 0 and 1 is nearly flat: at the start this is a moving average.
    """

    def __init__(self, kernel: int):
        super().__init__()
        if kernel < 1 or kernel % 2 == 0:
            raise ConfigError(f"kernel must be odd and at least 1, found {kernel}")
        self.reach = kernel // 2
        self.convolution = nn.Conv1d(1, 1, kernel)
        offset = (torch.arange(kernel) - self.reach) / 2
        with torch.no_grad():
            self.convolution.weight.copy_(offset.square().neg().exp().softmax(0))
            nn.init.zeros_(self.convolution.bias)  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> Tensor:  # ... m
        rows = repeat_ends(x, self.reach, self.reach).flatten(0, -2)
        return self.convolution(rows[:, None]).view_as(x)


class AutoAttention(HeadMixer):
    """Attention of a vector to its own rolls: `... m -> ... m`.

    AutoAttention(x) = W_o softmax(q Kᵀ / √m) V,     q = W_q x,  K, V = W_k, W_v (x rolled left by 0, r, 2r, … < m)
    """

    def __init__(self, model_dim: int, *, roll: int = 64):
        super().__init__(model_dim, heads=1)
        if roll < 1:
            raise ConfigError(f"roll must be at least 1, found {roll}")
        self.shifts = range(0, model_dim, roll)

    def forward(self, x: Tensor) -> Tensor:  # ... m
        copies = torch.stack([x.roll(-shift, -1) for shift in self.shifts], -2)  # ... c m
        query = self.query(x)[..., None, :]  # ... 1 m
        mixed = F.scaled_dot_product_attention(query, self.key(copies), self.value(copies))  # ... 1 m
        return self.output(mixed[..., 0, :])


class LeddamBlock(nn.Module):
    """The frame of both branches: `b n m -> b n m`. BatchNorm has one mean and deviation for each series.

    a = BatchNorm_n(x + drop(mix(x))),     y = LayerNorm(a + W₂ drop(GELU(W₁ a)))
    """

    def __init__(self, n_series: int, model_dim: int, ff_dim: int, mix: nn.Module, *, dropout: float = 0.0):
        super().__init__()
        self.mix = mix
        self.series_norm = nn.BatchNorm1d(n_series)
        self.feed_forward = feed_forward(model_dim, ff_dim, dropout)
        self.norm = nn.LayerNorm(model_dim)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:  # b n m
        x = self.series_norm(x + self.dropout(self.mix(x)))
        return self.norm(x + self.feed_forward(x))


def _start_position(n_series: int, model_dim: int) -> Tensor:
    """Sinusoids of mean 0 and deviation 0.1, `[n, m]`."""
    if model_dim < 2:
        raise ConfigError(f"model_dim must be at least 2, found {model_dim}")
    position = sinusoids(n_series, model_dim)
    return (position - position.mean()) / (10 * position.std())
