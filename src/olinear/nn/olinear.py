"""OLinear: the walk of the paper's Figure 1."""

from collections import OrderedDict
from copy import deepcopy
from functools import partial
from typing import Any, Literal, Self

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import ArrayLike
from torch import Tensor, nn

from olinear.core import ConfigError, DataError
from olinear.nn.compact import CompactOLinear
from olinear.nn.folding import folded_walk
from olinear.nn.functional import check_windows
from olinear.nn.learners import Temporal, make_block
from olinear.nn.mixers import MixerFactory, find_mixer
from olinear.nn.normlin import LowRankNormLin
from olinear.nn.ortho import OrthoTrans
from olinear.nn.products import Linear
from olinear.nn.revin import RevIN

HeadKind = Literal["mlp", "linear"]
Form = Literal["experiment", "text"]


class OLinear(nn.Module):
    """The paper's forecaster: linear layers on decorrelated features, NormLin across series (Section 4, Equation 2).

    `b t n -> b h n`:

        Z = (RevIN(X) ⊗ φ) Q_iᵀ + δ_i              H⁰ = Encode(Z)
        Hˡ⁺¹ = ISL(CSL(Hˡ)),  l = 0 … L-1          Ỹ = Decode(LayerNorm(Hᴸ)) Q_o + δ_o
        Ŷ = RevIN⁻¹(drop(Head(Ỹ)))

    The offsets δ, the final LayerNorm, the two-layer head and the dropout before RevIN⁻¹ are not in the paper's
    text but in what its results were made with. `form="text"` is without offsets, final LayerNorm and that dropout, and
    each of the d copies is encoded, mixed and decoded for itself, H `[n, d, m]`.

    Args:
        n_series, lookback, horizon: n, t, h.
        input_transform, output_transform: OrthoTrans with Q_i `[t, t]` and Q_o `[h, h]`; None is the identity.
        model_dim, ff_dim, embed_dim: m, f (m unless given) and d, the length of φ.
        blocks: L.
        dropout: of NormLin's matrix, both learners and the head's output.
        mixer: what mixes series in CSL: a name in `MIXERS`, None for blocks without CSL, or a factory
            `mixer(n, m, dropout=p)`, such as `partial(NormLin, norm="l2")`.
        rank: for many series, NormLin by factors of this rank, at a cost of n·rank instead of n².
        pre_linear, post_linear: CSL's two linear layers, which a mixer with maps of its own never has.
        temporal: ISL's layers: `linear`, `normlin`, or None for blocks without ISL.
        encoder: in the place of all blocks and the final LayerNorm, a name or factory as `mixer`.
        head: `mlp`, or `linear` as in the paper's text.
        affine: RevIN's learnt weight and bias.
        offsets: the learnt δ_i and δ_o.
        form: `experiment`, or `text`, whose head is `head="linear"` and which is never folded.
        fold: the same function with fewer multiplications where that pays (`folding`); False is the plain walk.
    """

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        input_transform: OrthoTrans | None = None,
        output_transform: OrthoTrans | None = None,
        model_dim: int = 512,
        ff_dim: int | None = None,
        embed_dim: int = 16,
        blocks: int = 2,
        dropout: float = 0.0,
        mixer: str | MixerFactory | None = "normlin",
        rank: int | None = None,
        pre_linear: bool = True,
        post_linear: bool = True,
        temporal: Temporal | None = "linear",
        encoder: str | MixerFactory | None = None,
        head: HeadKind = "mlp",
        affine: bool = True,
        offsets: bool = True,
        form: Form = "experiment",
        fold: bool = True,
    ):
        super().__init__()
        ff_dim = model_dim if ff_dim is None else ff_dim
        sizes = {"n_series": n_series, "lookback": lookback, "horizon": horizon, "embed_dim": embed_dim}
        _check_ranges(sizes | {"model_dim": model_dim, "ff_dim": ff_dim}, blocks, dropout)
        mixer = mixer if rank is None else _of_rank(rank, mixer)
        self.n_series, self.lookback, self.horizon, self.embed_dim = n_series, lookback, horizon, embed_dim
        self.per_copy, self.fold = _is_text(form), fold and form != "text"
        copies = 1 if self.per_copy else embed_dim  # that a layer sees at once
        offsets = offsets and not self.per_copy
        self.revin = RevIN(n_series, affine=affine)
        self.extension = nn.Parameter(torch.randn(embed_dim))
        self.input_transform = _of_size("input_transform", input_transform, lookback)
        self.input_offset = nn.Parameter(torch.zeros(n_series, lookback)) if offsets else None
        self.encoder = Linear(copies * lookback, model_dim)
        self.blocks = nn.ModuleList()
        across = None if mixer is None else find_mixer(mixer)
        for _ in range(blocks if encoder is None else 0):
            linear = {"pre_linear": pre_linear, "post_linear": post_linear}
            block = make_block(n_series, model_dim, ff_dim, mixer=across, temporal=temporal, dropout=dropout, **linear)
            self.blocks.append(block)
        if encoder is not None:
            alone = find_mixer(encoder)(n_series, model_dim, dropout=dropout)
            self.blocks.append(nn.Sequential(OrderedDict(encoder=alone)))
        self.norm = nn.LayerNorm(model_dim) if encoder is None and not self.per_copy else nn.Identity()
        self.decoder = Linear(model_dim, copies * horizon)
        self.output_transform = _of_size("output_transform", output_transform, horizon)
        self.output_offset = nn.Parameter(torch.zeros(n_series, horizon)) if offsets else None
        self.head = Head(embed_dim * horizon, ff_dim, horizon, head)
        self.dropout = nn.Dropout(0.0 if self.per_copy else dropout)

    @classmethod
    def for_data(cls, train: ArrayLike, lookback: int, horizon: int, *, basis: str = "pearson", **options: Any) -> Self:
        """A model for training rows `[rows, series]`, both of its bases computed from them."""
        shape = np.shape(train)
        if len(shape) != 2:
            raise DataError(f"train must have shape (rows, series), found {shape}")
        return cls(
            shape[1],
            lookback,
            horizon,
            input_transform=OrthoTrans.fit(train, lookback, basis),
            output_transform=OrthoTrans.fit(train, horizon, basis),
            **options,
        )

    def forward(self, x: Tensor) -> Tensor:  # b t n
        check_windows(x, self.lookback, self.n_series)
        return folded_walk(self, x) if self.fold else self.plain_walk(x)  # b h n

    def plain_walk(self, x: Tensor) -> Tensor:  # b t n
        """The paper's Figure 1, step by step."""
        x, stats = self.revin(x)  # b t n
        hidden = self.encode(x.mT)  # b n m, or b d n m
        for block in self.blocks:
            hidden = block(hidden)  # b n m, or b d n m
        y = self.dropout(self.decode(self.norm(hidden)))  # b n h
        return self.revin.inverse(y.mT, stats)  # b h n

    def compact(self) -> nn.Module:
        """The same function for inference, all folds precomputed; the text's form has none and is copied."""
        return deepcopy(self).eval() if self.per_copy else CompactOLinear(self)

    def encode(self, x: Tensor) -> Tensor:  # b n t
        """Extend, transform, offset, encode."""
        extended = x.unsqueeze(-2) * self.extension[:, None]  # b n d t
        features = self.input_transform(extended)  # b n d t
        if self.input_offset is not None:
            features = features + self.input_offset[:, None]  # b n d t
        if self.per_copy:
            return self.encoder(features.transpose(-3, -2))  # b d n m
        return self.encoder(features.flatten(-2))  # b n m

    def decode(self, hidden: Tensor) -> Tensor:  # b n m, or b d n m
        """Decode, transform back, offset, head."""
        decoded = self.decoder(hidden)  # b n d·h, or b d n h
        copies = (self.embed_dim, self.horizon)
        decoded = decoded.transpose(-3, -2) if self.per_copy else decoded.unflatten(-1, copies)  # b n d h
        decoded = self.output_transform.inverse(decoded)  # b n d h
        if self.output_offset is not None:
            decoded = decoded + self.output_offset[:, None]  # b n d h
        return self.head(decoded.flatten(-2))  # b n h


