"""TimeMixer++: images of every scale, attention along both of their axes."""

from collections.abc import Sequence
from functools import partial
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core import ConfigError
from olinear.models.zoo.blocks.attention import SelfAttention
from olinear.models.zoo.blocks.layers import Dropout, circular_embedding
from olinear.models.zoo.blocks.periods import ImageMixer, check_top_k, fold, strongest_periods, unfold
from olinear.models.zoo.blocks.scales import (
    ConvolvedScales,
    Ensemble,
    ScaleHeads,
    ScaleNorms,
    average_scales,
    by_series,
    coarse_to_fine,
    fine_to_coarse,
    scale_lengths,
)
from olinear.models.zoo.blocks.window_model import WindowModel

Halving = Literal["convolution", "average"]
SeasonAxis = Literal["within", "across"]


class TimeMixerPP(WindowModel):
    """Every scale folded by the same periods: attention splits season and trend, convolutions mix scales.

    S. Wang, J. Li, X. Shi, Z. Ye, B. Mo, W. Lin, S. Ju, Z. Chu, M. Jin: TimeMixer++: A General Time Series Pattern
    Machine for Universal Predictive Analysis. ICLR 2025.

        x_0 = x,     x_{i+1} = Conv₂(x_i),     z_i = RevIN_i(x_i),     z_S = z_S + Attention_n(z_S)
        E_i = drop(Conv(z_i)),     E_0 … E_S = Blocks(E_0 … E_S),     ŷ = RevIN_0⁻¹(Σ_i ((W_i E_i + b_i) w + c))

    The series meet only in the attention over the rows of the coarsest scale. A forecast depends on the other windows
    of its batch: the k periods are those of the coarsest scale's spectrum, averaged over all series and windows. A
    window forecast alone has its own.

    With 7 series, 96 → 96: 1,196,528 parameters; the paper's table of costs prints 1.19 M: at least
    1,529 of ours were not there.

    No release is maintained, and much of this is uncertain. By arguments: how scales are halved, how often, k, whether
    RevIN is affine, the axes of season and trend, the heads of the attention over series, sum or mean of the scales.
    As chosen here: one halving convolution for all halvings; one LayerNorm a block, for all scales; zeros that fill up
    an image take part in attention; transposed convolutions start like the others; dropout in the embedding only. The
    setting on ETTh1 (k, S, rate, epochs) is unknown: the published errors are a target, not something reproduced. A
    public code is said to return the coarsest scale's forecast alone; here all count, as in the paper.

    What the halving convolution does to level and scale cancels in RevIN, whose statistics carry gradient where it made
    the window: neither pulls at its weights. Simplified: no marks of time (hour, weekday, …); whether
    the published runs had them is uncertain.

    Args:
        n_series, lookback, horizon: n, t, h.
        halvings: S, the scales below the finest, at least 1.
        halving: `convolution`, learnt, or `average`.
        affine: RevIN's learnt weight and bias, one of each a series and scale.
        model_dim, ff_dim: m and f.
        blocks: L.
        top_k: k; all frequencies, where the coarsest scale has fewer.
        kernels: convolutions of an Inception layer, of sizes 1, 3, 5, …
        heads: of the attention over series, whose width is the coarsest scale's length.
        season_axis: `within`, as in the paper: the season's attention is within each period, the trend's across the
            periods; `across`, as in code derived from the authors': the other way round.
        ensemble: `sum` or `mean` of the scales' forecasts.
        dropout: of the embedding.
    """

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        halvings: int = 3,
        halving: Halving = "convolution",
        affine: bool = True,
        model_dim: int = 16,
        ff_dim: int = 32,
        blocks: int = 2,
        top_k: int = 3,
        kernels: int = 6,
        heads: int = 1,
        season_axis: SeasonAxis = "within",
        ensemble: Ensemble = "sum",
        dropout: float = 0.1,
    ):
        super().__init__(n_series, lookback, horizon)
        check_top_k(top_k)
        if halvings < 1:
            raise ConfigError(f"halvings must be at least 1, found {halvings}: with one scale there is nothing to mix")
        lengths = scale_lengths(lookback, halvings, shortest=2)  # one step has no period
        self.permutes_series = not affine
        self.scales = _make_halving(halving, halvings)
        self.norms = ScaleNorms(n_series, len(lengths), affine=affine, learnt=halving == "convolution")
        if lengths[-1] % heads:
            raise ConfigError(f"heads must divide the {lengths[-1]} steps of the coarsest scale, found {heads}")
        self.series_attention = SelfAttention(lengths[-1], heads=heads)
        self.embed = circular_embedding(1, model_dim)
        self.dropout = Dropout(dropout)
        self.blocks = nn.ModuleList(
            ScaleImageBlock(model_dim, ff_dim, top_k=top_k, kernels=kernels, season_axis=season_axis)
            for _ in range(blocks)
        )
        self.heads = ScaleHeads(lengths, model_dim, horizon, ensemble=ensemble)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        scales, stats = self.norms(self.scales(x))
        scales[-1] = scales[-1] + self.series_attention(scales[-1].mT).mT  # b t_S n
        features = [self.dropout(self.embed(by_series(scale))).contiguous() for scale in scales]  # b·n t_i m
        for block in self.blocks:
            features = block(features)
        y = self.heads(features).unflatten(0, (len(x), -1))  # b n h
        return self.norms.inverse(y.mT, stats)  # b h n


