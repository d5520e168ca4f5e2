"""A language model from a GGUF file: its sizes, its weights, and the few tokens that numbers are written with."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from olinear.core import CheckpointError, MissingDependencyError
from olinear.models.zoo.blocks.llama import Llama, LlamaSizes
from olinear.models.zoo.blocks.numerals import DIGITS, SYMBOLS

MOST_BLOCKS, LARGEST_WIDTH = 1_000, 1_000_000  # no llama has more; a damaged file may say so
# Our name of a block's weight: those of the file, one below the other.
OF_BLOCK = {
    "attention_norm.weight": ("attn_norm",),
    "query_key_value": ("attn_q", "attn_k", "attn_v"),
    "attention_output": ("attn_output",),
    "ff_norm.weight": ("ffn_norm",),
    "gate_up": ("ffn_gate", "ffn_up"),
    "down": ("ffn_down",),
}


class LanguageModel(NamedTuple):
    """A llama over `SYMBOLS`, and the symbol that begins a text, where its file wants one."""

    llama: Llama
    begin: int | None


def read_language_model(path: Path, dtype: torch.dtype, device: torch.device) -> LanguageModel:
    """The language model of a GGUF file of the architecture llama, whatever its weights are quantised to."""
    reader_of, dequantize = _gguf()
    try:
        reader = reader_of(path)
        fields = _Fields(reader.fields)
        tensors = {tensor.name: tensor for tensor in reader.tensors}
        sizes = _sizes(fields)
        tokens, begin = _tokens(fields)

        def read(name: str, rows: Sequence[int] | None = None) -> Tensor:
            found = tensors[name]
            data = found.data if rows is None else found.data[list(rows)]
            return torch.from_numpy(np.array(dequantize(data, found.tensor_type), dtype=np.float32))

        weights = _weights(sizes, tensors, read, tokens)
        return LanguageModel(_build(sizes, len(tokens), weights, dtype, device), begin)
    except _Unfit as error:
        raise CheckpointError(f"{path} is not a language model that LLMTime can ask: {error}") from error
    except (ArithmeticError, LookupError, MemoryError, NotImplementedError, OSError, TypeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise CheckpointError(f"{path} cannot be read as a GGUF file ({reason}): copy or download it again") from error


class _Unfit(Exception):
    """The file is whole, but its model is of another kind."""


class _Fields:
    """What a file says of its model, by name."""

    def __init__(self, fields: Mapping[str, Any]):
        self.fields = fields

    def get(self, name: str, otherwise: Any = None) -> Any:
        return self.fields[name].contents() if name in self.fields else otherwise

    def number(self, name: str, otherwise: float | None = None) -> float:
        found = self.get(f"llama.{name}", otherwise)
        if found is None:
            raise _Unfit(f"it does not say its {name}")
        return float(found)

    def count(self, name: str, most: int = LARGEST_WIDTH, otherwise: float | None = None) -> int:
        found = self.number(name, otherwise)
        if not 1 <= found <= most:
            raise _Unfit(f"its {name} is {found:g}, which must lie between 1 and {most}")
        return int(found)


def _gguf() -> tuple[Any, Any]:
    try:
        from gguf import GGUFReader, dequantize
    except ImportError as error:
        raise MissingDependencyError(
            "LLMTime reads its language model with gguf, which is not installed: pip install 'olinear[llm]'"
        ) from error
    return GGUFReader, dequantize


def _sizes(fields: _Fields) -> LlamaSizes:
    kind = fields.get("general.architecture")
    if kind != "llama":
        raise _Unfit(f"its architecture is {kind}, wanted is llama, such as SmolLM2 or Llama 2")
    scaling = fields.get("llama.rope.scaling.type", "none")
    if scaling != "none":
        raise _Unfit(f"its positions are scaled ({scaling})")
    width, heads = fields.count("embedding_length"), fields.count("attention.head_count")
    head_width = fields.count("attention.key_length", otherwise=width // heads)
    if fields.count("rope.dimension_count", otherwise=head_width) != head_width or head_width % 2:
        raise _Unfit(f"its positions turn a part of its heads of {head_width}")
    kv_heads = fields.count("attention.head_count_kv", otherwise=heads)
    if heads % kv_heads:
        raise _Unfit(f"its {heads} heads do not share {kv_heads} keys evenly")
    return LlamaSizes(
        blocks=fields.count("block_count", MOST_BLOCKS),
        width=width,
        ff_width=fields.count("feed_forward_length"),
        heads=heads,
        kv_heads=kv_heads,
        head_width=head_width,
        context=fields.count("context_length", 10**9),
        epsilon=fields.number("attention.layer_norm_rms_epsilon"),
        rope_base=fields.number("rope.freq_base", 10_000.0),
    )


def _tokens(fields: _Fields) -> tuple[list[int], int | None]:
    """The tokens of `SYMBOLS`, then the one that begins a text, and which symbol that is, where one does."""
    vocabulary = fields.get("tokenizer.ggml.tokens", [])
    places = {token: place for place, token in enumerate(vocabulary)}
    missing = [symbol for symbol in SYMBOLS if symbol not in places]
    if missing:
        raise _Unfit(f"it has no token of its own for {' '.join(missing)}")
    joined = next((token for token in vocabulary if len(token) > 1 and set(token) <= set(SYMBOLS[:DIGITS])), None)
    if joined is not None:
        raise _Unfit(f"it reads {joined} as one token: take one that reads digit by digit, such as SmolLM2 or Llama 2")
    tokens = [places[symbol] for symbol in SYMBOLS]
    begin = fields.get("tokenizer.ggml.bos_token_id")
    wanted = fields.get("tokenizer.ggml.add_bos_token", fields.get("tokenizer.ggml.model") == "llama")
    if not wanted or begin is None:
        return tokens, None
    return [*tokens, int(begin)], len(tokens)


def _weights(sizes: LlamaSizes, tensors: Mapping[str, Any], read: Any, tokens: Sequence[int]) -> dict[str, Tensor]:
    """By our names; a tensor of the file that has none would be left out of the computation, and is refused."""
    head = "output" if "output.weight" in tensors else "token_embd"  # many share one table for both
    found = {
        "embedding": read("token_embd.weight", tokens),
        "norm.weight": read("output_norm.weight"),
        "head": read(f"{head}.weight", tokens),
    }
    used = {"token_embd.weight", "output_norm.weight", f"{head}.weight"}
    for block in range(sizes.blocks):
        for ours, parts in OF_BLOCK.items():
            names = [f"blk.{block}.{part}.weight" for part in parts]
            found[f"blocks.{block}.{ours}"] = torch.cat([read(name) for name in names])
            used.update(names)
    unknown = sorted(set(tensors) - used)
    if unknown:
        raise _Unfit(f"it has parts that a llama has not: {', '.join(unknown[:3])}")
    return found


def _build(
    sizes: LlamaSizes, symbols: int, weights: dict[str, Tensor], dtype: torch.dtype, device: torch.device
) -> Llama:
    with torch.device("meta"):
        llama = Llama(sizes, symbols)
    for name, parameter in llama.named_parameters():
        if weights[name].shape != parameter.shape:
            wanted, shape = tuple(parameter.shape), tuple(weights[name].shape)
            raise _Unfit(f"its {name} must have shape {wanted} by its sizes, found {shape}")
    llama.load_state_dict(
        {name: nn.Parameter(_placed(name, each, dtype, device)) for name, each in weights.items()}, assign=True
    )
    return llama.eval().requires_grad_(False)


def _placed(name: str, weight: Tensor, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Norms stay float32: they are no products."""
    return weight.to(device, torch.float32 if "norm" in name else dtype)