class Head(nn.Module):
    """From the d decoded copies to the forecast (Section 4.1): `d·h -> h`.

    mlp:  W₂ GELU(W₁ y)          linear:  W y
    """

    def __init__(self, in_dim: int, ff_dim: int, horizon: int, kind: HeadKind):
        super().__init__()
        if kind not in ("mlp", "linear"):
            raise ConfigError(f"head must be 'mlp' or 'linear', found {kind!r}")
        self.hidden = Linear(in_dim, ff_dim) if kind == "mlp" else None
        self.output = Linear(ff_dim if kind == "mlp" else in_dim, horizon)

    @property
    def first(self) -> nn.Linear:
        """The layer that meets the decoded copies."""
        return self.output if self.hidden is None else self.hidden

    def rest(self, z: Tensor) -> Tensor:  # ... f, or ... h
        """What follows the first layer."""
        return z if self.hidden is None else self.output(F.gelu(z))  # ... h

    def forward(self, y: Tensor) -> Tensor:  # ... d·h
        return self.rest(self.first(y))


def _is_text(form: str) -> bool:
    if form not in ("experiment", "text"):
        raise ConfigError(f"form must be 'experiment' or 'text', found {form!r}")
    return form == "text"


def _of_rank(rank: int, mixer: str | MixerFactory | None) -> MixerFactory:
    if mixer != "normlin":
        raise ConfigError(f"rank belongs to mixer='normlin', found mixer={mixer!r}: leave one of them out")
    return partial(LowRankNormLin, rank=rank)


def _of_size(name: str, transform: OrthoTrans | None, size: int) -> OrthoTrans:
    if transform is None:
        return OrthoTrans(torch.eye(size))
    if transform.size != size:
        raise DataError(f"{name} must have size {size}, found {transform.size}")
    return deepcopy(transform)  # a matrix of its own, also where one transform serves both sides


def _check_ranges(sizes: dict[str, int], blocks: int, dropout: float) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise ConfigError(f"{name} must be at least 1, found {size}")
    if blocks < 0:
        raise ConfigError(f"blocks must be 0 or more, found {blocks}")
    if not 0 <= dropout < 1:
        raise ConfigError(f"dropout must lie in [0, 1), found {dropout}")
