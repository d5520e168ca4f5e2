"""The same function with fewer operations: what is linear is multiplied together before it meets the data.

Every fold is exact. Whether one pays is decided by counting multiplications for the shapes at hand. Inside the blocks
the layout is `n b m`, so that mixing series is one `n×n · n×(b·m)` product instead of a batch of small ones.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor, nn

from olinear.nn.learners import CrossSeriesLearner, IntraSeriesLearner
from olinear.nn.normlin import SeriesMixer, exactly
from olinear.nn.products import linear, multiply

if TYPE_CHECKING:
    from olinear.nn.olinear import OLinear


FEW_WINDOWS = 16


class Cost(NamedTuple):
    """Multiplications of one part of the forward pass, plain and folded."""

    plain: int
    folded: int

    @property
    def pays(self) -> bool:
        return self.folded < self.plain


@dataclass(frozen=True)
class Shapes:
    """What decides the cost of a pass: b, n, t, h, d, m, and the width the decoded copies are mapped to."""

    batch: int
    n_series: int
    lookback: int
    horizon: int
    embed_dim: int
    model_dim: int
    head_dim: int  # f, or h for the linear head

    @property
    def rows(self) -> int:
        return self.batch * self.n_series

    def encode(self) -> Cost:
        """Extension, Q_i, offset and encoder, against one `m×t` weight and a bias for each series."""
        t, dt, m = self.lookback, self.embed_dim * self.lookback, self.model_dim
        fold = 2 * dt * m + m * t * t + self.n_series * t * m
        return Cost(self.rows * dt * (1 + t + m), self.rows * t * m + fold)

    def mix(self) -> Cost:
        """CSL's pre- and post-linear layers, against their product."""
        square = self.model_dim**2
        return Cost(2 * self.rows * square, self.rows * square + self.model_dim * square)

    def decode(self) -> Cost:
        """Decoder, Q_o, offset and the head's first layer, against one `f×m` weight and a bias for each series."""
        h, dh, m, f = self.horizon, self.embed_dim * self.horizon, self.model_dim, self.head_dim
        fold = dh * f * (m + h) + self.n_series * h * f
        return Cost(self.rows * dh * (m + h + f), self.rows * m * f + fold)

    def forward(self, blocks: int) -> Cost:
        """A pass with NormLin in every CSL, and an ISL and a head of the same inner width f."""
        m, f = self.model_dim, self.head_dim
        ends = [self.encode(), self.decode(), *[self.mix()] * blocks]
        rest = self.rows * (blocks * (self.n_series * m + 2 * m * f) + f * self.horizon)
        return Cost(sum(cost.plain for cost in ends) + rest, sum(min(cost) for cost in ends) + rest)


def shapes_of(model: "OLinear", batch: int) -> Shapes:
    """The shapes of a pass of `batch` windows."""
    return Shapes(
        batch,
        model.n_series,
        model.lookback,
        model.horizon,
        model.embed_dim,
        model.encoder.out_features,
        model.head.first.out_features,
    )


def fold_encoder(model: "OLinear") -> tuple[Tensor, Tensor]:
    """`(Σ_k φ_k W_k) Q_i` `[m, t]` and `bias + (Σ_k W_k) δ_i` `[n, m]`, W_k the encoder's block for copy k.

    Without offsets the bias is one for all series, `[1, m]`.
    """
    copies = model.encoder.weight.unflatten(1, (model.embed_dim, model.lookback))  # m d t
    extended, summed = _Copies.apply(model.extension, copies)  # m t, m t
    weight = multiply(extended, model.input_transform.basis)  # m t
    if model.input_offset is None:
        return weight, model.encoder.bias[None]  # 1 m
    return weight, linear(model.input_offset, summed, model.encoder.bias)  # n m


class _Copies(torch.autograd.Function):
    """`Σ_k φ_k W_k` and `Σ_k W_k` of `[m, d, t]`, with a gradient of one pass instead of four."""

    generate_vmap_rule = True

    @staticmethod
    def forward(extension: Tensor, copies: Tensor) -> tuple[Tensor, Tensor]:
        return extension @ copies, copies.sum(1)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor], output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor]:
        extension, copies = ctx.saved_tensors
        of_extended, of_summed = (each.to(copies.dtype) for each in gradients)
        of_copies = torch.addcmul(of_summed[:, None], of_extended[:, None], extension[:, None])  # m d t
        return torch.bmm(of_extended[:, None], copies.mT).sum((0, 1)), of_copies


