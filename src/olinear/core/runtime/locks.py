"""One process at a time: a lock that ends with the process that holds it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from olinear.core.runtime.files import READERS_BLOCK, discard


@contextmanager
def hold(path: Path, wait: float = 0.0) -> Iterator[None]:
    """Hold the lock of this name; TimeoutError where another holds it for longer than `wait` seconds.

    The operating system ends the lock of a process that was killed, so a file that is left over blocks nobody.
    """
    from filelock import FileLock

    with FileLock(path, timeout=wait, poll_interval=0.005, thread_local=False):
        try:
            yield
        finally:
            if not READERS_BLOCK:
                discard(path)  # while it is held: whoever waits for it then takes a new file
    if READERS_BLOCK:
        discard(path)  # an open file cannot be removed there, so this one is nobody's
