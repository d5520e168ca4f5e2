"""The precision of a run: the one given, that of the run it goes on with, or the quicker one."""

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import torch
from torch import nn

from olinear.core.runtime import (
    Kernels,
    Precision,
    as_kernels,
    check_precision,
    count_multiplications,
    fitting_threads,
    has_bfloat16,
    large_product,
    on_threads,
    own_randomness,
    quicker_kernels,
    quicker_precision,
)
from olinear.core.settings import TrainingConfig
from olinear.models import answer
from olinear.training.checkpoints import read_record
from olinear.training.sources import Source
from olinear.training.tasks import Task

# Multiplications of a forward pass: below the first bfloat16 gains little, and a measurement could fall out either way;
# from the second on a step takes long, and most of it is products, so that one product is measured in its place.
LEAST = 250_000_000
LARGE = 1_000_000_000

_measured: dict[tuple[object, ...], Precision] = {}


def settle(
    model: nn.Module, training: Source, task: Task, config: TrainingConfig, device: torch.device, going_on: Path | None
) -> tuple[Precision, Kernels]:
    """What a run computes with, and by whose kernels. A checkpoint knows what it was."""
    before = read_record(going_on) if going_on is not None and going_on.exists() else None
    if device.type != "cpu":
        kernels: Kernels = "torch"
    elif before is not None:
        kernels = as_kernels(before.get("kernels"))
    else:
        kernels = quicker_kernels()
    if config.precision != "auto":
        check_precision(config.precision, device)
        return config.precision, kernels
    if before is not None:
        return before.get("config", {}).get("precision", "float32"), kernels
    return _quicker(model, training, task, config.batch_size, device, kernels), kernels


def _quicker(
    model: nn.Module, training: Source, task: Task, batch_size: int, device: torch.device, kernels: Kernels
) -> Precision:
    """Measured once a process and kind of model."""
    shapes = tuple(parameter.shape for parameter in model.parameters())
    if not shapes or not has_bfloat16(device):
        return "float32"
    size = _size(model, training, batch_size)
    if size is not None and size < LEAST:
        return "float32"
    key = (type(model), shapes, batch_size, device, torch.get_num_threads(), kernels)
    if key not in _measured:
        large = size is not None and size >= LARGE
        with own_randomness(0, device), fitting_threads(model, device), on_threads(1 if large else None):
            step = large_product(device) if large else _step(model, training.to(device), task, batch_size)
            _measured[key] = quicker_precision(step, device, kernels)
    return _measured[key]


def _size(model: nn.Module, training: Source, batch_size: int) -> int | None:
    """Multiplications of a forward pass, counted without computing; None for a model that only computes."""
    one = next(iter(training.batches(1)))
    try:
        empty = torch.empty(batch_size, *one.past.shape[1:], device="meta")
        return count_multiplications(deepcopy(model).to("meta"), empty)
    except Exception:  # whatever a module from outside does with its numbers
        return None


def _step(model: nn.Module, training: Source, task: Task, batch_size: int) -> Callable[[], None]:
    """A step without the optimizer, which is the same in any precision."""
    probe, batch = deepcopy(model).train(), next(iter(training.batches(batch_size)))

    def step() -> None:
        task.loss(answer(probe, task.prepare(batch)), batch).backward()
        probe.zero_grad()

    return step
