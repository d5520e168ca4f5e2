"""Damage to the tensors of a model folder or a checkpoint: to the header of their file, or to what it holds."""

import json
import math
import random
from collections.abc import Callable
from typing import Any

import torch
from mutations import damage_json, number

KINDS = (torch.float16, torch.float64, torch.int32, torch.bool)
NAMES = ("model.x", "x", "intervals.curve", "intervals.levels", "intervals.staleness", "model/x", "optimizer.9/exp_avg")
FILLS = {True: (math.nan, math.inf, 1e30, 0.0), False: (0, 1, 127)}  # by whether it holds fractions


def split_tensors(content: bytes) -> tuple[dict[str, Any], bytes]:
    """The header and the numbers."""
    size = int.from_bytes(content[:8], "little")
    return json.loads(content[8 : 8 + size]), content[8 + size :]


def join_tensors(header: Any, numbers: bytes) -> bytes:
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + numbers


def damage_header(rng: random.Random, content: bytes) -> bytes:
    """Names, shapes, types and places of tensors; the size of the header itself."""
    header, numbers = split_tensors(content)
    names = [name for name in header if name != "__metadata__"]
    first, second = rng.choice(names), rng.choice(names)
    edits: dict[str, Callable[[], Any]] = {
        "any": lambda: damage_json(rng, header),
        "swap": lambda: header.update({first: header[second], second: header[first]}),
        "rename": lambda: header.update({rng.choice((first + "x", "scaler.mean", "x")): header.pop(first)}),
        "type": lambda: header[first].update(
            dtype=rng.choice(("F16", "F32", "F64", "I32", "I64", "BOOL", "BF16", "Q4"))
        ),
        "shape": lambda: header[first].update(
            shape=rng.choice(([], [0], [1], [2**40], [-1], header[first]["shape"][::-1]))
        ),
        "turned": lambda: header[first].update(shape=[*header[first]["shape"], 1]),
        "place": lambda: header[first].update(data_offsets=[number(rng), number(rng)]),
        "alias": lambda: header[first].update(data_offsets=header[second]["data_offsets"]),
    }
    rng.choice(list(edits.values()))()
    changed = join_tensors(header, numbers)
    if rng.random() < 0.1:
        return rng.choice((0, 1, 2**20, 2**40, 2**63)).to_bytes(8, "little") + changed[8:]
    return changed


def fill(old: torch.Tensor, rng: random.Random) -> torch.Tensor:
    """One number everywhere; infinite where its kind has no place for it."""
    return torch.full(old.shape, rng.choice(FILLS[old.is_floating_point()])).to(old.dtype)


def damage_tensors(rng: random.Random, tensors: dict[str, Any]) -> None:
    """A sound file of other tensors."""
    name, other = rng.choice(list(tensors)), rng.choice(list(tensors))
    old = tensors[name]
    edits: dict[str, Callable[[], Any]] = {
        "drop": lambda: tensors.pop(name),
        "rename": lambda: tensors.update({name + "x": tensors.pop(name)}),
        "swap": lambda: tensors.update({name: tensors[other], other: old}),
        "add": lambda: tensors.update({rng.choice(NAMES): torch.ones(3)}),
        "recast": lambda: tensors.update({name: old.to(rng.choice(KINDS))}),
        "flat": lambda: tensors.update({name: old.reshape(-1)}),
        "turn": lambda: tensors.update({name: old.movedim(0, -1).contiguous() if old.dim() else old.reshape(1)}),
        "shorter": lambda: tensors.update({name: old[:-1].clone() if old.dim() else old.reshape(1)}),
        "longer": lambda: tensors.update({name: torch.cat([old, old]) if old.dim() else old.reshape(1)}),
        "empty": lambda: tensors.update({name: old.reshape(-1)[:0].clone()}),
        "fill": lambda: tensors.update({name: fill(old, rng)}),
        "turn sign": lambda: tensors.update({name: -old if old.dtype != torch.bool else ~old}),
        "one number": lambda: old.reshape(-1)[:1].add_(1) if old.numel() and old.dtype != torch.bool else None,
    }  # fmt: skip
    rng.choice(list(edits.values()))()
