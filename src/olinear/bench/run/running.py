"""One job from raw file to scores: split, scale, train with validation-only selection, score every test window."""

import math
import platform
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from olinear import __version__
from olinear.bench.run.preparing import build_model, load_series, training_rows
from olinear.bench.spec.jobs import FIRST_SEED, Job, recipe
from olinear.bench.store.results import Row
from olinear.core import DataError
from olinear.core.runtime import on_same_device
from olinear.data.datasets import find_dataset
from olinear.data.windows import Windows
from olinear.evaluation import Scores, evaluate, window_errors
from olinear.models import MAIN, answer, for_inference, windows_at_once
from olinear.training import TrainingConfig, TrainingReport, train


class Outcome(NamedTuple):
    """What a job gives: its row, and for chosen jobs a few forecasts to draw, and the MSE of every test window."""

    row: Row
    forecasts: dict[str, Any] | None = None
    errors: NDArray[np.float32] | None = None


def run_job(job: Job, folder: Path | None, checkpoint: Path) -> Outcome:
    """Train (going on from `checkpoint` if it is there) and score."""
    plan = recipe(job)
    task, (_, lookback, horizon) = plan.task, job.key
    source = load_series(plan.train_on, task, folder)
    target = source if job.key.dataset == plan.train_on else load_series(job.key.dataset, task, folder)
    rows = training_rows(plan, len(source.split.train))
    torch.manual_seed(job.seed)
    model: Any = build_model(plan, source, rows, folder)
    config = TrainingConfig(
        learning_rate=task.learning_rate,
        schedule=task.schedule,
        batch_size=task.batch_size,
        max_epochs=task.max_epochs,
        patience=task.patience,
        loss=plan.loss,
        seed=job.seed,
    )
    starts = replace(source.split, train=rows).starts(rows, lookback, horizon)
    training = Windows(source.scaled, lookback, horizon, starts)
    validation = source.windows(source.split.validation, lookback, horizon)
    report = train(model, training, validation, config, checkpoint=checkpoint, resume=True, progress=False)
    test = on_same_device(model, target.windows(target.split.test, lookback, horizon))
    compact = for_inference(model)
    # A model whose forecast depends on its batch sees batches of the size it was trained with.
    at_once = windows_at_once(model, 128, task.batch_size)
    scores = evaluate(compact, test, at_once)
    if not (math.isfinite(scores.mse) and math.isfinite(scores.mae)):
        raise DataError(f"the scores are no numbers: MSE {scores.mse}, MAE {scores.mae}")
    row = _row(job, scores, report, sum(parameter.numel() for parameter in model.parameters()))
    if job.variant != "main" or job.seed != FIRST_SEED:
        return Outcome(row)
    errors = window_errors(compact, test, at_once).float().cpu().numpy()
    return Outcome(row, draw_forecasts(job, compact, test) if _is_drawn(job) else None, errors)


def _row(job: Job, scores: Scores, report: TrainingReport, parameters: int) -> Row:
    return Row(
        *job.key,
        model=job.model,
        variant=job.variant,
        seed=job.seed,
        mse=scores.mse,
        mae=scores.mae,
        r2=scores.r2,
        pearson=scores.pearson,
        mase=scores.window_mase,
        windows=scores.windows,
        best_epoch=report.best_epoch,
        epochs=report.epochs,
        seconds=round(report.seconds, 1 if report.seconds >= 1 else 3),
        parameters=parameters,
        peak_memory_mb=peak_memory(),
        versions=versions(),
        commit=commit(),
        validation_loss=report.best_loss,
    )


def _is_drawn(job: Job) -> bool:
    """One horizon of each dataset and lookback is drawn in the report."""
    dataset = find_dataset(job.key.dataset)
    return job.model == MAIN and dataset.paper and job.key.horizon == dataset.horizons[job.key.lookback][0]


def draw_forecasts(job: Job, model: nn.Module, test: Windows) -> dict[str, Any]:
    """Forecasts of the first series at a quarter, half and three quarters of the test windows, standardised."""
    chosen = torch.tensor([len(test) * quarter // 4 for quarter in (1, 2, 3)])
    batch = test.batch(chosen)
    x, y = batch.pair
    with torch.no_grad():
        forecast = answer(model, batch).point
    lines = zip(chosen.tolist(), *(part[..., 0].tolist() for part in (x, y, forecast)), strict=True)
    windows = [
        {"start": start, "series": "1"}
        | {
            name: [round(v, 4) for v in line]
            for name, line in zip(("history", "actual", "forecast"), parts, strict=True)
        }
        for start, *parts in lines
    ]
    return {**job.key._asdict(), "variant": job.variant, "seed": job.seed, "windows": windows}


def peak_memory() -> float | None:
    """The largest resident memory of this process so far, in MB; None where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)


def versions() -> str:
    """What the result was made with."""
    return (
        f"olinear {__version__}, torch {torch.__version__}, numpy {np.__version__}, python {platform.python_version()}"
    )


def commit() -> str:
    """The commit of the source this runs from, with a `+` if it was changed since; empty if it is no checkout."""
    here = Path(__file__).parent

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(here), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        if not git("ls-files", "--error-unmatch", __file__):
            return ""
        changed = git("status", "--porcelain", "--", str(here.parent))
        return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return ""
