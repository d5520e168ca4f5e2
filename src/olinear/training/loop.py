"""The training loop: epochs, judgement on validation, early stopping, checkpoints."""

import logging
import math
import time
import zlib
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from olinear.core import Batch, DataError, TrainingDiverged
from olinear.core.runtime import fitting_threads, pick_device, solving_device
from olinear.core.settings import TrainingConfig
from olinear.data.windows import Windows
from olinear.models import answer, traits_of, windows_at_once
from olinear.training.losses import LOSSES, Loss, count_present
from olinear.training.progress import TrainingProgress
from olinear.training.schedules import SCHEDULES
from olinear.training.state import RunState

logger = logging.getLogger("olinear.training")


@dataclass(frozen=True)
class TrainingReport:
    """What a run did: `history` has one record an epoch (losses, learning rate, seconds)."""

    best_epoch: int
    best_loss: float | None  # None without validation
    best_averaged: bool
    epochs: int
    seconds: float
    history: list[dict[str, float]]


def train(
    model: nn.Module,
    training: Windows,
    validation: Windows | None,
    config: TrainingConfig | None = None,
    *,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    progress: bool = True,
) -> TrainingReport:
    """Train a module `b t n -> b h n` in place and leave it with its best weights, in evaluation mode.

    One that has a closed form (a method `solve(windows)`) is solved once instead.

    The best weights are those of the epoch with the lowest validation loss; without `validation`, those of the
    last epoch. Two runs with one seed on one machine are equal bit by bit, and the caller's random state is
    left alone.

    Args:
        checkpoint: a file to keep the run in, replaced after every epoch and every `checkpoint_seconds`.
        resume: go on from that file if it is there; a run killed at any moment then ends as if it never was.
        progress: draw a live line if standard error is a terminal.
    """
    config = config or TrainingConfig()
    path = None if checkpoint is None else Path(checkpoint)
    device = pick_device(config.device)
    if traits_of(model).closed_form:
        return _solve(model, training, validation, config, device)
    model.to(device)
    data = {"windows": len(training), "checksum": 0 if path is None else _checksum(training, validation)}
    training = training.to(device)
    validation = None if validation is None else validation.to(device)
    run = RunState(model, config, data)
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []):
        torch.manual_seed(config.seed)
        if path is not None and resume and path.exists():
            run.load(path)
            logger.info("resumed %s at epoch %d, step %d", path, run.position.epoch, run.position.step)
        steps = math.ceil(len(training) / config.batch_size)
        with fitting_threads(model, device), TrainingProgress(progress, config.max_epochs, steps) as bar:
            while not run.position.finished:
                _train_epoch(run, training, path, bar)
                _judge_epoch(run, training, validation, bar)
                if path is not None:
                    run.save(path)
    return _finish(run, validated=validation is not None)


def _solve(
    model: nn.Module, training: Windows, validation: Windows | None, config: TrainingConfig, device: torch.device
) -> TrainingReport:
    started, place = time.monotonic(), solving_device(device)
    loss, size = LOSSES[config.loss], 4 * config.batch_size
    model.to(place)
    model.eval()
    model.solve(training.to(place))  # type: ignore[operator]
    model.to(device)
    record = {"epoch": 1.0, "training_loss": mean_loss(model, training.to(device), loss, size)}
    if validation is not None:
        record["validation_loss"] = mean_loss(model, validation.to(device), loss, size)
    seconds = time.monotonic() - started
    return TrainingReport(1, record.get("validation_loss"), False, 1, seconds, [record | {"seconds": seconds}])


def _finish(run: RunState, validated: bool) -> TrainingReport:
    """Leave the model with its best weights, or with its last ones if nothing judged them."""
    if run.best:
        run.model.load_state_dict(run.best)
    run.model.eval()
    at = run.position
    best_epoch, best_loss = (at.best_epoch, at.best_loss) if validated else (len(at.history), None)
    return TrainingReport(best_epoch, best_loss, at.best_averaged, len(at.history), at.seconds, at.history)


def _train_epoch(run: RunState, training: Windows, path: Path | None, bar: TrainingProgress) -> None:
    """The steps of this epoch that are not done yet."""
    config, position, model = run.config, run.position, run.model
    steps = math.ceil(len(training) / config.batch_size)
    order = _shuffled(len(training), config.seed, position.epoch)
    started = saved = time.monotonic()
    model.train()
    for batch in training.batches(config.batch_size, order[position.step * config.batch_size :]):
        rate = _rate(run, position.step / steps)
        for group in run.optimizer.param_groups:
            group["lr"] = rate
        loss = _step(run, batch)
        count = count_present(batch.targets)
        position.loss_sum += loss * count
        position.loss_count += count
        position.step += 1
        position.total_steps += 1
        run.update_average()
        bar.show(position.epoch, position.step)
        if path is not None and time.monotonic() - saved >= config.checkpoint_seconds:
            position.seconds += time.monotonic() - started
            run.save(path)
            started = saved = time.monotonic()
    position.seconds += time.monotonic() - started


