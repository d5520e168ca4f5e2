"""From rows to trained weights: one model, or members of several seeds; then what they learn from all rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from olinear.core import ConfigError, DataError, Note, OLinearError
from olinear.core.runtime import Send, own_randomness
from olinear.core.settings import FitTraining, Settings
from olinear.forecaster.estimating import FirstEstimate
from olinear.forecaster.fitted import Fitted
from olinear.forecaster.spans import FitRows, note_on_parts
from olinear.models import Members, build_model
from olinear.training import Callback, Member, TrainingReport, check_callbacks, members_at_once, train_members


@dataclass(frozen=True)
class Run:
    """How a fit is run; none of it changes the result, but a callback that stops it."""

    checkpoint: Path | None = None
    resume: bool = False
    progress: bool = True
    callbacks: Sequence[Callback] = ()
    notify: Callable[[str], None] | None = None  # gets notes that are of use while it runs
    start: nn.Module | None = None  # whose weights it begins with, in the place of random ones


def learn(fitted: Fitted, rows: FitRows, run: Run) -> list[TrainingReport]:
    """Train the judged model, and say how."""
    _tell(fitted, run, note_on_parts(rows))
    train_rows = rows.inputs[: len(rows.split.train)]
    members = [
        Member(_new_model(fitted, train_rows, config.seed, run.start), config, _checkpoint(run, number))
        for number, config in enumerate(_configs(fitted.settings))
    ]
    callbacks = check_callbacks(run.callbacks)
    times = -(-len(members) // members_at_once(members, alone=bool(callbacks)))
    reports = train_members(
        members,
        rows.training,
        rows.validation,
        resume=run.resume,
        progress=run.progress,
        callbacks=callbacks,
        listen=partial(_estimating, fitted.settings, rows.training.n_series, _validating(rows), times),
        heard=_Once(partial(_tell, fitted, run)),
    )
    fitted.model = _together(members)
    return reports


def learn_again(fitted: Fitted, rows: FitRows, reports: Sequence[TrainingReport], run: Run) -> None:
    """Train anew on all rows for the epochs that were best; stopped on the way, the judged model stays."""
    members = []
    for number, (config, report) in enumerate(zip(_configs(fitted.settings), reports, strict=True)):
        changes = {"max_epochs": max(report.best_epoch, 1), "precision": report.precision}
        model = _new_model(fitted, rows.inputs, config.seed, run.start)
        members.append(Member(model, config.model_copy(update=changes), _checkpoint(run, number, ".refit")))
    found = train_members(
        members,
        rows.windows(rows.every),
        None,
        resume=run.resume,
        progress=run.progress,
        callbacks=[Unjudged(callback) for callback in run.callbacks],
        name="refit",
    )
    if any(report.stopped for report in found):
        text = "stopped while training on all rows: the model is the one that was judged"
        fitted.panel.notes.append(Note("fit-refit-stopped", text))
        return
    fitted.model = _together(members)
    fitted.record["seconds"] = round(sum(report.seconds for report in (*reports, *found)), 1)


def checkpoints_of(checkpoint: Path, members: int) -> list[Path]:
    """The files that a fit with this checkpoint may leave."""
    return [_place(checkpoint, number, kind) for number in range(members) for kind in ("", ".refit")]


def summary_of(reports: Sequence[TrainingReport], settings: Settings) -> dict[str, Any]:
    """What the report keeps of a training; of members the mean loss, the longest run, and each one's own."""
    losses = [report.best_loss for report in reports if report.best_loss is not None]
    facts: dict[str, Any] = {
        "validation_loss": float(np.mean(losses)) if losses else None,
        "best_epoch": max(report.best_epoch for report in reports),
        "epochs": max(report.epochs for report in reports),
        "seconds": round(sum(report.seconds for report in reports), 1),
        "precision": reports[0].precision,
        "kernels": reports[0].kernels,
    }
    if len(reports) > 1:
        facts["of_members"] = [
            {"seed": config.seed, "validation_loss": own.best_loss, "best_epoch": own.best_epoch, "epochs": own.epochs}
            for config, own in zip(_configs(settings), reports, strict=True)
        ]
    return facts


