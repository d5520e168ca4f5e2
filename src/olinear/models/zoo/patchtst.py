"""PatchTST: attention over the patches of one series."""

from typing import Literal

import torch
from torch import Tensor, nn

from olinear.core import ConfigError
from olinear.models.zoo.blocks.attention import SelfAttention
from olinear.models.zoo.blocks.layers import Dropout, feed_forward
from olinear.models.zoo.blocks.mixers import token_mixer
from olinear.models.zoo.blocks.norms import TokenBatchNorm
from olinear.models.zoo.blocks.patches import count_patches, cut_patches
from olinear.models.zoo.blocks.positions import hold_position, sinusoids
from olinear.models.zoo.blocks.window_model import WindowModel
from olinear.nn import MixerFactory, RevIN

NormKind = Literal["batch", "layer"]
Position = Literal["learnt", "sinusoidal"]
OwnDropout = Literal["output", "matrix"]


class PatchTST(WindowModel):
    """Each series alone: its patches are tokens, attention mixes them, one linear layer reads them all.

    Y. Nie, N. H. Nguyen, P. Sinthong, J. Kalagnanam: A Time Series is Worth 64 Words: Long-term Forecasting with
    Transformers. ICLR 2023.

        H⁰ = drop(Patches(IN(x)) W_p + P),     Hˡ⁺¹, Sˡ⁺¹ = Block(Hˡ, Sˡ),     ŷ = IN⁻¹(W_d vec(Hᴸ) + b_d)

    The default is the form of the paper's authors with their widths for ETTh1: BatchNorm, residual attention (each
    block adds the scores S of the block before to its own), learnt positions. The benchmark's setting `tsl` is the
    other form in use, Time-Series-Library's: 3,751,520 parameters for 7 series, 96 → 96. The head sees the features of
    `vec` outside and the patches inside.

    Not checked: which form and setting made the published results with a lookback of 96 (the authors used 336 and 512),
    and where the dropout of a NormLin fell in the comparison with attention; here it is where attention's is.

    Args:
        n_series, lookback, horizon: n, t, h.
        patch_length, stride: of the patches, after the last value was repeated `stride` times.
        model_dim, ff_dim: m and f.
        blocks, heads: L and H.
        dropout: of the tokens, of both branches of a block, of its hidden features and of the mixer (`mixer_dropout`).
        mixer: `attention`, `normlin` over the patches, or a factory `mixer(p, m, dropout=q)`.
        residual_attention: hand scores on from block to block; only `attention` has some.
        mixer_dropout: where the mixer's own dropout falls: on its `output`, or on its `matrix`.
        norm: of the blocks: `batch` (over all tokens of a batch: more than one in training) or `layer`.
        final_norm: of the tokens after the last block: `batch`, `layer` or None.
        position: `learnt`, from U(±0.02), or `sinusoidal`, fixed.
        patch_bias: b_p, beside the map of a patch.
        head_dropout: falls on the forecast, before IN is undone.
    """

    position: Tensor

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        patch_length: int = 16,
        stride: int = 8,
        model_dim: int = 16,
        ff_dim: int = 128,
        blocks: int = 3,
        heads: int = 4,
        dropout: float = 0.3,
        mixer: str | MixerFactory = "attention",
        residual_attention: bool = True,
        mixer_dropout: OwnDropout = "output",
        norm: NormKind = "batch",
        final_norm: NormKind | None = None,
        position: Position = "learnt",
        patch_bias: bool = True,
        head_dropout: float = 0.0,
    ):
        super().__init__(n_series, lookback, horizon)
        self.permutes_series = True
        self.patch_length, self.stride = patch_length, stride
        patches = count_patches(lookback, patch_length, stride)
        self.norm = RevIN(n_series, affine=False)
        self.embed = nn.Linear(patch_length, model_dim, bias=patch_bias)
        hold_position(self, _start_position(position, patches, model_dim), learnt=position == "learnt")
        self.dropout = Dropout(dropout)
        inside, outside = _split_dropout(mixer_dropout, dropout)
        self.blocks = nn.ModuleList(
            PatchBlock(
                token_mixer(mixer, patches, model_dim, heads=heads, dropout=inside),
                feed_forward(model_dim, ff_dim, dropout),
                (_make_norm(norm, model_dim), _make_norm(norm, model_dim)),
                dropout=dropout,
                mixer_dropout=outside,
                residual_attention=residual_attention,
            )
            for _ in range(blocks)
        )
        self.final_norm = nn.Identity() if final_norm is None else _make_norm(final_norm, model_dim)
        self.head = nn.Linear(model_dim * patches, horizon)
        self.head_dropout = Dropout(head_dropout)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        x, stats = self.norm(x)
        patches = cut_patches(x.mT.flatten(0, 1), self.patch_length, self.stride)  # b·n p length
        tokens = self.dropout(self.embed(patches) + self.position)  # b·n p m
        scores = None
        for block in self.blocks:
            tokens, scores = block(tokens, scores)
        features = self.final_norm(tokens).mT.flatten(1)  # b·n m·p
        y = self.head_dropout(self.head(features)).unflatten(0, (len(x), -1))  # b n h
        return self.norm.inverse(y.mT, stats)  # b h n


