"""Several fits at a time, each in a process of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from olinear.core import ConfigError
from olinear.core.runtime import Assignment, Ended, LogLine, WorkerPool
from olinear.forecaster.service.fits import FitRequest, fit


@dataclass(frozen=True)
class SideResult:
    """What became of a request: the report of its model, saved in `out`, or why there is none."""

    out: Path
    report: dict[str, Any]
    error: str = ""


def fit_side_by_side(
    requests: Sequence[FitRequest],
    *,
    workers: int = 2,
    show: Callable[[FitRequest, str], None] = lambda request, line: None,
) -> list[SideResult]:
    """Fit several models, `workers` at a time, and give the results in the order of the requests.

    Each fit equals the fit alone bit by bit: it has a process, and so a random state and threads, of its own. A fit
    that fails, or whose process is killed, has an `error` and leaves the others alone; its checkpoint stays, and the
    same request with `resume=True` goes on.

    Args:
        requests: each with a folder of its own, and without callbacks, which cannot leave this process.
        workers: processes at a time; more than there are cores make each slower.
        show: called with a request and each line that its training logs.
    """
    _check(requests, workers)
    reports: dict[int, dict[str, Any]] = {}
    errors: dict[int, str] = {}
    threads = torch.get_num_threads()
    alone = [replace(each, progress=False, notify=None) for each in requests]
    jobs = [Assignment(number, _work, (each,), threads) for number, each in enumerate(alone)]
    for news in WorkerPool[int](workers, logger="olinear.training").run(jobs):
        if news is None:
            continue
        number, message = news
        if isinstance(message, LogLine):
            show(requests[number], message.text)
        elif isinstance(message, dict):
            reports[number] = message
        elif isinstance(message, Ended):
            errors[number] = message.error
    folders = [request.out or Path() for request in requests]
    return [SideResult(out, reports.get(number, {}), errors.get(number, "")) for number, out in enumerate(folders)]


def _work(request: FitRequest, send: Callable[[Any], None]) -> None:
    send(fit(request).report)


def _check(requests: Sequence[FitRequest], workers: int) -> None:
    if workers < 1:
        raise ConfigError(f"workers must be at least 1, found {workers}")
    folders = [None if request.out is None else request.out.resolve() for request in requests]
    for request, folder in zip(requests, folders, strict=True):
        if folder is None or folders.count(folder) > 1:
            raise ConfigError(f"each fit needs a folder of its own to save its model in, found out={request.out}")
        if request.callbacks:
            raise ConfigError("callbacks cannot follow a fit into its process: leave them out, and pass show=")
