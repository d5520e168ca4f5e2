"""A llama in plain torch: one prefill for each prompt, and any number of continuations that share it."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, silu

PLACES = 64  # for so many symbols more is room made at a time


@dataclass(frozen=True)
class LlamaSizes:
    """The sizes of a llama, and the two numbers of its formulas."""

    blocks: int
    width: int
    ff_width: int
    heads: int
    kv_heads: int
    head_width: int
    context: int  # tokens it was trained to read
    epsilon: float
    rope_base: float


@dataclass
class Prompts:
    """Keys and values of some prompts, which their continuations share, each block's `p k t e`."""

    keys: list[Tensor]
    values: list[Tensor]
    lengths: Tensor  # p
    hidden: Tensor  # p t: the places that a shorter prompt leaves empty


class Continuations:
    """Keys and values of what was written after the prompts, each block's `p s k t e`, and how much that is.

    Room is made some places at a time: matrix products of a part of a tensor would copy that part in every step.
    """

    def __init__(self, sizes: LlamaSizes, prompts: Prompts, samples: int):
        like = prompts.keys[0]
        shape = (len(prompts.lengths), samples, sizes.kv_heads, PLACES, sizes.head_width)
        self.keys, self.values = ([like.new_zeros(shape) for _ in range(sizes.blocks)] for _ in range(2))
        self.written = 0

    def make_room(self) -> None:
        """For one more symbol."""
        if self.written == self.keys[0].shape[3]:
            for side in (self.keys, self.values):
                side[:] = [nn.functional.pad(block, (0, 0, 0, PLACES)) for block in side]

    def hidden(self) -> Tensor:
        """The places `t` that are still empty."""
        places = torch.arange(self.keys[0].shape[3], device=self.keys[0].device)
        return places > self.written


class Turns(NamedTuple):
    """Cosines and sines by which RoPE turns the pairs of a head, `… 1 e/2`."""

    cosines: Tensor
    sines: Tensor

    @classmethod
    def at(cls, positions: Tensor, size: int, base: float) -> Self:
        """Of positions `…`: pair i of a head of this size turns by `position · base^(-2i/size)`."""
        rates = base ** (-torch.arange(0, size, 2, device=positions.device, dtype=torch.float64) / size)
        angle = positions.double()[..., None, None] * rates
        return cls(angle.cos().float(), angle.sin().float())


def rotate(x: Tensor, turns: Turns) -> Tensor:  # … i e
    """RoPE on neighbouring pairs, which is how GGUF has the weights of llamas."""
    even, odd = x[..., ::2], x[..., 1::2]
    cosines, sines = turns
    return torch.stack([even * cosines - odd * sines, even * sines + odd * cosines], -1).flatten(-2)


class LlamaBlock(nn.Module):
    """Causal attention whose queries share keys and values, and a gated feed-forward part, each beside a residual.

        x = x + W_o attention(norm(x)),     x = x + W_d (silu(W_g norm(x)) ⊙ W_u norm(x))

    Products are in the dtype of the weights, everything else in float32.
    """

    def __init__(self, sizes: LlamaSizes):
        super().__init__()
        self.sizes = sizes
        queries, others = sizes.heads * sizes.head_width, sizes.kv_heads * sizes.head_width
        self.attention_norm = nn.RMSNorm(sizes.width, sizes.epsilon)
        self.query_key_value = nn.Parameter(torch.empty(queries + 2 * others, sizes.width))
        self.attention_output = nn.Parameter(torch.empty(sizes.width, queries))
        self.ff_norm = nn.RMSNorm(sizes.width, sizes.epsilon)
        self.gate_up = nn.Parameter(torch.empty(2 * sizes.ff_width, sizes.width))
        self.down = nn.Parameter(torch.empty(sizes.width, sizes.ff_width))

    def project(self, x: Tensor, turns: Turns) -> tuple[Tensor, Tensor, Tensor]:  # … d
        """Queries `… k g e`, keys and values `… k e`; queries and keys turned to their positions."""
        sizes = self.sizes
        joint = _product(self.attention_norm(x), self.query_key_value).unflatten(-1, (-1, sizes.head_width))  # … i e
        query, key, value = joint.split((sizes.heads, sizes.kv_heads, sizes.kv_heads), -2)
        turned = rotate(torch.cat([query, key], -2), turns)
        query, key = turned.split((sizes.heads, sizes.kv_heads), -2)
        return query.unflatten(-2, (sizes.kv_heads, -1)), key, value

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:  # … d, … k g e
        x = x + _product(attended.flatten(-3), self.attention_output)
        gate, up = _product(self.ff_norm(x), self.gate_up).chunk(2, -1)
        return x + _product(silu(gate) * up, self.down)


