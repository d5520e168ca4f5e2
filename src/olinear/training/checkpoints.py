"""One file on disk: tensors as safetensors, the rest as JSON in its header. Nothing is ever unpickled."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from olinear.errors import CheckpointError, OutputError

FORMAT = "olinear-checkpoint-1"


def save_checkpoint(path: Path, tensors: Mapping[str, Tensor], record: Mapping[str, Any]) -> None:
    """Write under a temporary name, then rename: a reader sees the old file or the new one, never a half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".part")
    header = {"format": FORMAT, "record": json.dumps(record)}
    try:
        save_file(
            {name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()}, temporary, metadata=header
        )
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except (OSError, SafetensorError) as error:
        temporary.unlink(missing_ok=True)
        raise OutputError(f"the checkpoint {path} cannot be written: {error}") from error


def load_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors (on the CPU) and the record of a checkpoint."""
    try:
        with safe_open(path, framework="pt") as file:
            header = file.metadata() or {}
            if header.get("format") != FORMAT:
                raise CheckpointError(f"{path} is not a checkpoint of this version: start again without resume=True")
            names = file.keys()
            return {name: file.get_tensor(name) for name in names}, json.loads(header["record"])
    except (SafetensorError, OSError, json.JSONDecodeError, KeyError) as error:
        raise CheckpointError(
            f"{path} cannot be read as a checkpoint ({error}): start again without resume=True"
        ) from error
