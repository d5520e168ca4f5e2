"""Writing a file whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from olinear.core.errors import OutputError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Where to write instead of `path`, whose place it takes at the end in one rename.

    A reader sees the old file or the new one, never a half, even if the machine stops meanwhile. A pipe or a device,
    which cannot be replaced, is written to itself.
    """
    try:
        if path.exists() and not path.is_file():
            yield path
            return
        part = path.with_name(f".{path.name}.part")
        try:
            yield part
            with part.open("rb") as file:
                os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}") from error
