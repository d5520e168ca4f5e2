"""The two learners of a block, one across series, one along the width; and the block."""

from typing import Literal

import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core import ConfigError
from olinear.nn.mixers import MixerFactory, find_mixer, has_own_maps
from olinear.nn.normlin import NormLin
from olinear.nn.products import Linear

Temporal = Literal["linear", "normlin"]


class CrossSeriesLearner(nn.Module):
    """CSL (Section 4.3, Equation 4).

        CSL(x) = LayerNorm(x + drop(W_post (Mixer(W_pre x))))

    Args:
        model_dim: m.
        mixer: what mixes the series, `b n m -> b n m`: a `NormLin`, a `SeriesLinear` or your own.
        pre_linear, post_linear: keep W_pre and W_post (the appendix's ablation leaves them out).
        dropout: falls on the branch before it is added.
    """

    def __init__(
        self,
        model_dim: int,
        mixer: nn.Module,
        *,
        pre_linear: bool = True,
        post_linear: bool = True,
        dropout: float = 0.0,
    ):
        super().__init__()
        self.pre = Linear(model_dim, model_dim) if pre_linear else nn.Identity()
        self.mixer = mixer
        self.post = Linear(model_dim, model_dim) if post_linear else nn.Identity()
        self.norm = nn.LayerNorm(model_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:  # b n m
        return self.norm(x + self.dropout(self.post(self.mixer(self.pre(x)))))


class IntraSeriesLearner(nn.Module):
    """ISL (Section 4.3, Equation 5).

        ISL(x) = LayerNorm(x + drop(W₂ drop(GELU(W₁ x))))

    Args:
        model_dim, ff_dim: m and f; W₁ maps m to f, W₂ back.
        temporal: `linear`, or `normlin` for the ablation that puts a NormLin in the place of each of the two
            linear layers (it keeps the width, so f must be m).
        dropout: falls on the hidden features, on the branch and on the matrices of `normlin`.
    """

    def __init__(self, model_dim: int, ff_dim: int, *, temporal: Temporal = "linear", dropout: float = 0.0):
        super().__init__()
        if temporal not in ("linear", "normlin"):
            raise ConfigError(f"temporal must be 'linear' or 'normlin', found {temporal!r}")
        if temporal == "normlin" and ff_dim != model_dim:
            raise ConfigError(f"temporal='normlin' keeps the width: set ff_dim={model_dim}, found {ff_dim}")
        self.expand: nn.Module
        self.contract: nn.Module
        if temporal == "linear":
            self.expand, self.contract = Linear(model_dim, ff_dim), Linear(ff_dim, model_dim)
        else:
            self.expand = AlongWidth(NormLin(model_dim, dropout=dropout))
            self.contract = AlongWidth(NormLin(model_dim, dropout=dropout))
        self.norm = nn.LayerNorm(model_dim)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:  # b n m
        hidden = self.dropout(F.gelu(self.expand(x)))  # b n f
        return self.norm(x + self.dropout(self.contract(hidden)))


def make_block(
    n_series: int,
    model_dim: int,
    ff_dim: int,
    *,
    mixer: str | MixerFactory | None = "normlin",
    pre_linear: bool = True,
    post_linear: bool = True,
    temporal: Temporal | None = "linear",
    dropout: float = 0.0,
) -> nn.Sequential:
    """CSL, then ISL, where they are not None: `b n m -> b n m`. A mixer with maps of its own has no linear layers."""
    block = nn.Sequential()
    if mixer is not None:
        factory = find_mixer(mixer)
        inner, own = factory(n_series, model_dim, dropout=dropout), has_own_maps(factory)
        pre, post = pre_linear and not own, post_linear and not own
        csl = CrossSeriesLearner(model_dim, inner, pre_linear=pre, post_linear=post, dropout=dropout)
        block.add_module("csl", csl)
    if temporal is not None:
        block.add_module("isl", IntraSeriesLearner(model_dim, ff_dim, temporal=temporal, dropout=dropout))
    return block


class AlongWidth(nn.Module):
    """A mixer of the second-to-last axis turned to the last one."""

    def __init__(self, mixer: nn.Module):
        super().__init__()
        self.mixer = mixer

    def forward(self, x: Tensor) -> Tensor:  # b n m
        return self.mixer(x.mT).mT
