"""Damage to a model folder or a checkpoint, drawn from a random generator: the same number gives the same damage."""

import copy
import json
import math
import os
import random
import shutil
from pathlib import Path
from typing import Any

LARGE = 60 * 2**30  # bytes of a file that is larger than any memory
NUMBERS = (0, -1, 1, 2, 3, 7, 64, 999, 20_000, 10**6, 10**9, 10**12, 2**31, 2**63, 2**64, -(2**63), 10**400)
FLOATS = (math.nan, math.inf, -math.inf, -0.0, 0.5, 1.5, 1e-320, 1e308, -1e30)
WORDS = ("", " ", "none", "auto", "0,1", "a", "ГОД 年", "é\u0301", "\ud800", "\x00", "../..", "/etc/passwd", "x" * 3000)
WORDS += (
    "h",
    "D",
    "B",
    "MS",
    "QE",
    "15min",
    "1000000000h",
    "1h30min",
    "-1h",
    "0h",
    "1",
    "0",
    "integer",
    "rows",
    "calendar",
)
WORDS += (
    "pandas",
    "polars",
    "pyarrow",
    "wide",
    "long",
    "time",
    "UTC",
    "Europe/Berlin",
    "+05:30",
    "s",
    "ms",
    "us",
    "ns",
)
WORDS += (
    "OLinear",
    "Ridge",
    "DLinear",
    "iTransformer",
    "normlin",
    "linear",
    "attention",
    "fourier",
    "haar",
    "mean",
    "l2",
)
WORDS += ("olinear-model", "weights.safetensors", "os:system", "nan", "1e999", "2024-01-01", "cuda", "bridge", "error")
KEYS = (
    "",
    "format",
    "horizon",
    "blocks",
    "model_dim",
    "options",
    "heads",
    "__class__",
    "constructor",
    "invention",
    "checksum",
)
PLAIN = (None, True, False, "text", [], {}, [[]], [None], {"a": 1}, [1, 2, 3], "1", [True], [0.5])


def number(rng: random.Random) -> Any:
    return rng.choice((*NUMBERS, *FLOATS))


def anything(rng: random.Random) -> Any:
    """A value of any type; sometimes deep, sometimes long."""
    draw = rng.random()
    if draw < 0.4:
        return number(rng)
    if draw < 0.7:
        return rng.choice(WORDS)
    if draw < 0.95:
        return copy.deepcopy(rng.choice(PLAIN))
    if draw < 0.98:
        deep: Any = 1
        for _ in range(rng.choice((10, 200, 900))):
            deep = [deep] if rng.random() < 0.5 else {"a": deep}
        return deep
    return [rng.choice((0, "a", True))] * 100_000


# Bytes


def damage_bytes(rng: random.Random, content: bytes) -> bytes:
    """What a disk, a cable or a half-finished copy does."""
    data, size = bytearray(content), len(content)
    start = rng.randrange(size) if rng.random() < 0.6 else rng.randrange(min(size, 400))
    length = min(rng.choice((1, 2, 8, 64, 4096)), size - start)
    kind = rng.choice(("flip", "flip", "flip", "cut", "zero", "noise", "remove", "repeat", "insert", "append", "swap"))
    if kind == "flip":
        for _ in range(rng.choice((1, 1, 1, 2, 30))):
            data[min(start + rng.randrange(64), size - 1)] ^= 1 << rng.randrange(8)
    elif kind == "cut":
        del data[start:]
    elif kind == "zero":
        data[start : start + length] = bytes(length)
    elif kind == "noise":
        data[start : start + length] = rng.randbytes(length)
    elif kind == "remove":
        del data[start : start + length]
    elif kind == "repeat":
        data[start:start] = data[start : start + length]
    elif kind == "insert":
        data[start:start] = rng.randbytes(length)
    elif kind == "append":
        data += rng.choice((b"\n", b" ", b"\0", rng.randbytes(100)))
    else:
        other = rng.randrange(size - length + 1)
        first, second = bytes(data[start : start + length]), bytes(data[other : other + length])
        data[start : start + length], data[other : other + length] = second, first
    return bytes(data[:size] if kind == "swap" else data)


