"""Where to compute, with how many threads, and how many windows at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Protocol, Self, TypeVar

import torch
from torch import nn

from olinear.core.errors import ConfigError
from olinear.core.runtime.measuring import on_threads

SMALL = 1_000_000  # parameters


class Movable(Protocol):
    """Whatever can be copied to another device."""

    def to(self, device: torch.device) -> Self: ...


T = TypeVar("T", bound=Movable)


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


def device_of(model: nn.Module) -> torch.device | None:
    """Where a module's parameters or, in a closed form, its buffers are; None if it has neither."""
    return next((tensor.device for tensor in chain(model.parameters(), model.buffers())), None)


def on_same_device(model: nn.Module, data: T) -> T:
    """The data on the device of a module; as they are, if it computes anywhere."""
    device = device_of(model)
    return data if device is None else data.to(device)


def solving_device(device: torch.device) -> torch.device:
    """Where to solve a closed form that is to work on `device`: it sums in float64, which MPS lacks."""
    return torch.device("cpu") if device.type == "mps" else device


@contextmanager
def fitting_threads(model: nn.Module, device: torch.device) -> Iterator[None]:
    """One thread for a small model on the CPU: a second gains it little, and on a busy machine costs it much."""
    small = device.type == "cpu" and sum(parameter.numel() for parameter in model.parameters()) < SMALL
    with on_threads(1 if small else None):
        yield
