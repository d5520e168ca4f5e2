"""TimeMixer: season from fine to coarse scales, trend from coarse to fine ones."""

from collections.abc import Sequence
from itertools import pairwise

from torch import Tensor, nn

from olinear.core import ConfigError
from olinear.models.zoo.blocks.layers import Dropout, circular_embedding, feed_forward
from olinear.models.zoo.blocks.scales import (
    ScaleHeads,
    ScaleNorms,
    average_matrix,
    average_scales,
    by_series,
    coarse_to_fine,
    fine_to_coarse,
    scale_lengths,
)
from olinear.models.zoo.blocks.window_model import WindowModel


class TimeMixer(WindowModel):
    """Each series alone, on several scales: seasons mix from fine to coarse, trends from coarse to fine.

    S. Wang, H. Wu, X. Shi, T. Hu, H. Luo, L. Ma, J. Y. Zhang, J. Zhou: TimeMixer: Decomposable Multiscale Mixing for
    Time Series Forecasting. ICLR 2024.

        x_0 = x,     x_{i+1} = means of two steps of x_i,     E_i = drop(Conv(RevIN_i(x_i)))
        E_0 … E_S = Blocks(E_0 … E_S),     ŷ = RevIN_0⁻¹(Σ_i ((W_i E_i + b_i) w + c))

    The forecasts of the scales are summed. There is no position term, and dropout only in the embedding.

    With 7 series, 96 → 96: 75,369 parameters. The authors' release has 75,497, printed as 0.08 M in the paper's table
    of costs: 64 more for the marks of time, and 64 in LayerNorms that it never applies. Simplified: no marks of time
    (hour, weekday, …), which the published results had; the odd last step of a scale is kept as a coarse step of its
    own, where plain pooling drops it. Not checked: lookbacks that three halvings do not divide; the published
    learning rate of 1e-2, which is reported to be unstable.

    Args:
        n_series, lookback, horizon: n, t, h. RevIN learns a weight and bias for each series.
        halvings: S, the scales below the finest.
        model_dim, ff_dim: m and f.
        blocks: L.
        window: of the moving average that splits season and trend; on coarse scales it may see mostly repeated ends.
        dropout: of the embedding.
    """

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        halvings: int = 3,
        model_dim: int = 16,
        ff_dim: int = 32,
        blocks: int = 2,
        window: int = 25,
        dropout: float = 0.1,
    ):
        super().__init__(n_series, lookback, horizon)
        self.halvings = halvings
        lengths = scale_lengths(lookback, halvings)
        self.norms = ScaleNorms(n_series, len(lengths))
        self.embed = circular_embedding(1, model_dim)
        self.dropout = Dropout(dropout)
        self.trends = MovingAverages(lengths, window)
        self.blocks = nn.ModuleList(ScaleMixing(lengths, model_dim, ff_dim) for _ in range(blocks))
        self.heads = ScaleHeads(lengths, model_dim, horizon)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        scales, stats = self.norms(average_scales(x, self.halvings))
        features = [self.dropout(self.embed(by_series(scale))).mT for scale in scales]  # b·n m t_i
        for block in self.blocks:
            features = block(features, self.trends(features))
        y = self.heads([feature.mT for feature in features]).unflatten(0, (len(x), -1))  # b n h
        return self.norms.inverse(y.mT, stats)  # b h n


class MovingAverages(nn.Module):
    """The moving average over time of each scale: `b m t_i -> b m t_i`. Nothing is learnt."""

    def __init__(self, lengths: Sequence[int], window: int):
        super().__init__()
        if window < 1:
            raise ConfigError(f"window must be at least 1, found {window}")
        for index, length in enumerate(lengths):
            self.register_buffer(f"average_{index}", average_matrix(length, window), persistent=False)

    def forward(self, scales: Sequence[Tensor]) -> list[Tensor]:  # b m t_i
        return [x @ average for x, average in zip(scales, self.buffers(), strict=True)]


class ScaleMixing(nn.Module):
    """One block: season and trend of every scale meet those of the next scale, along time: `b m t_i -> b m t_i`.

        τ_i = MA(E_i),     s_i = E_i - τ_i
        s_{i+1} = s_{i+1} + V GELU(U s_i)   from the finest scale on
        τ_i = τ_i + V' GELU(U' τ_{i+1})     from the coarsest scale on
        E_i = E_i + W₂ GELU(W₁ (s_i + τ_i))

    Each pair of scales has its own V, U (t_i -> t_{i+1}) and V', U' (t_{i+1} -> t_i); W₁ and W₂ act on the features
    and are the same on all scales.

    Args:
        lengths: t_i of the scales, finest first.
        model_dim, ff_dim: m and f.
    """

    def __init__(self, lengths: Sequence[int], model_dim: int, ff_dim: int):
        super().__init__()
        pairs = list(pairwise(lengths))
        self.season_steps = nn.ModuleList(time_step(fine, coarse) for fine, coarse in pairs)
        self.trend_steps = nn.ModuleList(time_step(coarse, fine) for fine, coarse in pairs)
        self.feed_forward = feed_forward(model_dim, ff_dim)

    def forward(self, scales: Sequence[Tensor], trends: Sequence[Tensor]) -> list[Tensor]:  # b m t_i, both
        seasons = [x - trend for x, trend in zip(scales, trends, strict=True)]
        seasons = fine_to_coarse(seasons, list(self.season_steps))
        trends = coarse_to_fine(trends, list(self.trend_steps))
        joined = zip(scales, seasons, trends, strict=True)
        return [x + self.feed_forward((season + trend).mT).mT for x, season, trend in joined]


def time_step(source: int, target: int) -> nn.Sequential:
    """V GELU(U x) along time, from the steps of one scale to those of another."""
    return nn.Sequential(nn.Linear(source, target), nn.GELU(), nn.Linear(target, target))
