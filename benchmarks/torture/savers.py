"""What kills.py and sharing.py save and read again: three kinds of place, each with a few versions to tell apart."""

import io
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from subjects import answer_of_folder, small, waves

from olinear.core import CheckpointError
from olinear.core.runtime import files
from olinear.data.frames import write_file
from olinear.forecaster import publishing
from olinear.training.checkpoints import claim_checkpoint, load_checkpoint, save_checkpoint

VERSIONS = 4


@dataclass(frozen=True)
class Kind:
    """A kind of place: how a version gets there, which version is there, and what remains when all is well.

    Args:
        write: `write(place, version)`.
        read: the version at a place; ValueError if it is a mixture.
        leftovers: the files in the folder of a place that are not of what is there.
        grace: seconds after which leftovers go with the next save.
    """

    write: Callable[[Path, int], None]
    read: Callable[[Path], int]
    leftovers: Callable[[Path], list[Path]]
    grace: float


@cache
def make_kinds() -> dict[str, Kind]:
    """Models are fitted here, once."""
    torch.set_num_threads(1)
    return {
        "model": _models(),
        "checkpoint": Kind(_write_checkpoint, _read_checkpoint, _beside, 0.0),
        "--out": Kind(_write_table, _read_table, _beside, files.STALE),
    }


def _models() -> Kind:
    frame = waves(300)
    models = [small(seed=seed, model_dim=16 * (1 + seed)).fit(frame) for seed in range(VERSIONS)]
    answers: list[str] = []

    def write(place: Path, version: int) -> None:
        models[version].save(place)

    def read(place: Path) -> int:
        return answers.index(answer_of_folder(place, frame))

    def leftovers(place: Path) -> list[Path]:
        keep: set[str] = set()
        with suppress(CheckpointError):  # a new folder, whose first saver was killed
            keep = {publishing.CONFIG, publishing.fetch(place)[0].weights}
        return [path for path in place.iterdir() if path.name not in keep]

    scratch = Path(os.environ.get("TMPDIR", "/tmp")) / f"olinear-versions-{os.getpid()}"
    for version in range(VERSIONS):
        write(scratch, version)
        answers.append(answer_of_folder(scratch, frame))
    for path in scratch.iterdir():
        path.unlink()
    scratch.rmdir()
    return Kind(write, read, leftovers, publishing.GRACE)


def _write_checkpoint(path: Path, version: int) -> None:
    with claim_checkpoint(path):
        save_checkpoint(path, {"a": torch.full((50_000 * (1 + version),), float(version))}, {"version": version})


def _read_checkpoint(path: Path) -> int:
    tensors, record = load_checkpoint(path)
    version = int(record["version"])
    if not torch.equal(tensors["a"], torch.full((50_000 * (1 + version),), float(version))):
        raise ValueError("a mixture")
    return version


def table(version: int) -> pd.DataFrame:
    """A forecast to write, with its version in each row."""
    return pd.DataFrame({"time": np.arange(500 * (1 + version)), "version": version, "y": 1.5 * version})


def _write_table(path: Path, version: int) -> None:
    write_file(table(version), str(path))


def _read_table(path: Path) -> int:
    content = io.BytesIO(path.read_bytes())  # at once, as nothing else would be one moment's
    found = pd.read_parquet(content) if path.suffix == ".parquet" else pd.read_csv(content)
    version = int(found["version"].iloc[0])
    if not found.equals(table(version)):
        raise ValueError("a mixture")
    return version


def _beside(place: Path) -> list[Path]:
    """Everything else in the folder, but links."""
    return [path for path in place.parent.iterdir() if path != place and not path.is_symlink()]


def age(paths: list[Path], seconds: float) -> None:
    """As if they had lain there for so long."""
    for path in paths:
        before = path.stat()
        os.utime(path, (before.st_atime - seconds, before.st_mtime - seconds))


def in_child(work: Callable[[], None]) -> int:
    """Do it in a process that begins where this one is; its id. It ends with 1 if an exception came through."""
    number = os.fork()
    if number == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return number


def ended_well(number: int) -> bool:
    return os.waitpid(number, 0)[1] == 0
