"""PatchDecoder: a decoder over the patches of one series, with attention or with a causal NormLin."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core import ConfigError
from olinear.models.zoo.blocks.layers import Dropout
from olinear.models.zoo.blocks.mixers import token_mixer
from olinear.models.zoo.blocks.transformer import PreNormBlock
from olinear.models.zoo.blocks.window_model import WindowModel
from olinear.nn import MixerFactory, find_mixer, has_own_maps

EPS = 1e-5


class PatchDecoder(WindowModel):
    """Each series alone: every patch looks back on those before it and foretells the next.

    Y. Liu et al.: Timer: Generative Pre-trained Transformers Are Large Time Series Models. ICML 2024.

        H⁰_j = drop(W_e (x_j - μ_j) / σ_j + P_j),     Hˡ⁺¹ = Block(Hˡ),     x̂_{j+1} = μ_j + σ_j (W_d LayerNorm(Hᴸ_j))

    with μ_j and σ_j over all values up to patch j, so that no forecast knows of later ones. A horizon of more than one
    patch feeds forecasts back in. NaN is a value that is not known.

    Args:
        n_series, lookback, horizon: n, t, h. The same weights serve any others.
        patch_length: p; an incomplete first patch is filled up with unknown values.
        context: values looked back on at the most, in whole patches; the lookback, if left out.
        model_dim, ff_dim: m and f. Left out, f is 4 m, and 5 m with a mixer between two linear layers, such as NormLin:
            these have m² weights each, of which attention has four, so that both come to 12 m² a block.
        blocks, heads: L and H.
        dropout: of the tokens, the blocks and the mixer's matrix.
        mixer: what mixes patches: a mixer in `MIXERS` that can be causal, or a factory that takes `causal=True`.
    """

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        patch_length: int = 24,
        context: int | None = None,
        model_dim: int = 128,
        ff_dim: int | None = None,
        blocks: int = 3,
        heads: int = 4,
        dropout: float = 0.1,
        mixer: str | MixerFactory = "normlin",
    ):
        super().__init__(n_series, lookback, horizon)
        self.permutes_series = True
        longest = lookback if context is None else context
        if min(patch_length, longest) < 1:
            raise ConfigError(f"patch_length and context must be at least 1, found {patch_length} and {longest}")
        self.patch_length, self.tokens = patch_length, -(-longest // patch_length)
        ff_dim = ff_dim or (4 if has_own_maps(find_mixer(mixer)) else 5) * model_dim
        self.embed = nn.Linear(patch_length, model_dim)
        self.position = nn.Parameter(torch.empty(self.tokens, model_dim).uniform_(-0.02, 0.02))
        self.dropout = Dropout(dropout)
        self.blocks = nn.Sequential(
            *(
                PreNormBlock(
                    token_mixer(mixer, self.tokens, model_dim, heads=heads, dropout=dropout, causal=True),
                    model_dim,
                    ff_dim,
                    dropout=dropout,
                )
                for _ in range(blocks)
            ),
            nn.LayerNorm(model_dim),
        )
        self.head = nn.Linear(model_dim, patch_length)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        series = x.mT.flatten(0, 1)  # b·n t
        for _ in range(-(-self.horizon // self.patch_length)):
            patches = self._patches(series)
            series = torch.cat([series, self._foretell(patches)[:, -1]], -1)
        y = series[:, x.shape[1] : x.shape[1] + self.horizon]
        return y.unflatten(0, (len(x), -1)).mT  # b h n

    def next_patches(self, x: Tensor) -> Tensor:  # b t n
        """What is foretold at each patch: row i is the forecast of row i + p; t is whole patches, `context` at most."""
        if x.shape[1] % self.patch_length or x.shape[1] > self.tokens * self.patch_length:
            raise ConfigError(
                f"next patches need whole patches of {self.patch_length} rows, {self.tokens} at the most, found "
                f"{x.shape[1]} rows"
            )
        foretold = self._foretell(self._patches(x.mT.flatten(0, 1)))  # b·n k p
        return foretold.flatten(1).unflatten(0, (len(x), -1)).mT  # b t n

    def _patches(self, series: Tensor) -> Tensor:  # s t
        series = series[:, -self.tokens * self.patch_length :]
        missing = -series.shape[1] % self.patch_length
        if missing:
            series = F.pad(series, (missing, 0), value=torch.nan)
        return series.unflatten(1, (-1, self.patch_length))  # s k p

    def _foretell(self, patches: Tensor) -> Tensor:  # s k p
        mean, deviation = running_statistics(patches)
        seen = ((patches - mean) / deviation).nan_to_num(0.0)
        tokens = self.dropout(self.embed(seen) + self.position[: seen.shape[1]])  # s k m
        return torch.addcmul(mean, self.head(self.blocks(tokens)).to(mean.dtype), deviation)  # s k p


@torch.no_grad()
def running_statistics(patches: Tensor) -> tuple[Tensor, Tensor]:  # s k p
    """The mean and the deviation of all known values up to the end of each patch, `s k 1` each."""
    count = patches.isnan().logical_not_().sum(-1).cumsum(-1).clamp_(min=1)  # s k
    # The first patch's mean, which every patch knows, is taken off, for squares of large values leave no digits.
    level = (patches[:, :1].nansum((1, 2), keepdim=True)) / count[:, :1, None]  # s 1 1
    centred = (patches - level).nan_to_num_(0.0)
    mean = centred.sum(-1).cumsum(-1) / count
    variance = (centred.square().sum(-1).cumsum(-1) / count - mean.square()).clamp_(min=0)
    return mean[..., None] + level, (variance[..., None] + EPS).sqrt()
