"""Several models of one kind trained side by side, each as if it were alone."""

import multiprocessing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import torch
from torch import nn

from olinear.core import OLinearError
from olinear.core.runtime import Assignment, Ended, LogLine, Send, Started, Waiting, WorkerPool, pick_device
from olinear.core.settings import TrainingConfig
from olinear.training.callbacks import Callback, logger
from olinear.training.loop import TrainingReport, train
from olinear.training.precision import settle
from olinear.training.sources import Source
from olinear.training.tasks import Forecast


@dataclass(frozen=True)
class Member:
    """A model to be trained, with its settings and a checkpoint of its own."""

    model: nn.Module
    config: TrainingConfig
    checkpoint: Path | None = None


Listen = Callable[[Send], Sequence[Callback]]  # callbacks, given how they say something


def train_members(
    members: Sequence[Member],
    training: Source,
    validation: Source | None,
    *,
    resume: bool = False,
    progress: bool = True,
    callbacks: Sequence[Callback] = (),
    listen: Listen | None = None,
    heard: Callable[[Any], None] = lambda said: None,
    name: str = "epoch",
) -> list[TrainingReport]:
    """Train each in place, as `train` does; the reports in the order of the members.

    Where there are several threads and no callbacks, they are trained in processes of their own, one thread each: a
    single model makes less of two threads than two models do. All compute in the precision that suits the first.

    Args:
        callbacks: listen in this process, to one member after the other.
        listen: makes callbacks where a member is trained; what they say comes to `heard`. It must be picklable.
    """
    device = pick_device(members[0].config.device)
    members = _in_one_precision(members, training, device, resume)
    at_once = members_at_once(members, alone=bool(callbacks))
    if at_once == 1 or not _can_be_sent(members, training, validation, listen):
        listeners = [*(listen(heard) if listen is not None else ()), *callbacks]
        options: dict[str, Any] = {"progress": progress, "callbacks": listeners, "name": name}
        return [_train(member, training, validation, resume, **options) for member in members]
    threads = torch.get_num_threads() // at_once
    jobs = [
        Assignment(first, _work, (members[first::at_once], training, validation, resume, listen, name), threads)
        for first in range(at_once)
    ]
    reports: dict[int, TrainingReport] = {}
    with Waiting(f"training {len(members)} members", progress) as waiting:
        for news in WorkerPool[int](at_once, logger=logger.name, script=False).run(jobs):
            if news is not None:
                _take(news, members, at_once, reports, heard, waiting)
    return [reports[number] for number in range(len(members))]


def members_at_once(members: Sequence[Member], *, alone: bool = False) -> int:
    """How many are trained side by side; one where callbacks want each for themselves, or processes are of no use."""
    daemon = multiprocessing.current_process().daemon  # which may not start processes
    on_processor = pick_device(members[0].config.device).type == "cpu"
    return 1 if alone or daemon or not on_processor else min(len(members), torch.get_num_threads())


def _in_one_precision(
    members: Sequence[Member], training: Source, device: torch.device, resume: bool
) -> Sequence[Member]:
    """Measured once, before they keep each other's cores busy."""
    first = members[0]
    if len(members) == 1 or first.config.precision != "auto":
        return members
    first.model.to(device)
    task, going_on = Forecast(first.config.loss), first.checkpoint if resume else None
    precision, _ = settle(first.model, training, task, first.config, device, going_on)
    settled = {"precision": precision}
    return [replace(each, config=each.config.model_copy(update=settled)) for each in members]


def _can_be_sent(members: Sequence[Member], training: Source, validation: Source | None, listen: Listen | None) -> bool:
    """Whether what a process needs can go there: classes of the user's script cannot, for it is not run again."""
    parts = [part for each in members[:1] for part in each.model.modules()]
    if any(type(part).__module__ == "__main__" for part in (*parts, training, validation)):
        return False
    try:
        ForkingPickler.dumps((members[0], listen))
    except Exception:  # whatever a model from outside holds
        return False
    return True


def _train(member: Member, training: Source, validation: Source | None, resume: bool, **options: Any) -> TrainingReport:
    given = {"checkpoint": member.checkpoint, "resume": resume} | options
    return train(member.model, training, validation, member.config, **given)


def _work(
    members: Sequence[Member],
    training: Source,
    validation: Source | None,
    resume: bool,
    listen: Listen | None,
    name: str,
    send: Send,
) -> None:
    """In a process: train some, and send each one's report and weights."""
    for number, member in enumerate(members):
        listeners = listen(send) if listen is not None else ()
        report = _train(member, training, validation, resume, progress=False, callbacks=listeners, name=name)
        send(_Trained(number, report, {key: value.numpy() for key, value in member.model.state_dict().items()}))


@dataclass(frozen=True)
class _Trained:
    """The report and the weights of a process's member."""

    number: int
    report: TrainingReport
    weights: dict[str, Any]


def _take(
    news: tuple[int, Any],
    members: Sequence[Member],
    at_once: int,
    reports: dict[int, TrainingReport],
    heard: Callable[[Any], None],
    waiting: Waiting,
) -> None:
    """What a process says: how far it is, a trained member, what its callbacks say, or its end."""
    first, message = news
    if isinstance(message, _Trained):
        number = first + at_once * message.number
        weights = {key: torch.as_tensor(value) for key, value in message.weights.items()}
        members[number].model.load_state_dict(weights)
        members[number].model.eval()
        reports[number] = message.report
    elif isinstance(message, LogLine):
        done = f"{len(reports)} of {len(members)} members trained"
        logger.info("%s; one at %s", done, message.text)
        waiting.show(f"{done}; one at {message.text}")
    elif isinstance(message, Ended):
        if message.error:
            raise OLinearError(f"a member was not trained: {message.error}")
    elif not isinstance(message, Started):
        heard(message)
