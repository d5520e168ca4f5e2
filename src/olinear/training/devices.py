"""Where to compute, and with how many threads."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from olinear.errors import ConfigError

SMALL = 1_000_000  # parameters


def pick_device(name: str = "auto") -> torch.device:
    """The device of that name; `auto` takes CUDA, then Apple's MPS, then the CPU."""
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, ImportError) as error:
        raise ConfigError(f"device {name!r} is not available here: use device='auto' or 'cpu'") from error
    return device


@contextmanager
def fitting_threads(model: nn.Module, device: torch.device) -> Iterator[None]:
    """One thread for a small model on the CPU: a second gains it little, and on a busy machine costs it much."""
    threads = torch.get_num_threads()
    if device.type == "cpu" and sum(parameter.numel() for parameter in model.parameters()) < SMALL:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
