"""The training loop: epochs, judgement on validation, early stopping, checkpoints."""

import math
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from olinear.core import Batch, DataError, TrainingDiverged
from olinear.core.runtime import (
    Kernels,
    Precision,
    Waiting,
    computing_in,
    fitting_threads,
    keeping_memory,
    own_randomness,
    pick_device,
    solving_device,
)
from olinear.core.settings import TrainingConfig
from olinear.models import answer, traits_of, windows_at_once
from olinear.training.callbacks import Callback, LogEpochs, ProgressLine, check_callbacks, logger
from olinear.training.checkpoints import claim_checkpoint
from olinear.training.optimizers import MakeOptimizer
from olinear.training.precision import settle
from olinear.training.sources import Source
from olinear.training.state import RunState
from olinear.training.tasks import Forecast, Task


@dataclass(frozen=True)
class TrainingReport:
    """What a run did: `history` has one record an epoch (losses, learning rate, seconds)."""

    best_epoch: int
    best_loss: float | None  # None without validation
    best_averaged: bool
    epochs: int
    seconds: float
    history: list[dict[str, float]]
    stopped: bool = False  # by a callback, before its end
    precision: Precision = "float32"  # that it computed with
    kernels: Kernels = "torch"  # that it multiplied by


def train(
    model: nn.Module,
    training: Source,
    validation: Source | None,
    config: TrainingConfig | None = None,
    *,
    task: Task | None = None,
    optimizer: MakeOptimizer | None = None,
    callbacks: Sequence[Callback] = (),
    checkpoint: str | Path | None = None,
    resume: bool = False,
    progress: bool = True,
    name: str = "epoch",
) -> TrainingReport:
    """Train a module in place and leave it with its best weights, in evaluation mode.

    One whose traits say that it has a closed form is solved once instead.

    The best weights are those of the epoch with the lowest validation loss; without `validation`, those of the
    last epoch. Two runs with one seed on one machine are equal bit by bit, and the caller's random state is
    left alone; a second thread that trains meanwhile is refused, for both would draw from that state.

    Args:
        task, optimizer: what it is trained for, and `make(parameters, config)`; as `config` names them, if left out.
        callbacks: what listens, and may end the run.
        checkpoint: a file to keep the run in, replaced after every epoch and every `checkpoint_seconds`.
            It belongs to one run at a time; a second one is refused.
        resume: go on from that file if it is there; a run killed at any moment then ends as if it never was.
        progress: draw a live line if standard error is a terminal.
        name: what an epoch is called in that line and in the log.
    """
    config = config or TrainingConfig()
    task, device = task or Forecast(config.loss), pick_device(config.device)
    path = None if checkpoint is None else Path(checkpoint)
    if traits_of(model).closed_form:
        return _solve(model, training, validation, config, task, device, progress)
    model.to(device)
    precision, kernels = settle(model, training, task, config, device, path if resume else None)
    config = config.model_copy(update={"precision": precision})
    data = {"windows": len(training), "checksum": 0 if path is None else _checksum(training, validation)}
    run = RunState(model, task, config, data, optimizer, kernels)
    run.steps = steps_of_epoch(len(training), config)
    listeners = [LogEpochs(name), *([ProgressLine(name)] if progress else []), *check_callbacks(callbacks)]
    with claim_checkpoint(path), own_randomness(config.seed, device):
        if path is not None and resume and path.exists():
            run.load(path)
            logger.info("resumed %s at epoch %d, step %d", path, run.position.epoch, run.position.step)
        with fitting_threads(model, device), computing_in(precision, run.kernels), keeping_memory():
            _run(run, training.to(device), None if validation is None else validation.to(device), path, listeners)
    return _finish(run, validated=validation is not None)


