"""Blocks of a transformer: a branch that mixes tokens and one along the width, each added to its input."""

from torch import Tensor, nn

from olinear.models.zoo.blocks.layers import Dropout, feed_forward
from olinear.models.zoo.blocks.mixers import token_mixer
from olinear.nn import CrossSeriesLearner, IntraSeriesLearner, MixerFactory


def encoder_block(
    tokens: int,
    model_dim: int,
    ff_dim: int,
    *,
    mixer: str | MixerFactory = "attention",
    heads: int = 8,
    dropout: float = 0.0,
) -> nn.Sequential:
    """A post-norm transformer block over tokens; `mixer="normlin"` puts W_post NormLin(W_pre x) in attention's place.

    x = LayerNorm(x + drop(mix(x))),     x = LayerNorm(x + drop(W₂ drop(GELU(W₁ x))))
    """
    inner = token_mixer(mixer, tokens, model_dim, heads=heads, dropout=dropout)
    mix = CrossSeriesLearner(model_dim, inner, pre_linear=False, post_linear=False, dropout=dropout)
    return nn.Sequential(mix, IntraSeriesLearner(model_dim, ff_dim, dropout=dropout))


def post_norm(model_dim: int, branch: nn.Module, dropout: float) -> CrossSeriesLearner:
    """y = LayerNorm(x + drop(branch(x)))."""
    block = CrossSeriesLearner(model_dim, branch, pre_linear=False, post_linear=False)
    block.dropout = Dropout(dropout)
    return block


class PreNormBlock(nn.Module):
    """A transformer block that normalises what enters its branches: `... k m -> ... k m`.

    x = x + drop(mix(LayerNorm(x))),     x = x + drop(W₂ drop(GELU(W₁ LayerNorm(x))))
    """

    def __init__(self, mix: nn.Module, model_dim: int, ff_dim: int, *, dropout: float = 0.0):
        super().__init__()
        self.mix_norm, self.mix = nn.LayerNorm(model_dim), mix
        self.forward_norm, self.feed_forward = nn.LayerNorm(model_dim), feed_forward(model_dim, ff_dim, dropout)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:  # ... k m
        x = x + self.dropout(self.mix(self.mix_norm(x)))
        return x + self.dropout(self.feed_forward(self.forward_norm(x)))
