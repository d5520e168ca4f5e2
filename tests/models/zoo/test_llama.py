"""The language model: against the published architecture written out without a cache, and read from its file."""

import math
from importlib.util import find_spec
from itertools import product

import numpy as np
import pytest
import torch
from tiny_llm import SIZES, VOCABULARY, tiny_weights, write_gguf

from olinear.core.errors import CheckpointError
from olinear.models.zoo.blocks import llama as llama_parts
from olinear.models.zoo.blocks.gguf_file import read_language_model
from olinear.models.zoo.blocks.llama import Continuations, Turns, rotate
from olinear.models.zoo.blocks.numerals import SYMBOLS

pytestmark = pytest.mark.skipif(find_spec("gguf") is None, reason="for want of data: install the extra llm")
CPU = torch.device("cpu")
TOKENS = [VOCABULARY.index(symbol) for symbol in SYMBOLS]


def normed(x, weight):
    return weight * x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5)


def turned(x, position):
    """RoPE by complex numbers: neighbouring values are real and imaginary part."""
    rates = 10000.0 ** (-np.arange(0, len(x), 2) / len(x))
    z = (x[::2] + 1j * x[1::2]) * np.exp(1j * position * rates)
    return np.stack([z.real, z.imag], -1).ravel()


def plain_llama(weights, tokens, sizes=SIZES, head="token_embd.weight"):
    """Logits `t v` of all tokens, position by position and head by head."""
    weights = {name: weight.astype(np.float64) for name, weight in weights.items()}
    heads, kv_heads = sizes["attention.head_count"], sizes["attention.head_count_kv"]
    size = sizes["embedding_length"] // heads
    x = weights["token_embd.weight"][tokens]
    for block in range(sizes["block_count"]):
        w = {part: weights[f"blk.{block}.{part}.weight"] for part in (
            "attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down"
        )}  # fmt: skip
        z = normed(x, w["attn_norm"])
        q, k, v = (
            (z @ w[part].T).reshape(len(x), count, size)
            for part, count in (("attn_q", heads), ("attn_k", kv_heads), ("attn_v", kv_heads))
        )
        attended = np.zeros((len(x), heads, size))
        for place, index in product(range(len(x)), range(heads)):
            shared = index * kv_heads // heads
            asked = turned(q[place, index], place)
            scores = np.array([asked @ turned(k[other, shared], other) for other in range(place + 1)]) / math.sqrt(size)
            share = np.exp(scores - scores.max())
            attended[place, index] = share @ v[: place + 1, shared] / share.sum()
        x = x + attended.reshape(len(x), -1) @ w["attn_output"].T
        z = normed(x, w["ffn_norm"])
        gate = z @ w["ffn_gate"].T
        x = x + (gate / (1 + np.exp(-gate)) * (z @ w["ffn_up"].T)) @ w["ffn_down"].T
    return normed(x, weights["output_norm.weight"]) @ weights[head].T


def read(path, dtype=torch.float32):
    return read_language_model(path, dtype, CPU)


@pytest.fixture
def llama(tmp_path):
    return read(write_gguf(tmp_path / "tiny.gguf")).llama


def symbols(*texts):
    return [torch.tensor([SYMBOLS.index(each) for each in text]) for text in texts]


# The formula