def _rate(run: RunState, done: float) -> float:
    """The learning rate where this share of the epoch is done."""
    config = run.config
    return config.learning_rate * SCHEDULES[config.schedule](run.position.epoch, config.max_epochs, done)


def _step(run: RunState, batch: Batch) -> float:
    """One step of the optimizer; the loss before it."""
    x, y = batch.pair
    config = run.config
    with torch.autocast(x.device.type, torch.bfloat16, enabled=config.mixed_precision and x.is_cuda):
        loss = LOSSES[config.loss](answer(run.model, batch).point, y)
    value = float(loss.detach())
    if not math.isfinite(value):
        raise _diverged(run, value, finite_data=bool(x.isfinite().all()) and not y.isinf().any())
    run.optimizer.zero_grad()
    loss.backward()
    if config.clip_norm is not None:
        nn.utils.clip_grad_norm_(run.model.parameters(), config.clip_norm)
    run.optimizer.step()
    return value


def _judge_epoch(run: RunState, training: Windows, validation: Windows | None, bar: TrainingProgress) -> None:
    """Validate the present weights, and the averaged ones if there are any; close the epoch."""
    config, position = run.config, run.position
    started, steps = time.monotonic(), math.ceil(len(training) / config.batch_size)
    record = {
        "epoch": float(position.epoch),
        "learning_rate": _rate(run, 1 - 1 / steps),
        "training_loss": position.loss_sum / max(position.loss_count, 1),
    }
    if validation is not None:
        record["validation_loss"] = _validate(run, validation, averaged=False)
        if run.average:
            with run.averaged_weights():
                record["averaged_validation_loss"] = _validate(run, validation, averaged=True)
        if not position.best_epoch:
            finite = bool(validation.values.isfinite().all()) and not validation.targets.isinf().any()
            raise _diverged(run, record["validation_loss"], finite)
    position.seconds += time.monotonic() - started
    record["seconds"] = position.seconds
    position.history.append(record)
    note = ", ".join(f"{key.replace('_', ' ')} {record[key]:.4g}" for key in record if key.endswith("loss"))
    logger.info("epoch %d/%d: %s", position.epoch, config.max_epochs, note)
    bar.show(position.epoch, steps, note)
    stale = position.epoch - position.best_epoch if validation is not None else 0
    position.finished = position.epoch >= config.max_epochs or stale >= config.patience
    position.epoch, position.step = position.epoch + 1, 0
    position.loss_sum, position.loss_count = 0.0, 0


def _validate(run: RunState, validation: Windows, averaged: bool) -> float:
    """The validation loss of the weights in the model, which are kept if no others were better."""
    # A model whose forecast depends on its batch sees batches of the size it is trained with.
    size = windows_at_once(run.model, 4 * run.config.batch_size, run.config.batch_size)
    loss = mean_loss(run.model, validation, LOSSES[run.config.loss], size)
    if loss < run.position.best_loss:
        run.keep_best(loss, averaged)
    return loss


@torch.no_grad()
def mean_loss(model: nn.Module, windows: Windows, loss: Loss, batch_size: int) -> float:
    """The loss over every window, in evaluation mode."""
    model.eval()
    total, count = 0.0, 0
    for batch in windows.batches(batch_size):
        present = count_present(batch.targets)
        total += float(loss(answer(model, batch).point, batch.targets)) * present
        count += present
    if not count:
        raise DataError("every target of the validation windows is missing: validate on other rows")
    return total / count


def _shuffled(count: int, seed: int, epoch: int) -> Tensor:
    """This epoch's order; it depends on seed and epoch alone, so a place in it is one number."""
    return torch.randperm(count, generator=torch.Generator().manual_seed((1_000_003 * seed + epoch) % 2**63))


def _checksum(*parts: Windows | None) -> int:
    """A number that tells whether a resumed run reads the data it was begun with."""
    total = 0
    for windows in parts:
        if windows is not None:
            for part in (windows.values, windows.targets):
                total = zlib.crc32(part.cpu().numpy().tobytes(), total)
            total = zlib.crc32(repr((windows.starts, windows.lookback, windows.horizon)).encode(), total)
    return total


def _diverged(run: RunState, value: float, finite_data: bool) -> TrainingDiverged:
    position = run.position
    seen = [record["training_loss"] for record in position.history]
    if position.step:
        seen.append(position.loss_sum / max(position.loss_count, 1))
    remedy = (
        "lower learning_rate, or set clip_norm=1.0"
        if finite_data
        else "the data has missing or infinite values: mend or bridge them first"
    )
    return TrainingDiverged(
        f"the loss became {value} in epoch {position.epoch}, step {position.step + 1} "
        f"(mean losses before it: {', '.join(f'{loss:.4g}' for loss in seen[-3:]) or 'none'}): {remedy}",
        epoch=position.epoch,
        step=position.step + 1,
        history=position.history,
    )
