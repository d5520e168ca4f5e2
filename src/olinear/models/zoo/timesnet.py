"""TimesNet: convolutions over windows folded by their periods."""

import torch
from torch import Tensor, nn

from olinear.models.zoo.blocks.layers import Dropout, circular_embedding
from olinear.models.zoo.blocks.periods import ImageMixer, check_top_k, fold, strongest_periods, unfold
from olinear.models.zoo.blocks.positions import sinusoids
from olinear.models.zoo.blocks.window_model import WindowModel
from olinear.nn import RevIN


class TimesNet(WindowModel):
    """Features are folded into images, one period a row, and convolved along and across the periods.

    H. Wu, T. Hu, Y. Liu, H. Zhou, J. Wang, M. Long: TimesNet: Temporal 2D-Variation Modeling for General Time Series
    Analysis. ICLR 2023.

        H⁰ = W drop(Conv(IN(x)) + P) + b,     Hˡ⁺¹ = LayerNorm(Block(Hˡ)),     ŷ = IN⁻¹(W_o Hᴸ + b_o)

    W extends the features from t to t + h steps; the last h of them are the forecast. One LayerNorm serves all blocks.

    A forecast depends on the other windows of its batch: the k strongest frequencies are those of the batch's mean
    spectrum, in training and afterwards. A window forecast alone has its own; the same window in another batch, or in
    batches of another size, may be folded by other periods.

    With 7 series, 96 → 96: 605,415 parameters; 299,939,015 with `model_dim=512, ff_dim=512`, which the paper's table
    of costs prints as 299.94 M. Time-Series-Library's have 605,479 and 299,941,063, with the marks of time. Simplified:
    no marks of time (hour, weekday, …), which the published results had. Computed as one convolution: each mean of six
    (see `Inception`), and frequencies of the same period. Not checked: settings other than ETTh1's.
    Before training, the periods are those of a random W: results may depend on the seed more than others'. The script
    of Time-Series-Library is reported to end at 0.389 on ETTh1, 96 → 96, with marks and windows tested alone.

    Args:
        n_series, lookback, horizon: n, t, h.
        model_dim, ff_dim: m and f.
        blocks: L.
        top_k: k; all frequencies, where t + h steps have fewer.
        kernels: convolutions of an Inception layer, of sizes 1, 3, 5, …
        dropout: of the embedding.
    """

    position: Tensor

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        model_dim: int = 16,
        ff_dim: int = 32,
        blocks: int = 2,
        top_k: int = 5,
        kernels: int = 6,
        dropout: float = 0.1,
    ):
        super().__init__(n_series, lookback, horizon)
        check_top_k(top_k)
        self.norm = RevIN(n_series, affine=False)
        self.embed = circular_embedding(n_series, model_dim)
        self.register_buffer("position", sinusoids(lookback, model_dim), persistent=False)
        self.dropout = Dropout(dropout)
        self.extend = nn.Linear(lookback, lookback + horizon)
        self.blocks = nn.ModuleList(PeriodBlock(model_dim, ff_dim, top_k=top_k, kernels=kernels) for _ in range(blocks))
        self.block_norm = nn.LayerNorm(model_dim)
        self.project = nn.Linear(model_dim, n_series)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        x, stats = self.norm(x)
        features = self.dropout(self.embed(x) + self.position)  # b t m
        features = self.extend(features.mT).mT.contiguous()  # b t+h m
        for block in self.blocks:
            features = self.block_norm(block(features))
        y = self.project(features[:, -self.horizon :])  # b h n
        return self.norm.inverse(y, stats)


class PeriodBlock(nn.Module):
    """Convolutions over the images of the strongest periods, summed with the weights of these: `b t m -> b t m`.

        y = x + Σ_j weight_j · Unfold(Inception(GELU(Inception(Fold_j(x)))))

    The images share the two Inception layers. Periods and weights: see `strongest_periods`.

    Args:
        model_dim, ff_dim: m and f.
        top_k: k, the number of periods.
        kernels: convolutions of an Inception layer.
    """

    def __init__(self, model_dim: int, ff_dim: int, *, top_k: int, kernels: int):
        super().__init__()
        self.top_k = top_k
        self.mixer = ImageMixer(model_dim, ff_dim, kernels=kernels)

    def forward(self, x: Tensor) -> Tensor:  # b t m
        y, mix = x, self.mixer.merged()
        for period, weight in strongest_periods(x, self.top_k).items():
            mixed = unfold(mix(fold(x, period)), x.shape[1])  # b t m
            y = torch.addcmul(y, mixed, weight[:, None, None])
        return y
