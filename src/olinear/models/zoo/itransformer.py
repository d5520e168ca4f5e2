"""iTransformer: attention over series."""

from torch import Tensor, nn

from olinear.models.zoo.blocks.layers import Dropout
from olinear.models.zoo.blocks.mixers import permutes_tokens
from olinear.models.zoo.blocks.transformer import encoder_block
from olinear.models.zoo.blocks.window_model import WindowModel
from olinear.nn import MixerFactory, RevIN


class ITransformer(WindowModel):
    """Each series is a token; attention mixes them.

    Y. Liu, T. Hu, H. Zhang, H. Wu, S. Wang, L. Ma, M. Long: iTransformer: Inverted Transformers Are Effective for Time
    Series Forecasting. ICLR 2024.

        H⁰ = W_e IN(x),     Hˡ⁺¹ = Block(Hˡ),     ŷ = IN⁻¹(W_d LayerNorm(Hᴸ))

    Simplified: no tokens for the marks of time (hour, weekday, …), which the published ETT results had. The defaults
    are the authors' setting for ETTh1. Not checked: the pair of the paper's table of costs with and without NormLin,
    whose counts are those of three blocks of width 512 (4.83 M) and of two (2.21 M).

    Args:
        n_series, lookback, horizon: n, t, h.
        model_dim, ff_dim: m and f.
        blocks, heads: L and H.
        dropout: of the embedding, the blocks and the attention matrix.
        mixer: `attention`, `normlin` (which learns a weight for each pair of series, so their order counts), another
            of `TOKEN_MIXERS`, or a factory `mixer(n, m, dropout=p)`.
    """

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        model_dim: int = 256,
        ff_dim: int | None = None,
        blocks: int = 2,
        heads: int = 8,
        dropout: float = 0.1,
        mixer: str | MixerFactory = "attention",
    ):
        super().__init__(n_series, lookback, horizon)
        self.permutes_series = permutes_tokens(mixer)
        self.norm = RevIN(n_series, affine=False)
        self.embed = nn.Linear(lookback, model_dim)
        self.dropout = Dropout(dropout)
        self.blocks = nn.Sequential(
            *(
                encoder_block(n_series, model_dim, ff_dim or model_dim, mixer=mixer, heads=heads, dropout=dropout)
                for _ in range(blocks)
            ),
            nn.LayerNorm(model_dim),
        )
        self.project = nn.Linear(model_dim, horizon)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        x, stats = self.norm(x)
        tokens = self.dropout(self.embed(x.mT))  # b n m
        y = self.project(self.blocks(tokens))  # b n h
        return self.norm.inverse(y.mT, stats)  # b h n
