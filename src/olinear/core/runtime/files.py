"""Writing a file whole or not at all."""

import errno
import hashlib
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

from olinear.core.errors import OutputError

Result = TypeVar("Result")

PATIENCE = 5.0  # seconds that a rename waits for readers where they block it
STALE = 3600.0  # seconds after which the temporary file of a killed writer is cleared
LARGE_FILE = 2**28  # bytes; what is larger is looked at before it is read
LONGEST = 230  # bytes of a name that leave room for what a temporary one has besides
READERS_BLOCK = os.name == "nt"  # a file that is open can be neither replaced nor removed


@contextmanager
def replacing(path: Path, like: Path | None = None) -> Iterator[Path]:
    """Where to write instead of `path`, whose place it takes at the end in one rename.

    A reader sees the old file or the new one, never a half, even if the machine stops meanwhile. Each writer has a
    temporary file of its own, so the last of several wins whole. A link is followed, and an existing file keeps its
    mode; a new one takes that of `like`, if given. A pipe or a device, which cannot be replaced, is written to itself.
    """
    try:
        if path.exists() and not path.is_file():
            yield path
            return
        target = follow(path) if path.is_symlink() else path
        clear_parts(target, older=STALE)
        part, mode = _new_part(target, target if target.exists() else like)
        try:
            yield part
            _onto_disk(part)
            part.chmod(mode)
            _patiently(lambda: part.replace(target))
            _sync_folder(target.parent)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error


def clear_parts(target: Path, older: float = 0.0) -> None:
    """Remove what killed writers of this file left, if it was not written to for so many seconds."""
    pattern = re.compile(rf"{re.escape(_prefix(target))}[0-9a-f]{{12}}\.part")
    with suppress(OSError):
        for each in target.parent.iterdir():
            if pattern.fullmatch(each.name) and is_older(each, older):
                discard(each)


def is_older(path: Path, seconds: float) -> bool:
    """Whether a file was last written to so long ago; not one that is gone."""
    with suppress(OSError):
        return time.time() - path.stat().st_mtime >= seconds
    return False


def discard(path: Path) -> None:
    """Remove a file if that can be done; one that a reader holds open may stay."""
    with suppress(OSError):
        path.unlink()


def follow(path: Path) -> Path:
    """The whole name of what a path leads to through links, there or not yet; an OSError if they lead nowhere."""
    try:
        place = path.resolve()
        if not place.is_symlink():  # at the end of a ring, as Python from 3.13 on gives it
            return place
    except RuntimeError:  # as it says before
        pass
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def is_oversized(file: BinaryIO) -> bool:
    """Whether a file of tensors is far larger than it says at its beginning, so that it need not be read."""
    size = os.fstat(file.fileno()).st_size
    if size <= LARGE_FILE:
        return False
    length = int.from_bytes(file.read(8), "little")
    try:
        header = json.loads(file.read(length)) if length <= LARGE_FILE else {}
        return size > 8 + length + max(each["data_offsets"][1] for key, each in header.items() if key != "__metadata__")
    except (ValueError, AttributeError, LookupError, TypeError, RecursionError):
        return True


def open_patiently(path: Path) -> BinaryIO:
    """A file that may be replaced in this very moment, to read: what is opened stays the same until it is closed."""
    return _patiently(lambda: path.open("rb"))


def _sync_folder(folder: Path) -> None:
    """Bring a folder's names onto the disk, where the system can."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _new_part(target: Path, like: Path | None) -> tuple[Path, int]:
    """A new file next to the target, and the mode to give it at the end."""
    part = target.with_name(f"{_prefix(target)}{secrets.token_hex(6)}.part")
    wanted = None
    if like is not None:
        with suppress(FileNotFoundError):
            wanted = like.stat().st_mode & 0o777
    number = os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if wanted is None else wanted | 0o200)
    try:
        return part, os.fstat(number).st_mode & 0o777 if wanted is None else wanted
    finally:
        os.close(number)


def _prefix(target: Path) -> str:
    name = os.fsencode(target.name)
    if len(name) <= LONGEST:
        return f".{target.name}."
    return f".{hashlib.sha256(name).hexdigest()[:32]}."


def _onto_disk(part: Path) -> None:
    with part.open("r+b") as file:
        os.fsync(file.fileno())


def _patiently(act: Callable[[], Result]) -> Result:
    """What another process has open may be free in a moment, where opening blocks."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            return act()
        except PermissionError:
            if not READERS_BLOCK or time.monotonic() > deadline:
                raise
            time.sleep(0.005)
