"""One job from raw file to scores: split, scale, train with validation-only selection, score every test window."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.optim import Optimizer

from olinear.bench.run.preparing import Series, build_model, load_series, training_rows
from olinear.bench.spec.identity import JobKey
from olinear.bench.spec.recipes import Recipe
from olinear.bench.store.rows import Row
from olinear.core import ConfigError, DataError
from olinear.core.runtime import commit, computing_in, on_same_device, peak_memory, versions
from olinear.data.windows import Windows
from olinear.evaluation import Context, Scores, SeasonalScale, evaluate, window_errors
from olinear.models import answer, for_inference, windows_at_once
from olinear.nn import NormLin
from olinear.training import OPTIMIZERS, TrainingConfig, TrainingReport, train


class Outcome(NamedTuple):
    """What a job gives: its row, and for chosen jobs a few forecasts to draw, and the MSE of every test window."""

    row: Row
    forecasts: dict[str, Any] | None = None
    errors: NDArray[np.float32] | None = None


def run_job(job: JobKey, recipe: Recipe, folder: Path | None, checkpoint: Path) -> Outcome:
    """Train (going on from `checkpoint` if it is there) and score."""
    _, lookback, horizon = job.key
    source = load_series(recipe.trained, folder)
    same = recipe.scored.dataset == recipe.trained.dataset
    target = source if same else load_series(recipe.scored, folder)
    torch.manual_seed(job.seed)
    rows = training_rows(recipe, len(source.split.train))
    model = build_model(recipe, source, rows, folder)
    start = [weight.detach().clone() for weight in normlin_weights(model)]
    report = train_recipe(model, recipe, source, rows, job.seed, checkpoint)
    moved = _moved(start, normlin_weights(model))
    test = on_same_device(model, target.windows(target.split.test, lookback, horizon))
    compact = for_inference(model, report.precision)
    # A model whose forecast depends on its batch sees batches of the size it was trained with.
    at_once = windows_at_once(model, 128, recipe.training.batch_size)
    past = Context(scale=SeasonalScale.of(target.scaled[: len(target.split.train)]))
    with computing_in(report.precision, report.kernels):
        scores = evaluate(compact, test, at_once, context=past)
    if not (math.isfinite(scores.mse) and math.isfinite(scores.mae)):
        raise DataError(f"the scores are no numbers: MSE {scores.mse}, MAE {scores.mae}")
    row = replace(_row(job, scores, report, model), normlin_moved=moved)
    if not job.is_first:
        return Outcome(row)
    with computing_in(report.precision, report.kernels):
        errors = window_errors(compact, test, at_once).float().cpu().numpy()
        return Outcome(row, draw_forecasts(job, compact, test) if _is_drawn(job, recipe) else None, errors)


def train_recipe(
    model: nn.Module, recipe: Recipe, source: Series, rows: range, seed: int, checkpoint: Path
) -> TrainingReport:
    """Train a recipe's model on some rows, going on from `checkpoint` if it is there."""
    _, lookback, horizon = recipe.key
    config = recipe.training.model_copy(update={"seed": seed})
    starts = replace(source.split, train=rows).starts(rows, lookback, horizon)
    training = Windows(source.scaled, lookback, horizon, starts)
    validation = source.windows(source.split.validation, lookback, horizon)
    make = None if recipe.normlin_rate == 1 else partial(_with_normlin_rate, model, recipe.normlin_rate)
    return train(
        model, training, validation, config, optimizer=make, checkpoint=checkpoint, resume=True, progress=False
    )


def normlin_weights(model: nn.Module) -> list[nn.Parameter]:
    """The W of every NormLin that learns."""
    return [each.weight for each in model.modules() if isinstance(each, NormLin) and each.fixed is None]


def _with_normlin_rate(
    model: nn.Module, factor: float, parameters: Sequence[nn.Parameter], config: TrainingConfig
) -> Optimizer:
    """The optimizer of the config, with another rate for NormLin's matrices."""
    own = {id(weight) for weight in normlin_weights(model)}
    if not own:
        raise ConfigError("normlin-rate is for models with a NormLin that learns, and this one has none")
    optimizer = OPTIMIZERS[config.optimizer]([each for each in parameters if id(each) not in own], config)
    optimizer.add_param_group({"params": [each for each in parameters if id(each) in own], "rate_factor": factor})
    return optimizer


def _moved(start: Sequence[torch.Tensor], end: Sequence[torch.Tensor]) -> float | None:
    """|W - W₀| / |W₀|, all matrices taken together, to six decimals."""
    if not start:
        return None
    before, after = (torch.cat([each.detach().cpu().flatten() for each in weights]) for weights in (start, end))
    return round(float((after - before).norm() / before.norm()), 6)


def _row(job: JobKey, scores: Scores, report: TrainingReport, model: nn.Module) -> Row:
    return Row(
        job=job,
        scores=dict(scores),
        windows=scores.windows,
        best_epoch=report.best_epoch,
        epochs=report.epochs,
        seconds=round(report.seconds, 1 if report.seconds >= 1 else 3),
        parameters=sum(parameter.numel() for parameter in model.parameters()),
        peak_memory_mb=peak_memory(),
        versions=versions(),
        commit=commit(),
        validation_loss=report.best_loss,
        precision=report.precision,
        kernels=report.kernels,
    )


def _is_drawn(job: JobKey, recipe: Recipe) -> bool:
    """One horizon of each dataset and lookback of the paper is drawn in the report."""
    dataset = recipe.scored.dataset
    return dataset.paper and job.key.horizon == dataset.horizons[job.key.lookback][0]


def draw_forecasts(job: JobKey, model: nn.Module, test: Windows) -> dict[str, Any]:
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
    names = {"model": job.model, "variant": str(job.variant), "seed": job.seed}
    return {**job.key._asdict(), **names, "windows": windows}