class PatchBlock(nn.Module):
    """A post-norm block that may hand its attention scores on to the next.

        x = Norm₁(x + drop(mix(x, S))),     x = Norm₂(x + drop(W₂ drop(GELU(W₁ x))))

    Args:
        mixer: mixes the patches, `... p m -> ... p m`.
        along: the feed-forward layers along the width.
        norms: Norm₁ and Norm₂.
        dropout: of both branches.
        mixer_dropout: of the mixer's output, besides that of its branch.
        residual_attention: add the scores given and hand the sum on, if the mixer is attention.
    """

    def __init__(
        self,
        mixer: nn.Module,
        along: nn.Module,
        norms: tuple[nn.Module, nn.Module],
        *,
        dropout: float,
        mixer_dropout: float,
        residual_attention: bool,
    ):
        super().__init__()
        self.mixer, self.along = mixer, along
        self.mixer_norm, self.along_norm = norms
        self.dropout, self.mixer_dropout = Dropout(dropout), Dropout(mixer_dropout)
        self.residual_attention = residual_attention

    def forward(self, x: Tensor, scores: Tensor | None) -> tuple[Tensor, Tensor | None]:  # b·n p m, b·n H p p
        if self.residual_attention and isinstance(self.mixer, SelfAttention):
            mixed, scores = self.mixer.scored(x, scores)
        else:
            mixed = self.mixer(x)
        x = self.mixer_norm(x + self.dropout(self.mixer_dropout(mixed)))
        return self.along_norm(x + self.dropout(self.along(x))), scores


def _make_norm(kind: str, model_dim: int) -> nn.Module:
    if kind == "batch":
        return TokenBatchNorm(model_dim)
    if kind == "layer":
        return nn.LayerNorm(model_dim)
    raise ConfigError(f"norm and final_norm must be 'batch' or 'layer', found {kind!r}")


def _split_dropout(place: str, dropout: float) -> tuple[float, float]:
    """The mixer's own dropout: on its matrix, on its output."""
    if place not in ("output", "matrix"):
        raise ConfigError(f"mixer_dropout must be 'output' or 'matrix', found {place!r}")
    return (dropout, 0.0) if place == "matrix" else (0.0, dropout)


def _start_position(kind: str, patches: int, model_dim: int) -> Tensor:
    if kind not in ("learnt", "sinusoidal"):
        raise ConfigError(f"position must be 'learnt' or 'sinusoidal', found {kind!r}")
    if kind == "sinusoidal":
        return sinusoids(patches, model_dim)
    return torch.empty(patches, model_dim).uniform_(-0.02, 0.02)
