"""One job in a process of its own: claimed by a lock, resumed from its checkpoint, written when done."""

import json
import logging
import multiprocessing
import os
import signal
import threading
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock, Timeout

from olinear.bench.run.running import Outcome, run_job
from olinear.bench.spec.jobs import Job
from olinear.bench.store.results import add_row, failed, finished, runs_folder, save_errors
from olinear.core import CheckpointError, OLinearError


@dataclass(frozen=True)
class Message:
    """What a worker tells: `kind` is epoch, done, failed, or busy (another process has the job or has done it)."""

    job: Job
    kind: str
    text: str = ""
    seconds: float = 0.0


def work(job: Job, results: Path, data: Path | None, threads: int, channel: Any) -> None:
    """Do a job unless another process has it; tell `channel` (the end of a pipe) how it goes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent, which ends its workers
    end_with_the_parent()
    torch.set_num_threads(threads)
    logger = logging.getLogger("olinear.training")
    logger.setLevel(logging.INFO)
    logger.addHandler(_Teller(job, channel))
    try:
        with FileLock(runs_folder(results) / f"{job.name}.lock", timeout=0):
            message = Message(job, "busy") if job in finished(results) else _do(job, results, data)
    except Timeout:
        message = Message(job, "busy")
    channel.send(message)


def _do(job: Job, results: Path, data: Path | None) -> Message:
    checkpoint = runs_folder(results) / f"{job.name}.safetensors"
    try:
        row, forecasts, errors = _go_on_or_begin(job, data, checkpoint)
    except Exception as error:
        told = str(error) if isinstance(error, OLinearError) else f"{type(error).__name__}: {error}"
        failure = failed(job, told)
        add_row(results, failure)
        return Message(job, "failed", failure.error)
    if forecasts is not None:
        (results / "forecasts").mkdir(parents=True, exist_ok=True)
        (results / "forecasts" / f"{job.name}.json").write_text(json.dumps(forecasts), "utf-8")
    if errors is not None:
        save_errors(results, job, errors)
    add_row(results, row)
    checkpoint.unlink(missing_ok=True)
    text = f"MSE {row.mse:.4f}, MAE {row.mae:.4f}, epoch {row.best_epoch} of {row.epochs}"
    return Message(job, "done", text, row.seconds or 0.0)


def _go_on_or_begin(job: Job, data: Path | None, checkpoint: Path) -> Outcome:
    try:
        return run_job(job, data, checkpoint)
    except CheckpointError:  # damaged, of other data, or of an older version
        checkpoint.unlink()
        return run_job(job, data, checkpoint)


class _Teller(logging.Handler):
    """Passes the training's log lines on."""

    def __init__(self, job: Job, channel: Any):
        super().__init__(logging.INFO)
        self.job, self.channel = job, channel

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError):  # nobody listens any more: `end_with_the_parent` sees to that
            self.channel.send(Message(self.job, "epoch", record.getMessage()))


def end_with_the_parent() -> None:
    """A worker whose parent was killed must not go on unseen."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()