def test_it_is_the_published_architecture(llama):
    """Prompts of several lengths side by side, and two continuations of each, symbol by symbol."""
    prompts, after = symbols("12,345,", "7,", "90,-1,2,"), symbols("3,1", "456", "-2,", "0,0", "99,", "1,-")
    expected = [
        [plain_llama(tiny_weights(), [TOKENS[each] for each in [*prompt, *after[2 * place + sample]]])[:, TOKENS]
         for sample in range(2)]
        for place, prompt in enumerate(prompts)
    ]  # fmt: skip
    with torch.inference_mode():
        logits, kept = llama.read(prompts)
        for place, prompt in enumerate(prompts):
            np.testing.assert_allclose(logits[place], expected[place][0][len(prompt) - 1], rtol=1e-4, atol=1e-4)
        written = Continuations(llama.sizes, kept, samples=2)
        for step in range(3):
            now = torch.tensor([[after[2 * place + sample][step] for sample in range(2)] for place in range(3)])
            logits = llama.write(now, kept, written)
            for place, sample in product(range(3), range(2)):
                wanted = expected[place][sample][len(prompts[place]) + step]
                np.testing.assert_allclose(logits[place, sample], wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("places", [1, 2, 64])
def test_reading_and_writing_are_one_function(llama, monkeypatch, places):
    """What was written and what was read in one go lead to the same next symbol, wherever room had to be made."""
    monkeypatch.setattr(llama_parts, "PLACES", places)
    (start,), (whole,) = symbols("12,3"), symbols("12,345,6")
    with torch.inference_mode():
        at_once, _ = llama.read([whole])
        _, kept = llama.read([start])
        written = Continuations(llama.sizes, kept, samples=1)
        for symbol in whole[len(start) :]:
            logits = llama.write(symbol[None, None], kept, written)
    torch.testing.assert_close(logits[:, 0], at_once, rtol=1e-5, atol=1e-5)


def test_turning_keeps_lengths_and_knows_distances_alone():
    x, y = torch.randn(2, 1, 8)
    positions = torch.tensor([0, 3, 10, 17])
    there = [rotate(each, Turns.at(positions, 8, 10000.0)) for each in (x, y)]
    torch.testing.assert_close(there[0][0], x)
    torch.testing.assert_close(there[0].norm(dim=-1), x.norm().expand(4, 1))
    products = (there[0][:, 0] @ there[1][:, 0].T).diagonal(-1)  # of 3 and 0, 10 and 3, 17 and 10
    torch.testing.assert_close(products[1], products[2])
    pair = rotate(torch.tensor([[1.0, 0.0, 0.0, 0.0]]), Turns.at(torch.tensor([1]), 4, 100.0))
    torch.testing.assert_close(pair[0, 0], torch.tensor([math.cos(1), math.sin(1), 0.0, 0.0]))


# The file


@pytest.mark.parametrize("kind", ["F16", "Q8_0", "Q4_1"])
def test_quantised_weights_are_read_as_they_are(tmp_path, kind):
    import gguf

    sizes = SIZES | {"embedding_length": 64, "feed_forward_length": 96}
    weights = tiny_weights(sizes)
    found = read(write_gguf(tmp_path / "tiny.gguf", weights, sizes, quantised=kind)).llama
    whole = read(write_gguf(tmp_path / "whole.gguf", weights, sizes)).llama
    assert torch.equal(whole.embedding, torch.from_numpy(weights["token_embd.weight"][TOKENS]))
    quantised = gguf.GGMLQuantizationType[kind]
    for name, ours in (("blk.1.ffn_down", "down"), ("blk.1.attn_output", "attention_output")):
        expected = gguf.dequantize(gguf.quantize(weights[f"{name}.weight"], quantised), quantised)
        assert torch.equal(found.get_parameter(f"blocks.1.{ours}"), torch.from_numpy(expected))
    for name, parameter in found.named_parameters():
        torch.testing.assert_close(parameter, whole.get_parameter(name), rtol=0, atol=0.15)


def test_an_own_head_and_a_first_token_are_used(tmp_path):
    weights = tiny_weights()
    weights["output.weight"] = tiny_weights(seed=1)["token_embd.weight"]
    fields = {"tokenizer.ggml.add_bos_token": True, "tokenizer.ggml.bos_token_id": 0}
    model = read(write_gguf(tmp_path / "tiny.gguf", weights, fields=fields))
    (prompt,) = symbols("12,")
    with torch.inference_mode():
        logits, _ = model.llama.read([torch.cat([torch.tensor([model.begin]), prompt])])
    expected = plain_llama(weights, [0, *(TOKENS[each] for each in prompt)], head="output.weight")
    np.testing.assert_allclose(logits[0], expected[-1][[*TOKENS, 0]], rtol=1e-4, atol=1e-4)


def test_bfloat16_is_near(tmp_path, llama):
    narrow = read(tmp_path / "tiny.gguf", torch.bfloat16).llama
    assert narrow.head.dtype == torch.bfloat16
    assert narrow.norm.weight.dtype == torch.float32
    with torch.inference_mode():
        both = [each.read(symbols("12,3"))[0].softmax(-1) for each in (llama, narrow)]
    torch.testing.assert_close(*both, rtol=0, atol=0.1)


UNFIT = {
    "its architecture is gemma": {"architecture": "gemma"},
    "its positions are scaled": {"fields": {"llama.rope.scaling.type": "yarn"}},
    "no token of its own for ,": {"vocabulary": [token for token in VOCABULARY if token != ","]},
    "it reads 12 as one token": {"vocabulary": [*VOCABULARY, "12"]},
    "parts that a llama has not: blk.0.attn_q.bias": {
        "weights": tiny_weights() | {"blk.0.attn_q.bias": np.zeros(16, dtype=np.float32)}
    },
    "its block_count is 100000, which must lie between": {"fields": {"llama.block_count": 100_000}},
    "4 heads do not share 3 keys": {"sizes": SIZES | {"attention.head_count_kv": 3}, "weights": tiny_weights()},
    "blk.2.attn_norm.weight": {"fields": {"llama.block_count": 3}},
    "must have shape": {"fields": {"llama.feed_forward_length": 25}},
}


@pytest.mark.parametrize("told", UNFIT)
def test_another_model_is_refused_in_one_line(tmp_path, told):
    with pytest.raises(CheckpointError, match=told) as caught:
        read(write_gguf(tmp_path / "other.gguf", **UNFIT[told]))
    assert "\n" not in str(caught.value)
    assert "other.gguf" in str(caught.value)


def test_a_damaged_file_is_refused_in_one_line(tmp_path):
    """Cut off anywhere, or something else altogether."""
    whole = write_gguf(tmp_path / "tiny.gguf").read_bytes()
    for number, content in enumerate(
        [b"", b"PK\x03\x04", *(whole[: len(whole) * part // 16] for part in range(1, 16))]
    ):
        place = tmp_path / f"{number}.gguf"
        place.write_bytes(content)
        with pytest.raises(CheckpointError, match="gguf") as caught:
            read(place)
        assert "\n" not in str(caught.value)
