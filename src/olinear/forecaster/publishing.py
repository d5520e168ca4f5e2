"""A model folder on disk, replaced so that a reader finds the old model or the new one at any moment.

    weights-<checksum>.safetensors    the tensors, written first, under a name that follows from their content
    config.json                       names them; takes the place of the old one in one rename

A reader that has read the old `config.json` finds the old weights for a while; if they are gone, it reads again.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from olinear.core import CheckpointError, OutputError
from olinear.core.runtime import LARGE_FILE, discard, follow, hold, is_older, is_oversized, open_patiently, replacing
from olinear.forecaster.folder import CONFIG, FORMAT, OLD_WEIGHTS, WEIGHTS, SavedConfig, read_config, unreadable
from olinear.forecaster.folder import write_config as text_of

LOCK = ".lock"  # held while a folder is written to
PART = rf"\.({re.escape(CONFIG)}|{WEIGHTS})\.[0-9a-f]{{12}}\.part"
GRACE = 10.0  # seconds for which replaced weights stay, for whoever is about to read them
WAIT = 60.0  # seconds to wait for another saver, before going on without clearing what may be its own
HIDDEN_FOR = 3600.0  # seconds after which a hidden folder is taken for a leftover
TRIES = 100


def name_weights(weights: bytes) -> tuple[str, str]:
    """Their checksum, and the name of the file that holds them."""
    checksum = hashlib.sha256(weights).hexdigest()
    return checksum, f"weights-{checksum[:16]}.safetensors"


def publish(folder: Path, config: SavedConfig, weights: bytes) -> None:
    """Write a model folder, or replace the model in it; several savers take turns, and the last one wins."""
    text = text_of(config)
    new = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with _alone(folder) as alone:
                _write(folder, config.weights, weights, text, alone)
        except BaseException:
            if new:
                with suppress(OSError):
                    folder.rmdir()  # unless another saver has come meanwhile
            raise
        _clear_hidden(folder)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{folder} cannot be written: {error.strerror or error}") from error


def fetch(folder: Path) -> tuple[SavedConfig, bytes]:
    """What `config.json` says and the weights it names, of one and the same save."""
    content = _config_of(folder)
    for _ in range(TRIES):
        config = read_config(folder, content)
        try:
            weights = _read(folder, config.weights)
        except FileNotFoundError:
            before, content = content, _config_of(folder)
            if content == before:
                raise CheckpointError(
                    f"{folder} is not a whole model folder: it has no {config.weights}: copy the folder again"
                ) from None
            continue
        if hashlib.sha256(weights).hexdigest() != config.weights_sha256:
            raise CheckpointError(
                f"{folder}/{config.weights} is damaged or from another model: save or copy the folder again"
            )
        return config, weights
    raise CheckpointError(f"{folder} is replaced faster than it can be read: load it again when no one saves to it")


def check_target(folder: Path) -> Path:
    """Replace only what is a model or empty, never somebody's other folder; where it is, if it goes by links."""
    if folder.is_file():
        raise OutputError(f"{folder} cannot be written: it is a file")
    try:
        place = follow(folder)
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error.strerror or error}") from error
    parent = next(parent for parent in (place, *place.parents) if parent.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise OutputError(f"{folder} cannot be written: {parent} is no folder to write to")
    if folder.is_dir() and any(not _is_ours(each.name) for each in folder.iterdir()) and not _is_model(folder):
        raise OutputError(f"{folder} exists and is not a model folder: choose another name")
    _refuse_other_than_file(folder / CONFIG)
    return place


def _refuse_other_than_file(path: Path) -> None:
    """What cannot be replaced would be written to itself, and a pipe would be waited for."""
    if path.exists() and not path.is_file():
        raise OutputError(f"{path} cannot be written: it is no file")


def _write(folder: Path, name: str, weights: bytes, text: str, alone: bool) -> None:
    before = _named(folder)
    try:
        for _ in range(TRIES):
            _write_weights(folder / name, weights)
            if before is not None and before != name:
                with suppress(OSError):
                    os.utime(folder / before)  # its time of grace begins
            with replacing(folder / CONFIG) as part:
                part.write_text(text, encoding="utf-8")
            if (folder / name).exists():  # not cleared by a saver that took this one for dead
                break
    except BaseException:
        if alone and _named(folder) != name:
            discard(folder / name)
        raise
    if alone:
        _clear(folder)


def _write_weights(path: Path, weights: bytes) -> None:
    """Under the mode of the folder's `config.json`; left alone if they are there already."""
    _refuse_other_than_file(path)
    with suppress(OSError):
        if path.stat().st_size == len(weights) and path.read_bytes() == weights:
            os.utime(path)
            return
    with replacing(path, like=path.with_name(CONFIG)) as part:
        part.write_bytes(weights)


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Whether no other saver is in the folder meanwhile: there may be no locks here, or one that hangs."""
    with ExitStack() as stack:
        try:
            stack.enter_context(hold(folder / LOCK, wait=WAIT))
            alone = True
        except (OSError, NotImplementedError):
            alone = False
        yield alone


def _clear(folder: Path) -> None:
    """Remove what was replaced, and what killed savers left, when the time of grace is over."""
    keep = _named(folder)
    for each in folder.iterdir():
        left = re.fullmatch(f"{WEIGHTS}|{PART}", each.name) is not None and each.name != keep
        if left and (each.name == OLD_WEIGHTS or is_older(each, GRACE)):
            discard(each)


def _is_ours(name: str) -> bool:
    """Whether a saver that was killed may have left this in a new folder."""
    return re.fullmatch(f"{WEIGHTS}|{PART}|{re.escape(LOCK)}", name) is not None and name != OLD_WEIGHTS


def _named(folder: Path) -> str | None:
    """The weights that `config.json` names, if it is there and a model's."""
    with suppress(OSError, CheckpointError):
        return read_config(folder, _read(folder, CONFIG)).weights
    return None


def _config_of(folder: Path) -> bytes:
    try:
        return _read(folder, CONFIG)
    except FileNotFoundError:
        hidden = _find_hidden(folder)
        found, hint = f"it has no {CONFIG}", ""
        if folder.is_file():
            found, hint = "it is a file", ": give the folder that fit and save made"
        elif not folder.exists():
            found, hint = "there is nothing of that name", ": check the spelling, or fit and save one first"
        if hidden is not None:
            hint = f", but an interrupted save left a whole model in {hidden}: rename that"
        raise CheckpointError(f"{folder} is not a model folder: {found}{hint}") from None


def _read(folder: Path, name: str) -> bytes:
    """A file's content; a pipe, which would be waited for, and a size that no model has are refused before."""
    path = folder / name
    try:
        if not path.is_file():
            raise FileNotFoundError(path)
        with open_patiently(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > LARGE_FILE and (name == CONFIG or is_oversized(file)):
                raise CheckpointError(f"{path} is too large to be one of a model: copy the folder again")
            file.seek(0)
            return file.read()
    except FileNotFoundError:
        raise
    except MemoryError as error:
        raise CheckpointError(f"{path} does not fit into the memory of this machine") from error
    except OSError as error:
        raise unreadable(folder, error) from error


def _is_model(folder: Path) -> bool:
    try:
        content = _read(folder, CONFIG)
        return bool(json.loads(content.decode("utf-8"))["format"] == FORMAT)
    except (OSError, CheckpointError, ValueError, KeyError, TypeError, RecursionError):
        return False


# Hidden folders next to the model, which interrupted saves of olinear 0.1.0 left


def _hidden(folder: Path) -> list[Path]:
    """Newest first."""
    pattern = re.compile(rf"\.{re.escape(folder.absolute().name)}\.[a-z0-9_]{{8}}")
    try:
        found = [each for each in folder.absolute().parent.iterdir() if pattern.fullmatch(each.name) and each.is_dir()]
        return sorted(found, key=lambda each: each.stat().st_mtime, reverse=True)
    except OSError:
        return []


def _find_hidden(folder: Path) -> Path | None:
    """The newest of them that is whole."""
    for each in _hidden(folder):
        with suppress(CheckpointError):
            fetch(each)
            return each
    return None


def _clear_hidden(folder: Path) -> None:
    """Remove those that a newer model makes superfluous."""
    for each in _hidden(folder):
        with suppress(OSError):
            names = {inside.name for inside in each.iterdir()}
            if is_older(each, HIDDEN_FOR) and names <= {CONFIG, OLD_WEIGHTS}:
                for name in names:
                    discard(each / name)
                each.rmdir()
