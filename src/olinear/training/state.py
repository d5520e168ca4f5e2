"""Everything a training run is between two steps, and its way to disk and back."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import torch
from pydantic import Field, TypeAdapter
from torch import Tensor, nn

from olinear.core import CheckpointError, ConfigError
from olinear.core.runtime import Kernels
from olinear.core.settings import TrainingConfig
from olinear.training.checkpoints import ANEW, load_checkpoint, save_checkpoint
from olinear.training.optimizers import OPTIMIZERS, SLOTS, MakeOptimizer
from olinear.training.schedules import SCHEDULES
from olinear.training.tasks import Task

Weights = dict[str, Tensor]
Count = Annotated[int, Field(ge=0, le=2**53)]

# Settings that change where or how often, not what: a run may go on with others.
FREE_ON_RESUME = {"device", "checkpoint_seconds"}


@dataclass
class Position:
    """Where the run stands; plain numbers, saved as JSON (floats survive it bit by bit)."""

    epoch: Annotated[int, Field(ge=1)] = 1  # under way
    step: Count = 0  # steps of it done; with the seed, the position in the shuffle
    total_steps: Count = 0
    loss_sum: float = 0.0  # over this epoch's values so far
    loss_count: Count = 0
    best_epoch: Count = 0
    best_loss: float = float("inf")
    best_averaged: bool = False
    finished: bool = False
    seconds: float = 0.0
    history: list[dict[str, float]] = field(default_factory=list)

    def check(self, epochs: int, steps: int) -> None:
        """That a run of so many epochs of so many steps can stand there."""
        possible = self.epoch <= epochs + 1 and self.step <= steps and self.best_epoch <= len(self.history)
        if not possible or len(self.history) != self.epoch - 1:
            raise ValueError(f"it stands at epoch {self.epoch}, step {self.step}, after {len(self.history)} epochs")
        if any("training_loss" not in record for record in self.history):
            raise ValueError("an epoch of its history has no training_loss")


_POSITION = TypeAdapter(Position)


class RunState:
    """The model, its optimizer, its averaged and best weights, and the position."""

    def __init__(
        self,
        model: nn.Module,
        task: Task,
        config: TrainingConfig,
        data: dict[str, int],
        optimizer: MakeOptimizer | None = None,
        kernels: Kernels = "torch",
    ):
        self.model, self.task, self.config, self.data = model, task, config, data
        self.kernels = kernels
        self.steps = 1  # an epoch
        self.stopped = False
        parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
        if not parameters:
            name = type(model).__name__
            raise ConfigError(f"{name} has no weights to train: give it parameters, or traits with closed_form=True")
        self.is_named = optimizer is None
        self.optimizer = (optimizer or OPTIMIZERS[config.optimizer])(parameters, config)
        self.best: Weights = {}
        self.average = copy_weights(model) if config.average_decay else {}
        self.position = Position()

    def stop(self) -> None:
        """End the run after the present step; its checkpoint stays, and a resume goes on."""
        self.stopped = True

    def rate(self, done: float) -> float:
        """The learning rate where this share of the epoch is done."""
        schedule = SCHEDULES[self.config.schedule]
        return self.config.learning_rate * schedule(self.position.epoch, self.config.max_epochs, done)

    def set_rate(self, done: float) -> None:
        """Give it to the optimizer, times the `rate_factor` of a group that has one."""
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate(done) * group.get("rate_factor", 1.0)

    def keep_best(self, loss: float, averaged: bool) -> None:
        """The weights in the model are the best so far."""
        self.best = copy_weights(self.model)
        self.position.best_epoch, self.position.best_loss = self.position.epoch, loss
        self.position.best_averaged = averaged

    @torch.no_grad()
    def update_average(self) -> None:
        """Move the averaged weights towards the present ones, faster in the first steps."""
        if self.config.average_decay is None:
            return
        k = self.position.total_steps
        pace = 1 - min(self.config.average_decay, (1 + k) / (10 + k))
        for name, tensor in self.model.state_dict().items():
            if tensor.is_floating_point():
                self.average[name].lerp_(tensor, pace)
            else:
                self.average[name].copy_(tensor)

    @contextmanager
    def averaged_weights(self) -> Iterator[None]:
        """The model with its averaged weights, for a moment."""
        present = copy_weights(self.model)
        self.model.load_state_dict(self.average)
        try:
            yield
        finally:
            self.model.load_state_dict(present)

    def save(self, path: Path) -> None:
        """Write all of it to one file, atomically."""
        tensors = {f"random.{kind}": state for kind, state in _random_states(self.model).items()}
        groups = {"model": self.model.state_dict(), "best": self.best, "average": self.average}
        for index, slots in self.optimizer.state_dict()["state"].items():
            groups[f"optimizer.{index}"] = {
                name: torch.as_tensor(slot) for name, slot in slots.items() if slot is not None
            }
        for group, weights in groups.items():
            tensors |= {f"{group}/{name}": tensor for name, tensor in weights.items()}
        settings, position = self.config.model_dump(), vars(self.position)
        record = {"config": settings, "data": self.data, "position": position, "kernels": self.kernels}
        save_checkpoint(path, tensors, record)

    def load(self, path: Path) -> None:
        """Take up a saved run of the same model, settings and data."""
        tensors, record = load_checkpoint(path)
        device = next(self.model.parameters()).device
        groups: dict[str, Weights] = {}
        for key, tensor in tensors.items():
            group, _, name = key.partition("/")
            groups.setdefault(group, {})[name] = tensor.to(device) if name else tensor
        try:
            self._check_same_run(path, record)
            self._take_up(groups, tensors, record)
        except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            if isinstance(error, CheckpointError):
                raise
            reason = " ".join(str(error).split())[:300]
            raise CheckpointError(f"{path} holds another model than the one given ({reason}): {ANEW}") from error

    def _take_up(self, groups: dict[str, Weights], tensors: Weights, record: dict[str, Any]) -> None:
        position = _POSITION.validate_json(json.dumps(record["position"]), strict=True)
        position.check(self.config.max_epochs, self.steps)
        best, average = groups.get("best", {}), groups.get("average", {})
        self._check_weights("best", best, needed=position.best_epoch > 0)
        self._check_weights("average", average, needed=self.config.average_decay is not None)
        self.model.load_state_dict(groups.get("model", {}))
        saved = self.optimizer.state_dict()
        saved["state"] = {
            int(group.removeprefix("optimizer.")): slots
            for group, slots in groups.items()
            if group.startswith("optimizer.")
        }
        self._check_slots(saved["state"])
        self.optimizer.load_state_dict(saved)
        self.best, self.average = best, average
        self.position = position
        _set_random_states(self.model, tensors)

    def _check_weights(self, name: str, found: Weights, needed: bool) -> None:
        """Weights that are needed only later must be those of this model now."""
        wanted = self.model.state_dict() if needed else {}
        if found.keys() != wanted.keys():
            raise ValueError(f"the {name} weights are not those of this model")
        for key, tensor in wanted.items():
            if (found[key].shape, found[key].dtype) != (tensor.shape, tensor.dtype):
                raise ValueError(f"the {name} weights have another {key}")

    def _check_slots(self, state: Mapping[int, Weights]) -> None:
        """What our optimizers keep for each parameter; what one of the user's does is not known."""
        parameters = [parameter for group in self.optimizer.param_groups for parameter in group["params"]]
        names = SLOTS[self.config.optimizer] if self.is_named else None
        for index, slots in state.items():
            if not 0 <= index < len(parameters):
                raise ValueError(f"there is no parameter {index}")
            for name, slot in slots.items() if names is not None else ():
                wanted = () if name == "step" else parameters[index].shape
                if slots.keys() != names or slot.shape != wanted or not slot.is_floating_point():
                    raise ValueError(f"the optimizer's {name} of parameter {index} has shape {tuple(slot.shape)}")

    def _check_same_run(self, path: Path, record: dict[str, Any]) -> None:
        here = self.config.model_dump(exclude=FREE_ON_RESUME) | self.data
        defaults = TrainingConfig().model_dump()  # of settings that are newer than the checkpoint
        there = defaults | record.get("config", {}) | record.get("data", {})
        for name, value in here.items():
            if there.get(name) != value:
                raise CheckpointError(
                    f"{path} is a run with {name}={there.get(name)}, this one has {name}={value}: "
                    f"use the same settings and data, or {ANEW}"
                )


def copy_weights(model: nn.Module) -> Weights:
    """A copy of everything in the module's state."""
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}


def _random_states(model: nn.Module) -> dict[str, Tensor]:
    states = {"cpu": torch.get_rng_state()}
    device = next(model.parameters()).device
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    return states


def _set_random_states(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    torch.set_rng_state(tensors["random.cpu"])
    device = next(model.parameters()).device
    if device.type == "cuda" and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"], device)