def _run(
    run: RunState, training: Source, validation: Source | None, path: Path | None, listeners: Sequence[Callback]
) -> None:
    """Epoch after epoch, until the run is finished or a listener stops it."""
    with ExitStack() as endings:
        for listener in listeners:
            endings.callback(listener.ended, run)
            listener.started(run)
        while not (run.position.finished or run.stopped):
            _train_epoch(run, training, path, listeners)
            if not run.stopped:
                _judge_epoch(run, validation, listeners)
            if path is not None:
                run.save(path)


def _solve(
    model: nn.Module,
    training: Source,
    validation: Source | None,
    config: TrainingConfig,
    task: Task,
    device: torch.device,
    progress: bool,
) -> TrainingReport:
    started, place = time.monotonic(), solving_device(device)
    size = 4 * config.batch_size
    with Waiting("solving", progress):
        model.to(place)
        model.eval()
        with own_randomness(config.seed):
            model.solve(training.to(place))  # type: ignore[operator]
        model.to(device)
        record = {"epoch": 1.0}
        if not traits_of(model).zero_shot:  # to which the rows of training are as new as any
            record["training_loss"] = mean_loss(model, training.to(device), task, size)
        if validation is not None:
            record["validation_loss"] = mean_loss(model, validation.to(device), task, size)
    seconds = time.monotonic() - started
    return TrainingReport(1, record.get("validation_loss"), False, 1, seconds, [record | {"seconds": seconds}])


def _finish(run: RunState, validated: bool) -> TrainingReport:
    """Leave the model with its best weights, or with its last ones if nothing judged them."""
    if run.best:
        run.model.load_state_dict(run.best)
    run.model.eval()
    at = run.position
    best_loss = at.best_loss if validated and at.best_epoch else None
    best_epoch = at.best_epoch if validated else len(at.history)
    done = (best_epoch, best_loss, at.best_averaged, len(at.history), at.seconds, at.history, run.stopped)
    precision: Precision = "bfloat16" if run.config.precision == "bfloat16" else "float32"
    return TrainingReport(*done, precision=precision, kernels=run.kernels)


def _train_epoch(run: RunState, training: Source, path: Path | None, listeners: Sequence[Callback]) -> None:
    """The steps of this epoch that are not done yet."""
    config, position = run.config, run.position
    order = order_of_epoch(len(training), config, position.epoch)
    started = saved = time.monotonic()
    run.model.train()
    for batch in training.batches(config.batch_size, order[position.step * config.batch_size :]):
        run.set_rate(position.step / run.steps)
        loss = _step(run, batch)
        count = run.task.count(batch)
        position.loss_sum += loss * count
        position.loss_count += count
        position.step += 1
        position.total_steps += 1
        run.update_average()
        for listener in listeners:
            listener.stepped(run)
        if run.stopped:
            break
        if path is not None and time.monotonic() - saved >= config.checkpoint_seconds:
            position.seconds += time.monotonic() - started
            run.save(path)
            started = saved = time.monotonic()
    position.seconds += time.monotonic() - started


def _step(run: RunState, batch: Batch) -> float:
    """One step of the optimizer; the loss before it."""
    config, seen = run.config, run.task.prepare(batch)
    loss = run.task.loss(answer(run.model, seen), batch)
    value = float(loss.detach())
    if not math.isfinite(value):
        finite = bool(batch.past.isfinite().all()) and (batch.future is None or not batch.future.isinf().any())
        raise _diverged(run, value, finite)
    run.optimizer.zero_grad()
    loss.backward()
    if config.clip_norm is not None:
        nn.utils.clip_grad_norm_(run.model.parameters(), config.clip_norm)
    run.optimizer.step()
    return value