# Files


def damage_file(rng: random.Random, path: Path, others: list[Path]) -> None:
    """Something else stands in its place."""
    kind = rng.choice(
        ("gone", "folder", "dangling", "loop", "pipe", "device", "empty", "huge", "other", "other", "huge tail")
    )
    content = path.read_bytes()
    path.unlink()
    if kind == "folder":
        path.mkdir()
        (path / "inside").write_text("x")
    elif kind == "dangling":
        path.symlink_to(path.with_name("nowhere"))
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to(rng.choice(("/dev/zero", "/dev/null", "/dev/full")))
    elif kind == "empty":
        path.touch()
    elif kind in ("huge", "huge tail"):
        path.write_bytes(content if kind == "huge tail" else b"")
        os.truncate(path, LARGE)  # takes no room on the disk
    elif kind == "other":
        shutil.copyfile(rng.choice(others), path)


# JSON


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to each value in a JSON document, its root left out."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    found = [path] if path else []
    for key, child in inside:
        found += places(child, (*path, key))
    return found


def damage_json(rng: random.Random, document: Any) -> str:
    """One edit of one value, by a hand or a program that means well or ill; where it was."""
    way = rng.choice(places(document))
    parent = document
    for key in way[:-1]:
        parent = parent[key]
    key, old = way[-1], parent[way[-1]]
    kind = rng.choice(("like", "like", "like", "any", "any", "drop", "rename", "add", "copy", "list"))
    if kind == "like":
        parent[key] = _like(rng, old)
    elif kind == "drop":
        del parent[key]
    elif kind == "rename" and isinstance(parent, dict):
        parent[rng.choice(KEYS)] = parent.pop(key)
    elif kind == "add" and isinstance(parent, dict):
        parent[rng.choice(KEYS)] = anything(rng)
    elif kind == "copy":
        other = document
        for step in rng.choice(places(document)):
            other = other[step]
        parent[key] = copy.deepcopy(other)
    elif kind == "list" and isinstance(parent, list):
        rng.choice((parent.reverse, parent.clear, lambda: rng.shuffle(parent), lambda: parent.append(parent[0])))()
    else:
        parent[key] = anything(rng)
    return f"{kind} at {'.'.join(map(str, way))}"


def _like(rng: random.Random, old: Any) -> Any:
    """Another value of the same type."""
    if isinstance(old, bool):
        return not old
    if isinstance(old, int):
        return old + rng.choice((-1, 1, 1)) if rng.random() < 0.4 else number(rng)
    if isinstance(old, float):
        return old * rng.choice((0.5, 2, -1)) if rng.random() < 0.4 else rng.choice(FLOATS)
    if isinstance(old, str):
        return old + "x" if rng.random() < 0.1 else rng.choice(WORDS)
    if isinstance(old, list):
        return old[:-1] if rng.random() < 0.5 else old * rng.choice((2, 3))
    if isinstance(old, dict):
        return {}
    return anything(rng)


def text_of(rng: random.Random, document: Any, untouched: bool) -> str:
    """The document as text; sometimes with a key twice, another layout, or brackets without end."""
    text = json.dumps(document, indent=rng.choice((None, 2)), ensure_ascii=rng.random() < 0.7)
    if untouched:
        return text
    draw = rng.random()
    if draw < 0.04:
        first = text.index("{") + 1
        key = rng.choice(list(document)) if document else "format"
        return f"{text[:first]}{json.dumps(key)}: {json.dumps(anything(rng))}, {text[first:]}"
    if draw < 0.05:
        return "[" * rng.choice((1000, 200_000)) + text
    if draw < 0.06:
        return text.replace(": ", ": " + '{"a":' * 100_000, 1)
    return text
