"""Freed memory that stays with the process while a model is trained, and some of it while one forecasts."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Names of glibc's parameters in <malloc.h>, and what they come to by themselves once large blocks were freed.
TRIM, MMAP = -1, -3
USUAL = {TRIM: 64 * 2**20, MMAP: 32 * 2**20}
MOST = 2**31 - 1

_depth = 0


@contextmanager
def keeping_memory() -> Iterator[None]:
    """Keep what is freed inside for the next step, which needs as much again; at the end it is given back.

    Elsewhere than on glibc nothing changes. glibc gives large blocks back to the system at once, and to get them
    again, page by page, takes up to a third of a step.
    """
    global _depth
    library = _glibc() if not _depth else None
    if library is not None:
        for name in USUAL:
            library.mallopt(name, MOST)
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1
        if library is not None:
            for name, value in USUAL.items():
                library.mallopt(name, value)
            library.malloc_trim(0)


def steady_memory() -> None:
    """Let blocks of up to 32 MB stay from now on, as they do by themselves once larger ones were freed.

    A process that forecasts and has trained nothing would otherwise fetch its memory anew for every batch.
    """
    library = _glibc() if not _depth else None
    if library is not None:
        for name, value in USUAL.items():
            library.mallopt(name, value)


def _glibc() -> Any:
    """The C library of this process, if it is one that can be asked; None otherwise."""
    try:
        library = ctypes.CDLL(None)
        return library if library.mallopt and library.malloc_trim else None
    except (AttributeError, OSError, TypeError):  # TypeError: Windows
        return None