class ScaleImageBlock(nn.Module):
    """One block: the images of all scales, by each of the k periods of the coarsest: `b t_i m -> b t_i m`.

        Z_i = Fold(E_i),     s_i = Attention_1(Z_i),     τ_i = Attention_2(Z_i)
        s_{i+1} = s_{i+1} + Down(s_i)   from the finest scale on
        τ_i = τ_i + Up(τ_{i+1})         from the coarsest scale on
        E_i = LayerNorm(E_i + Σ_periods weight · Unfold(s_i + τ_i))

    The two attentions run along the two axes of the image. Down and Up are Inception, GELU, Inception, and halve or
    double the rows: half as many steps of the same period. All scales and periods share them.

    Args:
        model_dim, ff_dim: m and f.
        top_k: k, the number of periods.
        kernels: convolutions of an Inception layer.
        season_axis: the season's attention is `within` a period, the trend's across periods; or the season's `across`.
    """

    def __init__(self, model_dim: int, ff_dim: int, *, top_k: int, kernels: int, season_axis: SeasonAxis):
        super().__init__()
        if season_axis not in ("within", "across"):
            raise ConfigError(f"season_axis must be 'within' or 'across', found {season_axis!r}")
        self.top_k, self.season_axis = top_k, season_axis
        self.season_attention = AxisAttention(model_dim, ff_dim)
        self.trend_attention = AxisAttention(model_dim, ff_dim)
        self.season_mixer = ImageMixer(model_dim, ff_dim, kernels=kernels, rows="halve")
        self.trend_mixer = ImageMixer(model_dim, ff_dim, kernels=kernels, rows="double")
        self.norm = nn.LayerNorm(model_dim)

    def forward(self, scales: Sequence[Tensor]) -> list[Tensor]:  # b t_i m
        down, up = self.season_mixer.merged(), self.trend_mixer.merged()
        sums = list(scales)
        for period, weight in strongest_periods(scales[-1], self.top_k).items():
            parts = [self.split(fold(x, period)) for x in scales]  # b r_i p m
            seasons = fine_to_coarse([season for season, _ in parts], [down] * (len(parts) - 1))
            ups = [partial(up, rows=trend.shape[1]) for _, trend in parts[:-1]]
            trends = coarse_to_fine([trend for _, trend in parts], ups)
            for index, (season, trend) in enumerate(zip(seasons, trends, strict=True)):
                mixed = unfold(season + trend, scales[index].shape[1])  # b t_i m
                sums[index] = torch.addcmul(sums[index], mixed, weight[:, None, None])
        return [self.norm(x) for x in sums]

    def split(self, image: Tensor) -> tuple[Tensor, Tensor]:  # b r p m
        """Season and trend of an image."""
        turned = image.transpose(1, 2)  # b p r m
        if self.season_axis == "within":
            return self.season_attention(image), self.trend_attention(turned).transpose(1, 2)
        return self.season_attention(turned).transpose(1, 2), self.trend_attention(image)


class AxisAttention(nn.Module):
    """Attention along the last axis but one, beside its input: `... k m -> ... k m`.

        y = x + γ softmax(Q Kᵀ) V,     Q, K = W_q x, W_k x of width f,  V = W_v x of width m

    The products are not scaled by the width. γ starts at 0: at first there is only the input.
    """

    def __init__(self, model_dim: int, ff_dim: int):
        super().__init__()
        self.query, self.key = nn.Linear(model_dim, ff_dim), nn.Linear(model_dim, ff_dim)
        self.value = nn.Linear(model_dim, model_dim)
        self.gate = nn.Parameter(torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:  # ... k m
        return x + self.gate * F.scaled_dot_product_attention(self.query(x), self.key(x), self.value(x), scale=1.0)


def _make_halving(kind: str, halvings: int) -> nn.Module | partial[list[Tensor]]:
    if kind == "convolution":
        return ConvolvedScales(halvings)
    if kind == "average":
        return partial(average_scales, halvings=halvings)
    raise ConfigError(f"halving must be 'convolution' or 'average', found {kind!r}")
