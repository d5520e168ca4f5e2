"""One job in a process of its own: claimed by a lock, resumed from its checkpoint, written when done."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from filelock import FileLock, Timeout

from olinear.bench.run.running import Outcome, run_job
from olinear.bench.spec.identity import JobKey
from olinear.bench.spec.recipes import Recipe
from olinear.bench.store.results import add_row, failed, finished, runs_folder, save_errors
from olinear.core import CheckpointError
from olinear.core.runtime import Send, describe_error


@dataclass(frozen=True)
class Message:
    """How a job ended; `busy`: another process has it or has done it."""

    job: JobKey
    kind: Literal["done", "failed", "busy"]
    text: str = ""
    seconds: float = 0.0


def work(job: JobKey, recipe: Recipe, results: Path, data: Path | None, send: Send) -> None:
    """Do a job unless another process has it, and say how it ended."""
    try:
        with FileLock(runs_folder(results) / f"{job.name}.lock", timeout=0):
            message = Message(job, "busy") if job in finished(results) else _do(job, recipe, results, data)
    except Timeout:
        message = Message(job, "busy")
    send(message)


def _do(job: JobKey, recipe: Recipe, results: Path, data: Path | None) -> Message:
    checkpoint = runs_folder(results) / f"{job.name}.safetensors"
    try:
        row, forecasts, errors = _go_on_or_begin(job, recipe, data, checkpoint)
    except Exception as error:
        failure = failed(job, describe_error(error))
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


def _go_on_or_begin(job: JobKey, recipe: Recipe, data: Path | None, checkpoint: Path) -> Outcome:
    try:
        return run_job(job, recipe, data, checkpoint)
    except CheckpointError:  # damaged, of other data, or of an older version
        checkpoint.unlink()
        return run_job(job, recipe, data, checkpoint)
