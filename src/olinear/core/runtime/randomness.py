"""Random numbers of a fit's own, in a process that has one random state for all."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from olinear.core.errors import ConfigError

_HELD = threading.RLock()


@contextmanager
def own_randomness(seed: int | None = None, device: torch.device | None = None) -> Iterator[None]:
    """Draw from `seed` inside, and leave the caller's random state as it was.

    Dropout and new layers draw from torch's process-wide state, and training sets the process-wide number of threads:
    two fits in threads of one process would change each other's numbers. So a second thread is refused while a first
    is inside, and is not made to wait, which would look as if fits ran side by side.
    """
    if not _HELD.acquire(blocking=False):
        raise ConfigError(
            "another thread of this process is fitting, and both would draw from torch's one random state: fit one "
            "after the other, or side by side in processes of their own with olinear.fit_side_by_side"
        )
    try:
        devices = [device] if device is not None and device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            if seed is not None:
                torch.manual_seed(seed)
            yield
    finally:
        _HELD.release()


class _PrivateDraws(TorchDispatchMode):
    """Gives every random operation of this thread a generator of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.generator = torch.Generator().manual_seed(0)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if torch.Tag.nondeterministic_seeded in func.tags and kwargs.get("generator") is None:
            with suppress(RuntimeError, TypeError):  # an operation that takes no generator
                return func.overloadpacket(*args, **kwargs, generator=self.generator)
        return func(*args, **kwargs)


def private_draws() -> _PrivateDraws:
    """Where random numbers do not matter, as in a model whose weights are about to be loaded: draw them elsewhere.

    The process-wide state is not touched, not even for a moment, so that a fit in another thread goes on undisturbed.
    """
    return _PrivateDraws()
