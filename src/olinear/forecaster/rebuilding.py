"""The model of a folder, built from its settings once they are known to fit its tensors."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.module import (
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)

from olinear.core import MissingDependencyError
from olinear.core.runtime import private_draws
from olinear.core.settings import Settings
from olinear.models import Members, Source, card_of, empty_model

# How many modules, parameters and numbers a model may make more than it keeps, while it is built.
OURS, FROM_OUTSIDE = (64, 64, 10**6), (10_000, 2_000, 10**8)


class _TooLarge(ValueError):
    """The settings make a model of more parameters than there are tensors for it."""


def rebuild(source: Source, settings: Settings, n_series: int, weights: Mapping[str, Tensor]) -> nn.Module:
    """The model of these settings with these weights, or its members.

    It is first built without memory, and no further than the weights reach: so sizes that do not fit are refused at
    once, whatever they are.
    """
    count = settings.training.members
    if count == 1:
        return _rebuild(source, settings, n_series, weights)
    groups = _by_member(weights)
    if list(groups) != [f"members.{number}" for number in range(count)]:
        raise ValueError(f"there are weights of {len(groups)} members, by the settings there are {count}")
    return Members([_rebuild(source, settings, n_series, group) for group in groups.values()]).eval()


def _by_member(weights: Mapping[str, Tensor]) -> dict[str, dict[str, Tensor]]:
    """The weights of each member, by `members.0`, `members.1`, …"""
    groups: dict[str, dict[str, Tensor]] = {}
    for name, tensor in weights.items():
        first, number, rest = (*name.split(".", 2), "", "")[:3]
        groups.setdefault(f"{first}.{number}", {})[rest] = tensor
    return dict(sorted(groups.items(), key=lambda group: (len(group[0]), group[0])))


def _rebuild(source: Source, settings: Settings, n_series: int, weights: Mapping[str, Tensor]) -> nn.Module:
    sizes, options = (n_series, settings.lookback, settings.horizon), settings.model.arguments
    ours = card_of(source).package == "olinear"
    if ours:
        _check_sizes(options, weights)
    room = OURS if ours else FROM_OUTSIDE
    with private_draws():  # a new model draws weights
        if not isinstance(source, nn.Module):
            with _at_most(weights, room):
                _compare(_shapes_without_memory(source, sizes, options), weights)
        with _at_most(weights, room):
            model = empty_model(source, *sizes, **options)
    model.load_state_dict(dict(weights))
    return model.eval()


def _check_sizes(options: Mapping[str, Any], weights: Mapping[str, Tensor]) -> None:
    """No size or count of ours is larger than the number of weights, but for small ones."""
    most = max(10_000, sum(tensor.numel() for tensor in weights.values()))
    for name, value in options.items():
        if isinstance(value, int) and value > most:
            raise ValueError(f"{name} is {value}, though there are only {most} weights")


def _shapes_without_memory(source: Source, sizes: tuple[int, int, int], options: Mapping[str, Any]) -> dict[str, Any]:
    """Of every tensor in the model's state; of none if a model from outside looks at numbers while it is built."""
    try:
        with torch.device("meta"):
            state = empty_model(source, *sizes, **options).state_dict()
        return {name: tuple(tensor.shape) for name, tensor in state.items() if isinstance(tensor, Tensor)}
    except (_TooLarge, MissingDependencyError):
        raise
    except Exception:
        if card_of(source).package == "olinear":
            raise
        return {}


def _compare(shapes: Mapping[str, tuple[int, ...]], weights: Mapping[str, Tensor]) -> None:
    for name, shape in shapes.items():
        if name not in weights:
            raise ValueError(f"the weights have no {name}, which a model of these settings has")
        if tuple(weights[name].shape) != shape:
            raise ValueError(f"{name} must have shape {shape} by the settings, found {tuple(weights[name].shape)}")


@contextmanager
def _at_most(weights: Mapping[str, Tensor], room: tuple[int, int, int]) -> Iterator[None]:
    """Stop this thread from building a model of many more modules, parameters or numbers than there are weights."""
    thread = threading.get_ident()
    left = {
        "modules": room[0] + 16 * len(weights),
        "parameters": room[1] + 4 * len(weights),
        "numbers": room[2] + 4 * sum(tensor.numel() for tensor in weights.values()),
    }

    def take(**counts: int) -> None:
        if threading.get_ident() == thread:
            for name, count in counts.items():
                left[name] -= count
                if left[name] < 0:
                    raise _TooLarge(f"the settings make a model of far more {name} than it has weights for")

    def part(module: nn.Module, name: str, child: nn.Module | None) -> None:
        take(modules=1)

    def parameter(module: nn.Module, name: str, value: nn.Parameter | None) -> None:
        if value is not None:
            take(parameters=1, numbers=0 if isinstance(value, nn.UninitializedParameter) else value.numel())

    handles = [register_module_module_registration_hook(part), register_module_parameter_registration_hook(parameter)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()
