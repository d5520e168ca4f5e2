"""Reformer: attention within buckets of a locality-sensitive hash."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core import DataError
from olinear.models.zoo.blocks.attention import Form, check_form, head_width, merge_heads, split_heads

# A token's logit for itself: it attends to itself only where there is nobody else. Fits half precision.
ITSELF = -5e4


class LSHAttention(nn.Module):
    """Attention among tokens that hash alike: `... k m -> ... k m`, in O(k log k).

    N. Kitaev, Ł. Kaiser, A. Levskaya: Reformer: The Efficient Transformer. ICLR 2020.

        bucket_r(z) = argmax [z G_r, -z G_r],     y_r = softmax(z ẑᵀ / √d) v  over the nearby tokens of round r
        y = Σ_r softmax_r(log Σ exp logits_r) y_r

    Queries and keys share one map, z; keys are its unit vectors ẑ. In each round tokens are sorted by bucket and cut
    into chunks; a chunk attends to itself and to the one before it (the first to the last).

    `form="experiment"` is what the paper's comparison computed: the hashing attention sits between a query and an
    output map of its own besides the usual ones, a chunk attends across the borders of its buckets, and the zero tokens
    that fill the last chunk are attended to. `form="paper"` is the authors': no further maps, attention within a bucket
    only, none to the filling, and a pair that meets in several rounds counts once. Neither is causal. Not checked:
    whether the first chunk of a round looked back to the last of the same round, as here, or of the round before.

    Args:
        tokens, model_dim, heads: k, m and H.
        bucket: the length of a chunk, and the mean size of a bucket.
        rounds: how often tokens are hashed.
        form: see above.
        redraw: draw the G_r anew at every call, as in the comparison, whose forecasts are therefore random. By default
            that happens in training only; evaluation uses one G, which is saved with the module.
    """

    rotation: Tensor

    def __init__(
        self,
        tokens: int,
        model_dim: int,
        *,
        heads: int = 8,
        bucket: int = 4,
        rounds: int = 4,
        form: Form = "experiment",
        redraw: bool = False,
    ):
        super().__init__()
        width = head_width(model_dim, heads)
        check_form(form)
        self.tokens, self.heads, self.bucket, self.redraw = tokens, heads, bucket, redraw
        self.strict = form == "paper"
        self.filling = -tokens % (2 * bucket)
        self.query = nn.Identity() if self.strict else nn.Linear(model_dim, model_dim)
        self.shared = nn.Linear(model_dim, model_dim, bias=False)
        self.value = nn.Linear(model_dim, model_dim, bias=False)
        self.inner = nn.Identity() if self.strict else nn.Linear(model_dim, model_dim)
        self.output = nn.Linear(model_dim, model_dim)
        half = (tokens + self.filling) // bucket // 2
        self.register_buffer("rotation", torch.randn(rounds, width, half))

    def forward(self, x: Tensor) -> Tensor:  # ... k m
        if x.shape[-2] != self.tokens:
            raise DataError(f"input must have {self.tokens} tokens, found {x.shape[-2]}")
        x = F.pad(self.query(x), (0, 0, 0, self.filling))  # ... l m
        shared, value = (split_heads(layer(x), self.heads) for layer in (self.shared, self.value))  # ... H l d
        rotation = torch.randn_like(self.rotation) if self.training or self.redraw else self.rotation
        kept = self.tokens if self.strict else None
        mixed = lsh_attention(shared, value, rotation, self.bucket, kept)[..., : self.tokens, :]  # ... H k d
        return self.output(self.inner(merge_heads(mixed)))  # ... k m


def lsh_attention(shared: Tensor, value: Tensor, rotation: Tensor, bucket: int, kept: int | None = None) -> Tensor:
    """The hashing attention of each head, `... l d -> ... l d`.

    Args:
        shared, value: z and v; l is a multiple of `2 · bucket`.
        rotation: G, `r d B/2`, for r rounds and B buckets.
        bucket: the length c of a chunk.
        kept: the number of tokens that are not filling; if given, the authors' form, within buckets.
    """
    rotated = shared.unsqueeze(-3) @ rotation  # ... r l B/2
    buckets = torch.cat([rotated, -rotated], -1).argmax(-1)  # ... r l
    order = buckets.argsort(dim=-1, stable=True)  # ... r l: by bucket, then by place
    place = order.argsort(dim=-1)  # ... r l: where each token went
    asking = order.unflatten(-1, (-1, bucket))  # ... r l/c c
    asked = torch.cat([asking, asking.roll(1, -2)], -1)  # ... r l/c 2c
    logits = _take(shared, asking) @ _take(F.normalize(shared, dim=-1), asked).mT / math.sqrt(shared.shape[-1])
    same = asking[..., :, None] == asked[..., None, :]  # ... r l/c c 2c
    if kept is not None:
        times = _times_met(asking, asked, torch.stack([buckets, place // bucket], -1)).to(logits)
        strangers = (times == 0) | (asked >= kept)[..., None, :]
        logits = (logits - times.clamp(min=1).log()).masked_fill(strangers, -torch.inf)
    logits = logits.masked_fill(same, ITSELF)
    mixed = (logits.softmax(-1) @ _take(value, asked)).flatten(-3, -2)  # ... r l d
    weight = logits.logsumexp(-1).flatten(-2)  # ... r l
    mixed = _take(mixed, place)  # ... r l d
    weight = weight.gather(-1, place).softmax(-2)
    return (weight[..., None] * mixed).sum(-3)  # ... l d


def _take(x: Tensor, tokens: Tensor) -> Tensor:
    """Rows of `... l d` by number, `... * -> ... * d`; whole rows are copied, which `gather` would not do."""
    lead, (length, width) = x.shape[:-2], x.shape[-2:]
    first = torch.arange(0, lead.numel() * length, length, device=x.device)
    first = first.view(*lead, *[1] * (tokens.ndim - len(lead)))
    return x.flatten(0, -2).index_select(0, (first + tokens).flatten()).view(*tokens.shape, width)


def _times_met(asking: Tensor, asked: Tensor, hashed: Tensor) -> Tensor:
    """In how many rounds a pair shares a bucket within reach, if it does so in this one, `... r l/c c 2c`.

    `hashed` holds the bucket and the chunk of each token, `... r l 2`.
    """
    chunks = asking.shape[-2]
    rounds = []
    for now in hashed.unbind(-3):  # ... l 2
        apart = _take(now, asking).unsqueeze(-2) - _take(now, asked).unsqueeze(-3)  # ... r l/c c 2c 2
        rounds.append((apart[..., 0] == 0) & (apart[..., 1] % chunks <= 1))
    met = torch.stack(rounds, -5)  # ... r' r l/c c 2c
    return met.sum(-5) * met.diagonal(dim1=-5, dim2=-4).movedim(-1, -4)
