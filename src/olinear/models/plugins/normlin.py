"""NormLin in the place of attention, in modules built from PyTorch's own layers."""

from collections.abc import Mapping
from copy import deepcopy

import torch
from torch import Tensor, nn

from olinear.core import ConfigError, DataError
from olinear.models.zoo.blocks.mixers import find_mixer
from olinear.nn import MixerFactory, SeriesMixer


class NormLinAttention(nn.Module):
    """W_post NormLin(W_pre x) behind the interface of `nn.MultiheadAttention` (Section 4.3).

        output = W_post A W_pre value,     A = RowNorm_L1(Softplus(W)) [k, k]

    Called as `output, weights = attention(query, key, value, need_weights=True, …)`. A does not depend on the input,
    so `query` must be `key` (self-attention) and only `value` is read. It belongs to a fixed number of tokens, and
    among them it cannot be masked: only a causal mask is taken, by a layer made with `causal=True`, which is causal
    with or without one, and serves shorter contexts, too.

    Args:
        model_dim: m.
        tokens: k, or the longest context.
        causal: each token takes from itself and those before it.
        bias: of W_pre and W_post.
        dropout: falls on the entries of A.
        batch_first: `b k m` instead of `k b m`; `k m` always works.
        num_heads: how often `average_attn_weights=False` repeats A, which has no heads.
        mixer: what A's layer is, by name or as a factory: one that has a matrix, such as `partial(NormLin, norm="l2")`.
    """

    # Read by nn.TransformerEncoderLayer and nn.TransformerEncoder: without this bias they take no fused path.
    in_proj_bias = None
    _qkv_same_embed_dim = True

    def __init__(
        self,
        model_dim: int,
        tokens: int,
        *,
        causal: bool = False,
        bias: bool = True,
        dropout: float = 0.0,
        batch_first: bool = False,
        num_heads: int = 1,
        mixer: str | MixerFactory = "normlin",
    ):
        super().__init__()
        self.tokens, self.causal, self.batch_first, self.num_heads = tokens, causal, batch_first, num_heads
        self.pre = nn.Linear(model_dim, model_dim, bias=bias)
        self.mixer = _matrix_mixer(mixer, tokens, model_dim, causal=causal, dropout=dropout)
        self.post = nn.Linear(model_dim, model_dim, bias=bias)

    @classmethod
    def like(
        cls,
        attention: nn.MultiheadAttention,
        tokens: int,
        *,
        causal: bool = False,
        mixer: str | MixerFactory = "normlin",
    ) -> "NormLinAttention":
        """One for the place of `attention`; its value and output maps, which stand where W_pre and W_post do, stay,
        trained or frozen as they were."""
        if type(attention).forward is not nn.MultiheadAttention.forward:
            raise ConfigError(f"{type(attention).__name__} computes something of its own, not nn.MultiheadAttention")
        if not attention._qkv_same_embed_dim:
            raise ConfigError("keys and values of another width than the queries' are cross-attention")
        if attention.bias_k is not None or attention.add_zero_attn:
            raise ConfigError("add_bias_kv and add_zero_attn add tokens that NormLin does not have")
        width, bias = attention.embed_dim, attention.in_proj_bias
        made = cls(
            width,
            tokens,
            causal=causal,
            bias=bias is not None,
            dropout=attention.dropout,
            batch_first=attention.batch_first,
            num_heads=attention.num_heads,
            mixer=mixer,
        ).to(attention.in_proj_weight)
        _take_over(made.pre.weight, attention.in_proj_weight)
        _take_over(made.post.weight, attention.out_proj.weight)
        if bias is not None:
            _take_over(made.pre.bias, bias)
            _take_over(made.post.bias, attention.out_proj.bias)
        return made.train(attention.training)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        if query is not key:
            raise ConfigError(
                "NormLin mixes tokens among themselves, and query and key are two tensors: leave cross-attention as it "
                "is, and call self-attention with one tensor, attention(x, x, x)"
            )
        turn = value.ndim == 3 and not self.batch_first
        x = value.transpose(0, 1) if turn else value  # b k m
        length = x.shape[-2]
        if length > self.tokens or (length < self.tokens and not self.causal):
            raise DataError(f"attention was swapped for {self.tokens} tokens, found {length}")
        self._check_masks(key_padding_mask, attn_mask, is_causal, length)
        mixed = self.post(self.mixer(self.pre(x)))  # b k m
        weights = None
        if need_weights:
            heads = [] if average_attn_weights else [self.num_heads]
            weights = self.mixer.matrix(length).expand(*x.shape[:-2], *heads, -1, -1)  # b k k, or b H k k
        return mixed.transpose(0, 1) if turn else mixed, weights

    def _check_masks(self, padding: Tensor | None, mask: Tensor | None, is_causal: bool, length: int) -> None:
        if padding is not None:
            raise ConfigError(
                "NormLin's matrix is one for all windows, it cannot leave out padding: pass whole windows"
            )
        if (is_causal or mask is not None) and not self.causal:
            raise ConfigError("NormLin without a mask was given one: for a causal mask, swap with causal=True")
        if mask is not None and not is_causal and not _is_causal_mask(mask, length):
            raise ConfigError("NormLin can be causal, but not take other masks: leave this attention as it is")


