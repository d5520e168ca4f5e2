"""A language model of a few thousand weights, in a GGUF file made on the spot."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

SIZES = {
    "block_count": 2,
    "embedding_length": 16,
    "feed_forward_length": 24,
    "attention.head_count": 4,
    "attention.head_count_kv": 2,
    "context_length": 4096,
}
VOCABULARY = ["<begin>", "a", *"9876543210", "Ġ", "-", ",", "the", "1st"]


def tiny_weights(sizes: Mapping[str, int] = SIZES, vocabulary: int = len(VOCABULARY), seed: int = 0) -> dict[str, Any]:
    """Random weights by the names that GGUF has for them."""
    rng = np.random.default_rng(seed)
    width, ff_width = sizes["embedding_length"], sizes["feed_forward_length"]
    kv_width = width // sizes["attention.head_count"] * sizes["attention.head_count_kv"]
    shapes = {"token_embd": (vocabulary, width), "output_norm": (width,)}
    for block in range(sizes["block_count"]):
        for name, shape in {
            "attn_norm": (width,), "attn_q": (width, width), "attn_k": (kv_width, width), "attn_v": (kv_width, width),
            "attn_output": (width, width), "ffn_norm": (width,), "ffn_gate": (ff_width, width),
            "ffn_up": (ff_width, width), "ffn_down": (width, ff_width),
        }.items():  # fmt: skip
            shapes[f"blk.{block}.{name}"] = shape
    return {
        f"{name}.weight": rng.normal(float(len(shape) == 1), 0.4, shape).astype(np.float32)
        for name, shape in shapes.items()
    }


def write_gguf(
    path: Path,
    weights: Mapping[str, Any] | None = None,
    sizes: Mapping[str, int] = SIZES,
    vocabulary: Sequence[str] = VOCABULARY,
    fields: Mapping[str, Any] | None = None,
    quantised: str | None = None,
    architecture: str = "llama",
) -> Path:
    """A file that holds them; `quantised` names the kind of the matrices, `fields` overrides what else it says."""
    import gguf

    writer = gguf.GGUFWriter(path, architecture)
    said = {f"llama.{name}": value for name, value in sizes.items()}
    said |= {
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.freq_base": 10000.0,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.tokens": list(vocabulary),
    }
    adders = {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32, str: writer.add_string}
    for name, value in (said | dict(fields or {})).items():
        adders.get(type(value), writer.add_array)(name, value)
    for name, weight in (tiny_weights(sizes, len(vocabulary)) if weights is None else weights).items():
        if quantised is None or weight.ndim == 1:
            writer.add_tensor(name, weight)
        else:
            kind = gguf.GGMLQuantizationType[quantised]
            writer.add_tensor(name, gguf.quantize(weight, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