def _judge_epoch(run: RunState, validation: Source | None, listeners: Sequence[Callback]) -> None:
    """Validate the present weights, and the averaged ones if there are any; close the epoch."""
    config, position = run.config, run.position
    started = time.monotonic()
    record = {
        "epoch": float(position.epoch),
        "learning_rate": run.rate(1 - 1 / run.steps),
        "training_loss": position.loss_sum / max(position.loss_count, 1),
    }
    if validation is not None:
        record["validation_loss"] = _validate(run, validation, averaged=False)
        if run.average:
            with run.averaged_weights():
                record["averaged_validation_loss"] = _validate(run, validation, averaged=True)
        if not position.best_epoch:
            raise _diverged(run, record["validation_loss"], validation.is_finite())
    position.seconds += time.monotonic() - started
    record["seconds"] = position.seconds
    position.history.append(record)
    for listener in listeners:
        listener.judged(run, record)
    stale = position.epoch - position.best_epoch if validation is not None else 0
    position.finished = position.epoch >= config.max_epochs or stale >= config.patience
    position.epoch, position.step = position.epoch + 1, 0
    position.loss_sum, position.loss_count = 0.0, 0


def _validate(run: RunState, validation: Source, averaged: bool) -> float:
    """The validation loss of the weights in the model, which are kept if no others were better."""
    # A model whose forecast depends on its batch sees batches of the size it is trained with; large windows, too.
    step = run.config.batch_size
    values = next(iter(validation.batches(1))).past.numel()
    size = max(windows_at_once(run.model, 4 * step, step, values), min(step, len(validation)))
    loss = mean_loss(run.model, validation, run.task, size)
    if loss < run.position.best_loss:
        run.keep_best(loss, averaged)
    return loss


@torch.no_grad()
def mean_loss(model: nn.Module, windows: Source, task: Task, batch_size: int) -> float:
    """The loss over every window, in evaluation mode."""
    model.eval()
    total, count = 0.0, 0
    for batch in windows.batches(batch_size):
        present = task.count(batch)
        total += float(task.loss(answer(model, task.prepare(batch)), batch)) * present
        count += present
    if not count:
        raise DataError("every target of the validation windows is missing: validate on other rows")
    return total / count


def steps_of_epoch(count: int, config: TrainingConfig) -> int:
    """That so many windows make: all of them, or as many as the setting allows."""
    steps = math.ceil(count / config.batch_size)
    return min(steps, config.epoch_steps or steps)


def order_of_epoch(count: int, config: TrainingConfig, epoch: int) -> Tensor:
    """The windows of an epoch; they depend on seed and epoch alone, so a place among them is one number.

    Where an epoch is a part of all windows, the next one begins where it ended in their order.
    """
    size = min(steps_of_epoch(count, config) * config.batch_size, count)
    walk, first = divmod((epoch - 1) * size, count)  # walks through all windows that are done, and the place in this
    order = _shuffled(count, config.seed, walk + 1)[first : first + size]
    if len(order) == size:
        return order
    return torch.cat([order, _shuffled(count, config.seed, walk + 2)[: size - len(order)]])


def _shuffled(count: int, seed: int, walk: int) -> Tensor:
    """All windows in a random order, another one for each walk through them."""
    return torch.randperm(count, generator=torch.Generator().manual_seed((1_000_003 * seed + walk) % 2**63))


def _checksum(training: Source, validation: Source | None) -> int:
    """Of all the data of a run, in which the first part continues into the second."""
    return training.checksum() if validation is None else validation.checksum(training.checksum())


def _diverged(run: RunState, value: float, finite_data: bool) -> TrainingDiverged:
    position = run.position
    seen = [record["training_loss"] for record in position.history]
    if position.step:
        seen.append(position.loss_sum / max(position.loss_count, 1))
    remedy = (
        "lower learning_rate, or set clip_norm=1.0"
        if finite_data
        else "the data has missing or infinite values: correct or bridge them first"
    )
    return TrainingDiverged(
        f"the loss became {value} in epoch {position.epoch}, step {position.step + 1} "
        f"(mean losses before it: {', '.join(f'{loss:.4g}' for loss in seen[-3:]) or 'none'}): {remedy}",
        epoch=position.epoch,
        step=position.step + 1,
        history=position.history,
    )
