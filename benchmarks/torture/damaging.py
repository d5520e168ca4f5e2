"""One case of damage, to a folder or a checkpoint, with the checksums that it needs to be believed."""

import hashlib
import json
import random
from pathlib import Path

from mutations import damage_bytes, damage_file, damage_json, text_of
from safetensors.torch import load, save
from subjects import Subject
from tensor_mutations import damage_header, damage_tensors, split_tensors

from olinear.forecaster.folder import CONFIG, OLD_WEIGHTS, checksum
from olinear.training import checkpoints


def damage(rng: random.Random, subject: Subject, place: Path) -> str:
    """Do it, and say what."""
    return _to_folder(rng, place) if subject.is_folder else _to_checkpoint(rng, place)


def _to_folder(rng: random.Random, folder: Path) -> str:
    config = json.loads((folder / CONFIG).read_text("utf-8"))
    weights, signed = folder / config.get("weights", OLD_WEIGHTS), rng.random() < 0.5
    kind = rng.choices(("bytes", "file", "json", "header", "tensors"), (25, 8, 40, 12, 15))[0]
    path = rng.choice((folder / CONFIG, weights))
    if kind == "bytes":
        path.write_bytes(damage_bytes(rng, path.read_bytes()))
        return f"bytes of {path.name}"
    if kind == "file":
        damage_file(rng, path, [folder / CONFIG if path == weights else weights])
        return f"file {path.name}"
    content = weights.read_bytes()
    if kind == "json":
        kind = damage_json(rng, config)
        signed = signed and "checksum" in config
    else:
        content = damage_header(rng, content) if kind == "header" else _others(rng, content)
        weights.write_bytes(content)
        if signed:
            config["weights_sha256"] = hashlib.sha256(content).hexdigest()
    if signed and "checksum" in config:
        config["checksum"] = checksum(config)
    text = text_of(rng, config, kind in ("header", "tensors"))
    (folder / CONFIG).write_text(text, "utf-8", errors="surrogatepass")
    return f"{'signed' if signed else 'unsigned'} {kind}"


def _others(rng: random.Random, content: bytes) -> bytes:
    """The same file with other tensors, and the metadata it had."""
    tensors = load(content)
    damage_tensors(rng, tensors)
    metadata = split_tensors(content)[0].get("__metadata__")
    return save(tensors, metadata)


def _to_checkpoint(rng: random.Random, path: Path) -> str:
    kind = rng.choices(("bytes", "file", "header", "tensors", "record"), (30, 5, 20, 20, 25))[0]
    content, signed = path.read_bytes(), rng.random() < 0.5
    if kind == "file":
        damage_file(rng, path, [Path(__file__)])
        return "file"
    if kind == "bytes":
        path.write_bytes(damage_bytes(rng, content))
        return "bytes"
    if kind == "header":
        path.write_bytes(damage_header(rng, content))
        return "unsigned header"
    tensors, metadata = load(content), split_tensors(content)[0]["__metadata__"]
    if kind == "tensors":
        damage_tensors(rng, tensors)
    else:
        record = json.loads(metadata["record"])
        kind = f"record, {damage_json(rng, record)}"
        metadata["record"] = text_of(rng, record, False)
    if signed:
        metadata["checksum"] = checkpoints.checksum(tensors, metadata["record"])
    path.write_bytes(save(tensors, metadata))
    return f"{'signed' if signed else 'unsigned'} {kind}"
