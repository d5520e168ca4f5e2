"""Token mixers to put in NormLin's place, and all of them by name (the appendix's comparison).

Each has its own maps for queries, keys, values and the output, and takes `... k m` to `... k m`, k tokens of width m.
`form="experiment"` computes what the paper's comparison did, `form="paper"` what the mixer's own authors describe.
"""

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core import ConfigError
from olinear.models.zoo.blocks.attention import Form, HeadMixer, SelfAttention, check_form
from olinear.models.zoo.blocks.mamba import Mamba
from olinear.models.zoo.blocks.reformer import LSHAttention
from olinear.nn import CrossSeriesLearner, IntraSeriesLearner, NormLin

# Builds what mixes tokens, `... k m -> ... k m`, from their number and width: `mixer(k, m, dropout=p)`.
TokenMixer = Callable[..., nn.Module]


class FlowAttention(HeadMixer):
    """Flowformer: attention as a flow network whose incoming and outgoing flows are conserved, in O(k d²).

    H. Wu, J. Wu, J. Xu, J. Wang, M. Long: Flowformer: Linearizing Transformers with Conservation Flows. ICML 2022.

        I_i = q_i·Σk,   O_j = k_j·Σq,   Î_i = q_i·Σ_j k_j/O_j,   Ô_j = k_j·Σ_i q_i/I_i        (q, k after a sigmoid)
        y_i = σ(Î_i) · q_i/I_i · Σ_j k_jᵀ (n softmax_j(Ô)_j v_j)        (n tokens)

    Simplified: nothing drops out. Not checked: a causal form, which the authors have too.

    Args:
        model_dim, heads: m and H.
        form: `paper` clips Ô to [-1, 1] as the authors do; `experiment` does not.
        eps: is added to each factor of I, O, Î and Ô.
    """

    def __init__(self, model_dim: int, *, heads: int = 8, form: Form = "experiment", eps: float = 1e-6):
        super().__init__(model_dim, heads=heads)
        check_form(form)
        self.form, self.eps = form, eps

    def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:  # ... H k d
        query, key = query.sigmoid(), key.sigmoid()
        incoming = self.flow(query, key)  # ... H k 1
        outgoing = self.flow(key, query)
        conserved_in = self.flow(query, key / outgoing)
        conserved_out = self.flow(key, query / incoming)
        if self.form == "paper":
            conserved_out = conserved_out.clamp(-1, 1)
        competing = value * (key.shape[-2] * conserved_out.softmax(-2))
        return conserved_in.sigmoid() * (query / incoming @ (key.mT @ competing))

    def flow(self, at: Tensor, through: Tensor) -> Tensor:  # ... H k d
        """What passes each token: `(at + ε)·(Σ through + ε)`, `... H k 1`."""
        return (at + self.eps) @ (through.sum(-2, keepdim=True) + self.eps).mT


class FocusedAttention(HeadMixer):
    """FLatten: linear attention whose features are sharpened by a power, in O(k d²).

    D. Han, X. Pan, Y. Han, S. Song, G. Huang: FLatten Transformer: Vision Transformer using Focused Linear Attention.
    ICCV 2023.

        g(x) = ‖r‖ rᵖ / ‖rᵖ‖,  r = ReLU(x);        y_i = g(q_i)·Σ_j g(k_j)ᵀ v_j / (g(q_i)·Σ_j g(k_j))

    Args:
        model_dim, heads: m and H.
        power: p, 3 in both forms.
        form: `experiment` takes the norms within a head and nothing else, so that a query without a positive entry
            gets zero. `paper` takes them over all heads, learns a scale of r and a position for each key, and adds a
            depthwise convolution of v over neighbouring tokens (in the authors' images over a 5 × 5 neighbourhood).
        tokens: k, which only `paper` needs.
        eps: is added to denominators, and to r in `paper`.
    """

    def __init__(
        self,
        model_dim: int,
        *,
        heads: int = 8,
        power: float = 3.0,
        form: Form = "experiment",
        tokens: int | None = None,
        eps: float = 1e-6,
    ):
        super().__init__(model_dim, heads=heads)
        check_form(form)
        self.power, self.form, self.eps = power, form, eps
        if form == "paper":
            if tokens is None:
                raise ConfigError("form='paper' learns a position for each key: pass tokens")
            head_dim = model_dim // heads
            self.scale = nn.Parameter(torch.zeros(heads, 1, head_dim))
            self.position = nn.Parameter(torch.zeros(heads, tokens, head_dim))
            self.local = nn.Conv1d(head_dim, head_dim, 5, padding=2, groups=head_dim)

    def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:  # ... H k d
        if self.form == "paper":
            key = key + self.position
        query, key = self.focus(query), self.focus(key)
        total = query @ key.sum(-2, keepdim=True).mT + self.eps  # ... H k 1
        mixed = query @ (key.mT @ value) / total
        if self.form == "paper":
            mixed = mixed + self.local(value.flatten(0, -3).mT).mT.view_as(value)
        return mixed

    def focus(self, x: Tensor) -> Tensor:  # ... H k d
        """g: a power that turns a vector towards its largest entries and keeps its length."""
        axes: tuple[int, ...] = (-1,)
        x = x.relu()
        if self.form == "paper":
            axes = (-3, -1)
            x = (x + self.eps) / F.softplus(self.scale)
        sharp = x**self.power
        length, sharp_length = (torch.linalg.vector_norm(each, dim=axes, keepdim=True) for each in (x, sharp))
        return length * sharp / (sharp_length + self.eps)


