"""CARD: attention over series, over patches and over features."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core import ConfigError
from olinear.models.zoo.blocks.attention import head_width, split_heads
from olinear.models.zoo.blocks.layers import Dropout, feed_forward
from olinear.models.zoo.blocks.norms import TokenBatchNorm, UnbiasedNorm
from olinear.models.zoo.blocks.patches import count_patches, cut_patches
from olinear.models.zoo.blocks.window_model import WindowModel


class CARD(WindowModel):
    """Patches attend over series, then over time, each time also over features; neighbours are blended.

    X. Wang, T. Zhou, Q. Wen, J. Gao, B. Ding, R. Jin: CARD: Channel Aligned Robust Blend Transformer for Time Series
    Forecasting. ICLR 2024.

        z = (x - mean) / (s + 10⁻⁴),     X⁰ = [token, drop(Patches(z) W_p) + P]
        C = Blend_series(Xˡ),     D = Blend_time(C),     Xˡ⁺¹ = BN(Xˡ + drop(W_b (C + D)))
        ŷ = (s + 10⁻⁴) W_d vec(Xᴸ) + mean

    s is the unbiased deviation of the window. The defaults are the authors' setting for ETTh1; their loss, also of the
    validation, is the weighted L1. Queries and keys are smoothed along their sequence, so the order of series counts.
    In the release the smoothing has a row for each of the T = 1 + patches tokens, also where it runs over series: from
    the T-th on (there being more series than tokens) a series has queries of zero and takes the plain mean.

    With 7 series, 96 → 96: 32,112 parameters. The release counts 33,536: the other 1,424 are a map of two statistics to
    a token (48), an unused compression over time (144 a block) and an unused map of width m in each attention (272).
    Nothing that is used was simplified. Not checked: settings other than ETTh1's.

    Args:
        n_series, lookback, horizon: n, t, h. The head, shared by all series, sees the T tokens of one.
        patch_length, stride: of the patches, cut without padding.
        model_dim, ff_dim: m and f.
        blocks, heads: L and H.
        rank: to how many tokens keys and values are compressed where attention runs over series.
        merge: how many neighbours of one head are blended into a token; it divides the heads.
        smoothing: α, the weight of the newest query or key in their exponential average.
        smooth_all: smooth all series instead of the first T alone.
        dropout: of the embedding, the attention matrices, the hidden features and the blocks' branch.
    """

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        patch_length: int = 16,
        stride: int = 8,
        model_dim: int = 16,
        ff_dim: int = 32,
        blocks: int = 2,
        heads: int = 2,
        rank: int = 8,
        merge: int = 2,
        smoothing: float = 0.5,
        smooth_all: bool = False,
        dropout: float = 0.3,
    ):
        super().__init__(n_series, lookback, horizon)
        self.patch_length, self.stride = patch_length, stride
        patches = count_patches(lookback, patch_length, stride, pad_end=False)
        tokens = patches + 1
        self.norm = UnbiasedNorm(n_series, affine=False, eps=1e-4, eps_on="deviation")
        self.embed = nn.Linear(patch_length, model_dim)
        self.position = nn.Parameter(0.01 * torch.randn(patches, model_dim))
        self.token = nn.Parameter(0.01 * torch.randn(1, model_dim))
        self.dropout = Dropout(dropout)
        shared: dict[str, Any] = {"heads": heads, "merge": merge, "smoothing": smoothing, "dropout": dropout}
        self.blocks = nn.Sequential()
        for _ in range(blocks):
            series = BlendAttention(
                n_series, model_dim, ff_dim, rank=rank, smoothed=None if smooth_all else tokens, **shared
            )
            time = BlendAttention(tokens, model_dim, ff_dim, **shared)
            self.blocks.append(CARDBlock(series, time, model_dim, dropout=dropout))
        self.head = nn.Linear(tokens * model_dim, horizon)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        x, stats = self.norm(x)
        patches = cut_patches(x.mT, self.patch_length, self.stride, pad_end=False)  # b n p length
        tokens = self.dropout(self.embed(patches)) + self.position  # b n p m
        tokens = torch.cat([self.token.expand(*tokens.shape[:2], -1, -1), tokens], -2)  # b n T m
        y = self.head(self.blocks(tokens).flatten(-2))  # b n h
        return self.norm.inverse(y.mT, stats)  # b h n


class CARDBlock(nn.Module):
    """Attention over series, then over the tokens of each: `b n T m -> b n T m`.

    C = series(x),     y = BN(x + drop(W (C + time(C))))
    """

    def __init__(self, series: nn.Module, time: nn.Module, model_dim: int, *, dropout: float):
        super().__init__()
        self.series, self.time = series, time
        self.linear = nn.Linear(model_dim, model_dim)
        self.norm = TokenBatchNorm(model_dim)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:  # b n T m
        mixed = self.series(x.transpose(1, 2)).transpose(1, 2)
        mixed = mixed + self.time(mixed)
        return self.norm(x + self.dropout(self.linear(mixed)))


class BlendAttention(nn.Module):
    """Attention over tokens and over features, both blended across neighbouring tokens: `... k m -> ... k m`.

        O₁ = softmax(E q (E k)ᵀ √d) v,     O₂ = v softmax(qᵀ k √k)ᵀ     for each head,  q, k, v = W x
        y = BN(x + FF₁(BN(blend(O₁))) + FF₂(BN(blend(O₂))))

    Scores are multiplied by √d, and by the root of the number of tokens, as the release does, not divided. With a
    rank, O₁ takes compressed keys and values, softmax_ρ(W_k k)ᵀ k `[ρ, d]` and likewise v.

    Args:
        tokens, model_dim, ff_dim: k, m, f.
        heads, merge, smoothing: H, how many neighbours `blend` joins, and α of E.
        rank: ρ; None leaves keys and values as they are.
        smoothed: how many rows of E are filled; None fills all.
        dropout: of both softmax matrices and of the hidden features.
    """

    query_smoothing: Tensor
    key_smoothing: Tensor

    def __init__(
        self,
        tokens: int,
        model_dim: int,
        ff_dim: int,
        *,
        heads: int,
        merge: int,
        smoothing: float,
        rank: int | None = None,
        smoothed: int | None = None,
        dropout: float = 0.0,
    ):
        super().__init__()
        head_dim = head_width(model_dim, heads)
        if merge < 1 or heads % merge:
            raise ConfigError(f"merge must divide the heads, found {merge} and {heads}")
        self.heads, self.merge, self.dropout = heads, merge, dropout
        self.project = nn.Linear(model_dim, 3 * model_dim)
        for name, length in (("query_smoothing", tokens), ("key_smoothing", rank or tokens)):
            self.register_buffer(name, smoothing_matrix(length, smoothing, smoothed), persistent=False)
        self.compress_key = nn.Linear(head_dim, rank) if rank else None
        self.compress_value = nn.Linear(head_dim, rank) if rank else None
        self.token_norm, self.feature_norm, self.norm = (TokenBatchNorm(model_dim) for _ in range(3))
        self.token_forward, self.feature_forward = (feed_forward(model_dim, ff_dim, dropout) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:  # ... k m
        query, key, value = (split_heads(part, self.heads) for part in self.project(x).chunk(3, -1))  # ... H k d
        by_token = self.token_norm(blend(self.over_tokens(query, key, value), self.merge))
        by_feature = self.feature_norm(blend(self.over_features(query, key, value), self.merge))
        return self.norm(x + self.token_forward(by_token) + self.feature_forward(by_feature))

    def over_tokens(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:  # ... H k d
        """O₁, from smoothed queries and keys."""
        if self.compress_key is not None and self.compress_value is not None:
            key, value = _compress(key, self.compress_key), _compress(value, self.compress_value)  # ... H ρ d
        return self._attend(self.query_smoothing @ query, self.key_smoothing @ key, value)

    def over_features(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:  # ... H k d
        """O₂: the d features of a head are its tokens, the sequence their width."""
        return self._attend(query.mT, key.mT, value.mT).mT

    def _attend(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        drop = self.dropout if self.training else 0.0
        return F.scaled_dot_product_attention(query, key, value, dropout_p=drop, scale=query.shape[-1] ** 0.5)


def smoothing_matrix(length: int, alpha: float, filled: int | None = None) -> Tensor:
    """E of an exponential average, `[length, length]`: E x weighs x_i by α and all before it by 1 - α.

    E_0 = (1, 0, …),     E_i = (1 - α) E_{i-1} + α e_i for i < filled,     0 from there on
    """
    if not 0 < alpha <= 1:
        raise ConfigError(f"smoothing must be above 0 and at most 1, found {alpha}")
    place = torch.arange(length)
    age = place[:, None] - place
    weights = torch.where(age >= 0, (1 - alpha) ** age.clamp(min=0), 0.0) * torch.where(place > 0, alpha, 1.0)
    if filled is not None:
        weights[filled:] = 0.0
    return weights


def blend(x: Tensor, merge: int) -> Tensor:  # ... H k d
    """Tokens of width H·d, each from `merge` neighbours of one head at a time: `... k m`.

    Token j takes the entries (g k + j) merge + r of all heads' tokens written one head after the other, r = 0 …
    merge - 1 and, inside, g = 0 … H / merge - 1.
    """
    heads, tokens = x.shape[-3:-1]
    groups = x.flatten(-3, -2).unflatten(-2, (heads // merge, tokens, merge))  # ... g k r d
    return groups.movedim(-4, -2).flatten(-3)


def _compress(x: Tensor, layer: nn.Module) -> Tensor:  # ... k d
    return layer(x).softmax(-1).mT @ x  # ... ρ d