class Llama(nn.Module):
    """The language model of Touvron et al. 2023, over the few symbols that are asked for.

    Args:
        sizes: of the model.
        symbols: how many tokens of its vocabulary there are here; the others are never read nor written.
    """

    def __init__(self, sizes: LlamaSizes, symbols: int):
        super().__init__()
        self.sizes = sizes
        self.embedding = nn.Parameter(torch.empty(symbols, sizes.width))
        self.blocks = nn.ModuleList(LlamaBlock(sizes) for _ in range(sizes.blocks))
        self.norm = nn.RMSNorm(sizes.width, sizes.epsilon)
        self.head = nn.Parameter(torch.empty(symbols, sizes.width))

    def read(self, prompts: list[Tensor]) -> tuple[Tensor, Prompts]:
        """The logits `p v` after each prompt, and what its continuations need of it."""
        read = [self._read_one(prompt) for prompt in prompts]
        lengths = torch.tensor([len(prompt) for prompt in prompts], device=self.head.device)
        longest = int(lengths.max())
        hidden = torch.arange(longest, device=lengths.device) >= lengths[:, None]  # p t
        keys, values = (
            [torch.stack([_pad(each, longest) for each in block]) for block in zip(*side, strict=True)]
            for side in ([each[1] for each in read], [each[2] for each in read])
        )
        return torch.stack([each[0] for each in read]), Prompts(keys, values, lengths, hidden)

    def _read_one(self, prompt: Tensor) -> tuple[Tensor, list[Tensor], list[Tensor]]:  # t
        """The logits after the last token `v`, and each block's keys and values `k t e`."""
        x = self.embedding[prompt].float()  # t d
        positions = torch.arange(len(prompt), device=x.device)
        later = positions > positions[:, None]  # t t
        turns = self._turns(positions)
        keys, values = [], []
        for block in self.blocks:
            query, key, value = block.project(x, turns)  # type: ignore[operator]
            key, value = (_stored(each.transpose(0, 1), self.head) for each in (key, value))  # k t e
            scores = _stored(query.permute(1, 2, 0, 3), key) @ key.mT[:, None]  # k g t t
            weights = _attention_weights(scores, later, query.shape[-1])
            attended = _stored(weights, value) @ value[:, None]  # k g t e
            x = block.finish(x, attended.permute(2, 0, 1, 3).float())  # type: ignore[operator]
            keys.append(key)
            values.append(value)
        return _product(self.norm(x[-1]), self.head), keys, values

    def write(self, symbols: Tensor, prompts: Prompts, written: Continuations) -> Tensor:  # p s
        """The logits `p s v` after one more symbol of every continuation, which is added to what was written."""
        x = self.embedding[symbols].float()  # p s d
        written.make_room()
        place, behind = written.written, written.hidden().expand(len(symbols), -1)
        hidden = torch.cat([prompts.hidden, behind], 1)[:, None, None, None]  # p 1 1 1 t
        turns = self._turns((prompts.lengths + place)[:, None])  # the samples of a prompt stand at the same place
        for block, *shared, keys, values in zip(
            self.blocks, prompts.keys, prompts.values, written.keys, written.values, strict=True
        ):
            query, key, value = block.project(x, turns)  # type: ignore[operator]
            keys[:, :, :, place], values[:, :, :, place] = key, value  # p s k e
            x = block.finish(x, _attend_both(query, shared, [keys, values], hidden))  # type: ignore[operator]
        written.written += 1
        return _product(self.norm(x), self.head)

    def _turns(self, positions: Tensor) -> Turns:
        return Turns.at(positions, self.sizes.head_width, self.sizes.rope_base)


def _attend_both(query: Tensor, shared: list[Tensor], own: list[Tensor], hidden: Tensor) -> Tensor:
    """One softmax over the prompt `p k t e` and what was written after it `p s k t e`; queries `p s k g e`."""
    (keys, values), samples = shared, query.shape[1]
    asked = _stored(query, keys)
    of_prompt = (_by_prompt(asked) @ keys.mT).unflatten(2, (samples, -1)).transpose(1, 2)  # p s k g t
    scores = torch.cat([of_prompt, asked @ own[0].mT], -1)
    weights = _stored(_attention_weights(scores, hidden, query.shape[-1]), values)
    before, after = weights.split((keys.shape[2], own[0].shape[3]), -1)
    from_prompt = (_by_prompt(before) @ values).unflatten(2, (samples, -1)).transpose(1, 2)  # p s k g e
    return (from_prompt + after @ own[1]).float()


def _by_prompt(x: Tensor) -> Tensor:
    """`p s k g e -> p k s·g e`: all that meets the same keys, as one matrix."""
    return x.transpose(1, 2).flatten(2, 3)


def _attention_weights(scores: Tensor, hidden: Tensor, size: int) -> Tensor:
    return (scores.float() / size**0.5).masked_fill_(hidden, float("-inf")).softmax(-1)


def _product(x: Tensor, weight: Tensor) -> Tensor:
    """In the dtype of the weight; the result in float32."""
    return linear(x.to(weight.dtype), weight).float()


def _stored(x: Tensor, like: Tensor) -> Tensor:
    return x.to(like.dtype)


def _pad(x: Tensor, length: int) -> Tensor:  # k t e
    return nn.functional.pad(x, (0, 0, 0, length - x.shape[1]))
