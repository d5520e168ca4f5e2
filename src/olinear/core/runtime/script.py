"""Workers that do not begin by running the user's script once more."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


@contextmanager
def script_hidden() -> Iterator[None]:
    """Processes started inside do not import the main module.

    Python runs it again in each process, so that a script without `if __name__ == "__main__"` would start itself over
    and over. What is given to such a process must not come from that module.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