def fold_decoder(model: "OLinear") -> tuple[Tensor, Tensor]:
    """`Σ_k V_k Q_oᵀ W_k` `[f, m]` and its bias `[n, f]`, V_k the head's first block for copy k, W_k the decoder's."""
    first = model.head.first
    copies = first.weight.unflatten(1, (model.embed_dim, model.horizon))  # f d h
    spread = multiply(copies, model.output_transform.basis.mT).flatten(1)  # f d·h
    bias = first.bias + spread @ model.decoder.bias  # f
    offset = model.output_offset
    bias = bias[None] if offset is None else linear(offset, copies.sum(1), bias)  # n f, or 1 f
    return multiply(spread, model.decoder.weight), bias


def folded_walk(model: "OLinear", x: Tensor) -> Tensor:  # b t n
    """The walk of `OLinear.forward`, folded where that saves multiplications."""
    shapes = shapes_of(model, len(x))
    x, stats = model.revin(x)  # b t n
    if shapes.encode().pays:
        weight, bias = fold_encoder(model)
        hidden = linear(series_first(x), weight).add_(bias[:, None])  # n b m
    else:
        hidden = model.encode(x.mT).transpose(0, 1)  # n b m
    for block in model.blocks:
        for learner in block:  # type: ignore[attr-defined]
            if isinstance(learner, CrossSeriesLearner):
                hidden = mix_series(learner, hidden, fold=shapes.mix().pays)  # n b m
            elif isinstance(learner, IntraSeriesLearner):
                hidden = learner(hidden)  # n b m
            else:
                hidden = learner(hidden.transpose(0, 1)).transpose(0, 1)  # n b m
    hidden = model.norm(hidden)
    if shapes.decode().pays:
        weight, bias = fold_decoder(model)
        y = model.head.rest(linear(hidden, weight).add_(bias[:, None]))  # n b h
    else:
        y = model.decode(hidden.transpose(0, 1)).transpose(0, 1)  # n b h
    return model.revin.inverse(model.dropout(y).permute(1, 2, 0), stats)  # b h n


def series_first(x: Tensor) -> Tensor:  # b t n
    """The layout `n b t` in memory, for one product instead of n.

    A few windows keep the n products: their last bits are others, and a model must go on forecasting what it did.
    """
    x = x.permute(2, 0, 1)
    return x.contiguous() if x.shape[1] >= FEW_WINDOWS else x


def mix_series(csl: CrossSeriesLearner, x: Tensor, *, fold: bool) -> Tensor:  # n b m
    """CSL in the layout `n b m`; folded, `W_post (A (W_pre x))` is `A x (W_post W_pre)ᵀ` and a bias."""
    if not isinstance(csl.mixer, SeriesMixer):
        return csl(x.transpose(0, 1)).transpose(0, 1)
    apply = csl.mixer.operator()
    if fold and isinstance(csl.pre, nn.Linear) and isinstance(csl.post, nn.Linear):
        with exactly(x):  # n 1: the sums of A's rows, 1 but for dropout and variants of NormLin
            sums = apply(torch.ones_like(x[:, 0, :1], dtype=csl.norm.weight.dtype))
        weight, bias = fold_mixing(csl.pre, csl.post, sums)
        mixed = linear(apply(x.flatten(1)).view_as(x), weight).add_(bias[:, None])
    else:
        mixed = csl.post(apply(csl.pre(x).flatten(1)).view_as(x))
    return csl.norm(x + csl.dropout(mixed))


def fold_mixing(pre: nn.Linear, post: nn.Linear, sums: Tensor) -> tuple[Tensor, Tensor]:
    """`W_post W_pre` `[m, m]` and `sums · W_post b_pre + b_post` `[n, m]`, for the row sums `[n, 1]` of A."""
    return multiply(post.weight, pre.weight), sums * (post.weight @ pre.bias) + post.bias