def _configs(settings: Settings) -> list[FitTraining]:
    """The training of each member: a seed of its own."""
    training = settings.training
    return [training.model_copy(update={"seed": training.seed + number}) for number in range(training.members)]


def _together(members: Sequence[Member]) -> nn.Module:
    return members[0].model if len(members) == 1 else Members([member.model for member in members])


def _checkpoint(run: Run, number: int, kind: str = "") -> Path | None:
    return None if run.checkpoint is None else _place(run.checkpoint, number, kind)


def _place(checkpoint: Path, number: int, kind: str) -> Path:
    """Where a member keeps its run; the first one, or the only one, under the name itself."""
    member = f".member{number}" if number else ""
    return checkpoint.with_name(f"{checkpoint.name}{member}{kind}")


def _tell(fitted: Fitted, run: Run, note: Note | None) -> None:
    """Keep a note that is of use while a fit runs, and say it at once."""
    if note is None:
        return
    fitted.panel.notes.append(note)
    if run.notify is not None:
        run.notify(note)


class _Once:
    """Hands on the first note alone: each member finds how long it takes."""

    def __init__(self, found: Callable[[Note], None]):
        self.found, self.done = found, False

    def __call__(self, note: Note) -> None:
        if not self.done:
            self.done = True
            self.found(note)


def _validating(rows: FitRows) -> float:
    """Windows that validate, for each one that trains in an epoch."""
    return 0.0 if rows.validation is None else len(rows.validation) / rows.windows_of_epoch


def _estimating(settings: Settings, n_series: int, validating: float, times: int, send: Send) -> list[Callback]:
    """What notes how long a fit takes as soon as that is known."""
    return [FirstEstimate(settings, n_series, validating, send, times)]


class Unjudged(Callback):
    """What a callback hears of a training without validation: everything but judgements, for there are none."""

    def __init__(self, callback: Callback):
        self.callback = callback
        self.started, self.stepped, self.ended = callback.started, callback.stepped, callback.ended  # type: ignore[method-assign]


def _new_model(fitted: Fitted, train_rows: NDArray[np.float32], seed: int, start: nn.Module | None = None) -> nn.Module:
    """The model of the settings; if its basis cannot be computed from these rows, with a fixed one and a note."""
    arguments = fitted.settings.model.arguments
    try:
        model = _build(fitted, train_rows, arguments, seed)
        return model if start is None else _begin_with(model, start)
    except DataError as error:
        if "basis" not in arguments:
            raise
        fixed = arguments | {"basis": "fourier"}
        model = _build(fitted, train_rows, fixed, seed)
        text = f"the {arguments['basis']} basis cannot be computed ({error}); the fourier basis was used"
        if not any(note.code == "fit-basis-fixed" for note in fitted.panel.notes):  # a member before may have said it
            fitted.panel.notes.append(Note("fit-basis-fixed", text))
        return model


def _begin_with(model: nn.Module, start: nn.Module) -> nn.Module:
    """The model with the weights of another."""
    try:
        model.load_state_dict(start.state_dict())
    except RuntimeError as error:
        raise ConfigError(
            "these settings make a model of other shapes than the pre-trained one: leave those of the model as they are"
        ) from error
    return model


def _build(fitted: Fitted, train_rows: NDArray[np.float32], arguments: Mapping[str, Any], seed: int) -> nn.Module:
    settings = fitted.settings
    try:
        with own_randomness(seed):
            return build_model(fitted.source, train_rows, settings.lookback, settings.horizon, **arguments)
    except OLinearError:
        raise
    except (ArithmeticError, TypeError, ValueError, RuntimeError) as error:
        given = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        if not given and not isinstance(error, TypeError):
            raise
        given = given or "Model(n_series, lookback, horizon)"
        raise ConfigError(f"{settings.model.name} cannot be built with {given}: {error}") from error
