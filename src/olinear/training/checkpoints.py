"""One file on disk: tensors as safetensors, the rest as JSON in its header. Nothing is ever unpickled."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from olinear.core import CheckpointError, OutputError
from olinear.core.runtime import replacing

FORMAT = "olinear-checkpoint-1"


def save_checkpoint(path: Path, tensors: Mapping[str, Tensor], record: Mapping[str, Any]) -> None:
    """Write it whole or not at all."""
    whole = {name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            save_file(whole, part, metadata={"format": FORMAT, "record": json.dumps(record)})
    except (OSError, SafetensorError) as error:
        raise OutputError(f"{path} cannot be written: {error}") from error


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