def _matrix_mixer(
    mixer: str | MixerFactory, tokens: int, model_dim: int, *, causal: bool, dropout: float
) -> SeriesMixer:
    """A mixer that has a matrix, which stands for the attention weights."""
    wishes = {"causal": True} if causal else {}
    made = find_mixer(mixer)(tokens, model_dim, dropout=dropout, **wishes)
    if not isinstance(made, SeriesMixer):
        raise ConfigError(
            f"{type(made).__name__} has no matrix to stand for attention weights: pass 'normlin' or a form of it, such "
            "as partial(NormLin, norm='l2')"
        )
    return made


@torch.no_grad()
def _take_over(new: Tensor, old: Tensor) -> None:
    """Values, and whether they are trained. Of the stacked maps of queries, keys and values, the last is taken."""
    new.copy_(old[-len(new) :])
    new.requires_grad_(old.requires_grad)


def _is_causal_mask(mask: Tensor, tokens: int) -> bool:
    later = torch.ones(tokens, tokens, dtype=torch.bool, device=mask.device).triu(1)
    if mask.dtype != torch.bool:
        later = torch.zeros_like(later, dtype=mask.dtype).masked_fill(later, -torch.inf)
    return bool((mask == later).all()) if mask.shape[-2:] == later.shape else False


def swap_attention(
    module: nn.Module,
    tokens: int | Mapping[str, int],
    *,
    causal: bool = False,
    mixer: str | MixerFactory = "normlin",
    copy: bool = True,
) -> nn.Module:
    """The module with a NormLin in the place of each `nn.MultiheadAttention`, also inside `nn.TransformerEncoder`.

    Each keeps its value and output maps and loses those of queries and keys: 4 (m² + m) parameters become
    2 (m² + m) + k². Train the module afterwards: the matrices are new.

    Args:
        module: any module that holds attention, or an attention itself.
        tokens: k, how many tokens attention runs over: for all of them, or by the name of each (as in
            `module.named_modules()`), in which case the others stay. An attention in several places has one of their
            names and is swapped in all.
        causal: for a decoder over time: each token takes from itself and those before it, and contexts may be shorter.
        mixer: `normlin`, or a factory of something with a matrix, such as `partial(NormLin, norm="l2")`.
        copy: leave `module` as it is and change a copy; otherwise it is changed in place.
    """
    module = deepcopy(module) if copy else module
    places = module.named_modules(remove_duplicate=False)
    found = {name: each for name, each in places if isinstance(each, nn.MultiheadAttention)}
    counts = tokens if isinstance(tokens, Mapping) else dict.fromkeys(found, tokens)
    _check_names(module, found, counts)
    made: dict[nn.Module, NormLinAttention] = {}  # one attention in two places stays one
    for name, count in counts.items():
        if found[name] not in made:
            made[found[name]] = _replacement(name, found[name], int(count), causal, mixer)
    if "" in counts:
        return made[found[""]]
    for name, attention in found.items():
        if attention in made:
            parent, _, leaf = name.rpartition(".")
            setattr(module.get_submodule(parent), leaf, made[attention])
    for each in module.modules():
        if isinstance(each, nn.TransformerEncoder) and any(
            isinstance(part, NormLinAttention) for part in each.modules()
        ):
            each.use_nested_tensor = False  # it hides padding in nested tensors; the layer must see it to refuse it
    return module


def _check_names(module: nn.Module, found: Mapping[str, nn.Module], counts: Mapping[str, int]) -> None:
    if not found:
        raise ConfigError(
            f"{type(module).__name__} holds no nn.MultiheadAttention: olinear's own forecasters take mixer='normlin', "
            "other attention needs NormLin put in its place by hand"
        )
    for name, count in counts.items():
        if count < 1 or count != int(count):
            raise ConfigError(
                f"tokens must be a whole number, at least 1, found {count}: it is how many tokens attention runs over"
            )
        if name not in found:
            raise ConfigError(f"no attention is called {name!r}: there are {', '.join(found)}")
        parent = module.get_submodule(name.rpartition(".")[0])
        if isinstance(parent, nn.TransformerDecoderLayer) and name.endswith("multihead_attn"):
            raise ConfigError(
                f"{name} is cross-attention, which NormLin cannot replace: name the attentions to swap, "
                f"tokens={{{name.removesuffix('multihead_attn') + 'self_attn'!r}: ...}}"
            )


def _replacement(
    name: str, attention: nn.MultiheadAttention, tokens: int, causal: bool, mixer: str | MixerFactory
) -> NormLinAttention:
    try:
        return NormLinAttention.like(attention, tokens, causal=causal, mixer=mixer)
    except ConfigError as error:
        raise ConfigError(f"{name or 'the attention'} cannot be swapped: {error}") from error
