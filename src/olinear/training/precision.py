"""The precision of a run: the one given, that of the run it goes on with, or the quicker one."""

import time
from copy import deepcopy
from pathlib import Path

import torch
from torch import nn

from olinear.core.runtime import (
    Kernels,
    Precision,
    check_precision,
    count_multiplications,
    fitting_threads,
    has_bfloat16,
    own_randomness,
    quicker_kernels,
    quicker_precision,
)
from olinear.core.settings import TrainingConfig
from olinear.models import answer
from olinear.training.checkpoints import read_record
from olinear.training.sources import Source
from olinear.training.tasks import Task

# Multiplications of a forward pass below which bfloat16 gains little, and a measurement could fall out either way.
LEAST = 250_000_000
MEASURING = 0.15  # seconds
A_STEP = 0.02  # seconds that a measured step may take: it has fewer windows where those are large

_measured: dict[tuple[object, ...], Precision] = {}


def settle(
    model: nn.Module, training: Source, task: Task, config: TrainingConfig, device: torch.device, going_on: Path | None
) -> tuple[Precision, Kernels]:
    """What a run computes with, and by whose kernels. A checkpoint knows what it was."""
    before = read_record(going_on) if going_on is not None and going_on.exists() else None
    if device.type != "cpu":
        kernels: Kernels = "torch"
    elif before is not None:
        kernels = "onednn" if before.get("kernels") == "onednn" else "torch"
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
    if not shapes or not has_bfloat16(device) or (_size(model, training, batch_size) or LEAST) < LEAST:
        return "float32"
    key = (type(model), shapes, batch_size, device, torch.get_num_threads(), kernels)
    if key not in _measured:
        with own_randomness(0, device), fitting_threads(model, device):
            _measured[key] = _measure(model, training.to(device), task, batch_size, device, kernels)
    return _measured[key]


def _size(model: nn.Module, training: Source, batch_size: int) -> int | None:
    """Multiplications of a forward pass, counted without computing; None for a model that only computes."""
    one = next(iter(training.batches(1)))
    try:
        empty = torch.empty(batch_size, *one.past.shape[1:], device="meta")
        return count_multiplications(deepcopy(model).to("meta"), empty)
    except Exception:  # whatever a module from outside does with its numbers
        return None


def _measure(
    model: nn.Module, training: Source, task: Task, batch_size: int, device: torch.device, kernels: Kernels
) -> Precision:
    probe = deepcopy(model).train()

    def step_of(count: int) -> None:
        batch = next(iter(training.batches(count)))
        task.loss(answer(probe, task.prepare(batch)), batch).backward()
        probe.zero_grad()

    step_of(1)  # the first pass takes memory
    began = time.perf_counter()
    step_of(1)
    count = max(1, min(batch_size, len(training), int(A_STEP / (time.perf_counter() - began))))
    return quicker_precision(lambda: step_of(count), device, MEASURING, kernels)
