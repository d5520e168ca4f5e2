"""One file on disk: tensors as safetensors, the rest as JSON in its header. Nothing is ever unpickled."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor

from olinear.core import CheckpointError, OutputError
from olinear.core.runtime import clear_parts, follow, hold, is_oversized, replacing

FORMAT = "olinear-checkpoint-2"
ANEW = "start again without resume=True (on the command without --resume)"

_claimed: ContextVar[frozenset[Path]] = ContextVar("claimed", default=frozenset())


@contextmanager
def claim_checkpoint(path: Path | None) -> Iterator[None]:
    """Keep a checkpoint to one run; another that wants it meanwhile is refused. A run within the claim is part of it.

    The claim of a process that was killed ends with it.
    """
    place = None
    if path is not None:
        with suppress(OSError):  # a link that leads nowhere, which the first save will say
            place = follow(path)
    if path is None or place is None or place in _claimed.get():
        yield
        return
    with ExitStack() as endings:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            endings.enter_context(hold(path.with_name(f"{path.name}.lock")))
            clear_parts(path)
        except TimeoutError as error:
            raise OutputError(
                f"{path} is in use by a fit that is still running: wait for it, or give this fit another place"
            ) from error
        except (OSError, NotImplementedError):  # no locks here, or no place to write, which the first save will say
            pass
        token = _claimed.set(_claimed.get() | {place})
        try:
            yield
        finally:
            _claimed.reset(token)


def save_checkpoint(path: Path, tensors: Mapping[str, Tensor], record: Mapping[str, Any]) -> None:
    """Write it whole or not at all."""
    whole = {name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()}
    text = json.dumps(record)
    metadata = {"format": FORMAT, "record": text, "checksum": checksum(whole, text)}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            save_file(whole, part, metadata)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error


def save_file(tensors: dict[str, Tensor], path: Path, metadata: dict[str, str]) -> None:
    """Into the file itself: the library's own function leaves a second temporary file where it is killed."""
    path.write_bytes(save(tensors, metadata))


def load_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors (on the CPU) and the record of a checkpoint, exactly as they were saved."""
    try:
        if not path.is_file():
            raise OSError("there is no such file")
        with path.open("rb") as opened:
            if is_oversized(opened):
                raise OSError("it is far larger than it says")
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            if header.get("format") != FORMAT:
                raise CheckpointError(f"{path} is not a checkpoint of this version: {ANEW}")
            names = file.keys()
            tensors = {name: file.get_tensor(name) for name in names}
        if header["checksum"] != checksum(tensors, header["record"]):
            raise CheckpointError(f"{path} is damaged, its checksum does not fit: {ANEW}")
        return tensors, dict(json.loads(header["record"]))
    except CheckpointError:
        raise
    except Exception as error:  # the library has many ways to refuse a file
        reason = " ".join(str(error).split())[:300]
        raise CheckpointError(f"{path} cannot be read as a checkpoint ({reason}): {ANEW}") from error


def read_record(path: Path) -> dict[str, Any]:
    """The record alone, before the tensors are wanted; empty where there is none to be read."""
    try:
        with safe_open(path, framework="pt") as file:
            return dict(json.loads((file.metadata() or {})["record"]))
    except Exception:  # whatever it is, `load_checkpoint` says so
        return {}


def checksum(tensors: Mapping[str, Tensor], record: str) -> str:
    """Of everything in a checkpoint: names, kinds, shapes, numbers and the record."""
    digest = hashlib.sha256(record.encode())
    for name in sorted(tensors):
        tensor = tensors[name].cpu()
        digest.update(json.dumps([name, str(tensor.dtype), list(tensor.shape)]).encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
