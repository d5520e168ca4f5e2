"""Self-attention over tokens."""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core import ConfigError

Form = Literal["experiment", "paper"]


class HeadMixer(nn.Module):
    """Maps around H heads of width d; a subclass says how the tokens of a head meet: `... k m -> ... k m`.

        HeadMixer(x) = W_o [Mix(W_q x, W_k x, W_v x)]_heads

    Args:
        model_dim: m.
        heads: H, each of width `head_dim`, m / H unless given.
    """

    def __init__(self, model_dim: int, *, heads: int = 8, head_dim: int | None = None):
        super().__init__()
        inner = heads * (head_dim or head_width(model_dim, heads))
        self.heads = heads
        self.query, self.key, self.value = (nn.Linear(model_dim, inner) for _ in range(3))
        self.output = nn.Linear(inner, model_dim)

    def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:  # ... H k d
        raise NotImplementedError

    def weights(self, query: Tensor, key: Tensor) -> Tensor | None:  # ... H k d
        """The matrix that stands before the values, without dropout, `... H k k`; None where there is none."""
        return None

    def forward(self, x: Tensor) -> Tensor:  # ... k m
        return self.output(merge_heads(self.mix(*self.split(x))))  # ... k m

    def split(self, x: Tensor) -> list[Tensor]:  # ... k m
        """Queries, keys and values by heads: three of `... H k d`."""
        return [split_heads(layer(x), self.heads) for layer in (self.query, self.key, self.value)]


class SelfAttention(HeadMixer):
    """Multi-head self-attention through PyTorch's fused kernel: `... k m -> ... k m`.

        Attention(x) = W_o [softmax(Q_i K_iᵀ / √d) V_i]_heads

    Args:
        model_dim, heads, head_dim: m, H and d.
        dropout: falls on the softmax matrix.
        causal: no token attends to a later one.
    """

    def __init__(
        self,
        model_dim: int,
        *,
        heads: int = 8,
        head_dim: int | None = None,
        dropout: float = 0.0,
        causal: bool = False,
    ):
        super().__init__(model_dim, heads=heads, head_dim=head_dim)
        self.dropout, self.causal = dropout, causal

    def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:  # ... H k d
        drop = self.dropout if self.training else 0.0
        return F.scaled_dot_product_attention(query, key, value, dropout_p=drop, is_causal=self.causal)

    def weights(self, query: Tensor, key: Tensor) -> Tensor:  # ... H k d
        return attention_scores(query, key).softmax(-1)

    def scored(self, x: Tensor, earlier: Tensor | None = None) -> tuple[Tensor, Tensor]:  # ... k m, ... H k k
        """Residual attention: an earlier layer's scores are added before the softmax, and the sum is handed on.

        S = Q Kᵀ / √d + S_earlier,     y = W_o [softmax(S_i) V_i]_heads
        """
        query, key, value = self.split(x)
        # Transposed, since a softmax over a few neighbours in memory takes several times as long as across rows.
        scores = key @ query.mT * query.shape[-1] ** -0.5  # ... H k k: keys, then queries
        if earlier is not None:
            scores = scores + earlier.mT
        if self.causal:
            scores = scores.masked_fill(torch.ones_like(scores, dtype=torch.bool).tril(-1), -torch.inf)
        weights = F.dropout(scores.softmax(-2), self.dropout, self.training)
        return self.output(merge_heads(weights.mT @ value)), scores.mT


class CrossAttention(SelfAttention):
    """Multi-head attention of some tokens to others, with SelfAttention's maps: `... k m`, `... l m` -> `... k m`.

        CrossAttention(x, y) = W_o [softmax(Q_i K_iᵀ / √d) V_i]_heads,     Q = W_q x,  K, V = W_k y, W_v y

    Queries that are the same for a whole batch may come without its axis: they are mapped once.
    """

    def forward(self, x: Tensor, source: Tensor | None = None) -> Tensor:  # ... k m, ... l m
        source = x if source is None else source
        query, key, value = (
            split_heads(layer(tokens), self.heads)
            for layer, tokens in ((self.query, x), (self.key, source), (self.value, source))
        )
        query = query.expand(*key.shape[:-2], *query.shape[-2:])  # ... H k d
        return self.output(merge_heads(self.mix(query, key, value)))  # ... k m


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
        return F.dropout(self.weights(query, key), self.dropout) @ value

    def weights(self, query: Tensor, key: Tensor) -> Tensor:  # ... H k d
        added = F.softplus(self.weight)  # k k
        return (attention_scores(query, key).softmax(-1) + added) / (1 + added.sum(-1, keepdim=True))


def attention_scores(query: Tensor, key: Tensor) -> Tensor:  # ... H k d, ... H l d
    """Q Kᵀ / √d, `... H k l`, which the fused kernel computes and does not hand out."""
    return query @ key.mT * query.shape[-1] ** -0.5


def head_width(model_dim: int, heads: int) -> int:
    """d = m / H."""
    if model_dim % heads:
        raise ConfigError(f"model_dim must be a multiple of heads, found {model_dim} and {heads}")
    return model_dim // heads


def split_heads(x: Tensor, heads: int) -> Tensor:  # ... k m
    return x.unflatten(-1, (heads, -1)).transpose(-2, -3)  # ... H k d


def merge_heads(x: Tensor) -> Tensor:  # ... H k d
    return x.transpose(-2, -3).flatten(-2)  # ... k m


def check_form(form: str) -> None:
    """`experiment` is a mixer as the paper's comparison computed it, `paper` as its own authors describe it."""
    if form not in ("experiment", "paper"):
        raise ConfigError(f"form must be 'experiment' or 'paper', found {form!r}")