class EnhancedAttention(HeadMixer):
    """FreEformer's enhanced attention: a learnt matrix is added to the attention matrix, which lifts its rank.

    W. Yue, Y. Liu, X. Ying, B. Xing, R. Guo, J. Shi: FreEformer: Frequency Enhanced Transformer for Multivariate Time
    Series Forecasting. arXiv:2501.13989, 2025.

        y = drop(A) v,     A = RowNorm_L1(softmax(q kᵀ / √d) + Softplus(W)),     W = I + N(0, 1) at the start

    Nothing was simplified. Not checked: whether the authors give each head a W of its own; the comparison did not.

    Args:
        tokens, model_dim, heads: k, m and H; one W `[k, k]` serves all heads.
        dropout: falls on the entries of A.
    """

    def __init__(self, tokens: int, model_dim: int, *, heads: int = 8, dropout: float = 0.0):
        super().__init__(model_dim, heads=heads)
        self.dropout = dropout
        self.weight = nn.Parameter(torch.eye(tokens) + torch.randn(tokens, tokens))

    def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:  # ... H k d
        added = F.softplus(self.weight)  # k k
        total = 1 + added.sum(-1, keepdim=True)  # k 1: a row of the softmax sums to one
        if not (self.training and self.dropout):  # A need not be formed
            return (F.scaled_dot_product_attention(query, key, value) + added @ value) / total
        scores = query @ key.mT / query.shape[-1] ** 0.5  # ... H k k
        return F.dropout((scores.softmax(-1) + added) / total, self.dropout) @ value


def _attention(tokens: int, model_dim: int, *, dropout: float = 0.0, **options: Any) -> nn.Module:
    return SelfAttention(model_dim, dropout=dropout, **options)


def _reformer(tokens: int, model_dim: int, *, dropout: float = 0.0, **options: Any) -> nn.Module:
    return LSHAttention(tokens, model_dim, **options)


def _flowformer(tokens: int, model_dim: int, *, dropout: float = 0.0, **options: Any) -> nn.Module:
    return FlowAttention(model_dim, **options)


def _flatten(tokens: int, model_dim: int, *, dropout: float = 0.0, **options: Any) -> nn.Module:
    return FocusedAttention(model_dim, tokens=tokens, **options)


def _mamba(tokens: int, model_dim: int, *, dropout: float = 0.0, heads: int = 8, **options: Any) -> nn.Module:
    return Mamba(model_dim, **options)


# `factory(tokens, model_dim, dropout=0.0, heads=8)`, and further options of the mixer's class. Dropout falls on the
# matrices of `attention` and `enhanced`; the others have none. `mamba` has no heads.
TOKEN_MIXERS: dict[str, TokenMixer] = {
    "attention": _attention,
    "reformer": _reformer,
    "flowformer": _flowformer,
    "flatten": _flatten,
    "mamba": _mamba,
    "enhanced": EnhancedAttention,
}


def olinear_mixer(name: str, model_dim: int, **options: Any) -> Callable[..., nn.Module]:
    """A mixer of `TOKEN_MIXERS` for OLinear, `mixer(n, dropout=p)`.

    Its maps take the place of CSL's two linear layers, as in the paper's comparison:

        OLinear(n, t, h, model_dim=m, mixer=olinear_mixer("flowformer", m), pre_linear=False, post_linear=False)

    Args:
        name: one of `TOKEN_MIXERS`.
        model_dim: m, OLinear's own.
        options: of the mixer, such as `heads=4`, `form="paper"`, `redraw=True` or `state=64`.
    """
    if name not in TOKEN_MIXERS:
        raise ConfigError(f"a token mixer must be one of {', '.join(TOKEN_MIXERS)}, found {name!r}")
    return partial(TOKEN_MIXERS[name], model_dim=model_dim, **options)


def token_mixer(
    mixer: str | TokenMixer,
    tokens: int,
    model_dim: int,
    *,
    heads: int = 8,
    head_dim: int | None = None,
    dropout: float = 0.0,
) -> nn.Module:
    """What mixes the tokens of a forecaster, by name or from a factory, which brings heads of its own.

    `normlin` is W_post NormLin(W_pre x). Dropout is of the matrix; only `attention` takes another width of its heads.
    """
    if callable(mixer):
        return mixer(tokens, model_dim, dropout=dropout)
    if mixer == "normlin":
        pre, post = nn.Linear(model_dim, model_dim), nn.Linear(model_dim, model_dim)
        return nn.Sequential(OrderedDict(pre=pre, normlin=NormLin(tokens, dropout=dropout), post=post))
    if mixer not in TOKEN_MIXERS:
        known = dict.fromkeys(("attention", "normlin", *TOKEN_MIXERS))
        raise ConfigError(f"mixer must be one of {', '.join(known)} or a factory, found {mixer!r}")
    width = {"head_dim": head_dim} if mixer == "attention" else {}
    return TOKEN_MIXERS[mixer](tokens, model_dim, heads=heads, dropout=dropout, **width)


def encoder_block(
    tokens: int,
    model_dim: int,
    ff_dim: int,
    *,
    mixer: str | TokenMixer = "attention",
    heads: int = 8,
    dropout: float = 0.0,
) -> nn.Sequential:
    """A post-norm transformer block over tokens; `mixer="normlin"` puts W_post NormLin(W_pre x) in attention's place.

    x = LayerNorm(x + drop(mix(x))),     x = LayerNorm(x + drop(W₂ drop(GELU(W₁ x))))
    """
    inner = token_mixer(mixer, tokens, model_dim, heads=heads, dropout=dropout)
    mix = CrossSeriesLearner(model_dim, inner, pre_linear=False, post_linear=False, dropout=dropout)
    return nn.Sequential(mix, IntraSeriesLearner(model_dim, ff_dim, dropout=dropout))
