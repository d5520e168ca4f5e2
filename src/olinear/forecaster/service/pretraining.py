"""From several datasets to a folder that forecasts series which it has never seen."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from olinear.core import ConfigError, Note
from olinear.core.runtime import own_randomness
from olinear.core.settings import Settings, make_settings
from olinear.data.frames import Frequency, Panel, StandardScaler
from olinear.forecaster.corpus import Corpus, read_corpus
from olinear.forecaster.fitted import Fitted
from olinear.forecaster.forecaster import Forecaster
from olinear.forecaster.limits import check_range
from olinear.forecaster.publishing import check_target
from olinear.forecaster.storage import save_fitted
from olinear.models import build_model, check_options
from olinear.training import Callback, EveryPatch, NextPatch, claim_checkpoint, train

MODEL = "PatchDecoder"
OPTIONS: dict[str, Any] = {"patch_length": 96, "mixer": "normlin"}
TRAINING: dict[str, Any] = {
    "loss": "l2",
    "learning_rate": 1e-3,
    "schedule": "onecycle",
    "batch_size": 256,
    "clip_norm": 1.0,
    "precision": "auto",
}
EVERY = (1, 2, 3, 4, 6, 12)  # rows: seasons of many lengths are what a zero-shot forecast lives on
JUDGED = 20  # times in a run, which also are its epochs


@dataclass(frozen=True)
class PretrainRequest:
    """A pre-training to make.

    Args:
        data: the paper's datasets by their names, or files.
        out: where the model folder goes.
        leave_out: names of datasets that it must not see; their kin are left out, too.
        folder: where datasets are; otherwise they are found as for the benchmark.
        horizon: of the forecasts that the folder gives.
        context: rows looked back on at the most.
        steps: of the optimizer.
        every: the steps of rows at which each dataset trains: 1 for all, 4 for every fourth.
        options, training: what differs from the usual options of the model, and settings of the training.
        resume: go on from the checkpoint that a stopped run left next to `out`.
        progress, callbacks: of the training.
        notify: gets notes at once.
    """

    data: Sequence[str]
    out: Path
    leave_out: Sequence[str] = ()
    folder: Path | None = None
    horizon: int = 96
    context: int = 672
    steps: int = 4000
    every: Sequence[int] = EVERY
    options: Mapping[str, Any] = field(default_factory=dict)
    training: Mapping[str, Any] = field(default_factory=dict)
    resume: bool = False
    progress: bool = False
    callbacks: Sequence[Callback] = ()
    notify: Callable[[str], None] | None = None


@dataclass(frozen=True)
class PretrainResult:
    """The forecaster as the folder has it, and its report."""

    forecaster: Forecaster
    report: dict[str, Any]
    out: Path


def pretrain(request: PretrainRequest) -> PretrainResult:
    """Train with a checkpoint, which goes when the model is saved."""
    check_target(request.out)
    settings = pretraining_settings(request)
    patch = settings.model.options["patch_length"]
    corpus = read_corpus(request.data, request.leave_out, request.folder, settings.lookback, patch, request.every)
    if request.notify is not None:
        for note in corpus.notes:
            request.notify(note)
    checkpoint = request.out.with_name(f"{request.out.name}.checkpoint")
    with claim_checkpoint(checkpoint):
        save_fitted(_train(request, settings, corpus, checkpoint), request.out, context=False)
        checkpoint.unlink(missing_ok=True)
    forecaster = Forecaster.load(request.out)
    return PretrainResult(forecaster, forecaster.report(), request.out)


def pretraining_settings(request: PretrainRequest) -> Settings:
    """All of them; the context is whole patches."""
    options = OPTIONS | dict(request.options)
    patch = options["patch_length"]
    check_range(horizon=request.horizon, context=request.context, steps=request.steps, patch_length=patch)
    for step in request.every:
        check_range(every=step)
    if request.context % patch:
        raise ConfigError(
            f"context must be whole patches of {patch} rows, found {request.context}: "
            f"pass context={-(-request.context // patch) * patch}"
        )
    options |= {"context": request.context}
    check_options(MODEL, options)
    epochs = min(JUDGED, request.steps)
    pace = {"max_epochs": epochs, "epoch_steps": -(-request.steps // epochs), "patience": epochs}
    task = {"horizon": request.horizon, "lookback": request.context, "model": MODEL, "options": options}
    settings = make_settings(TRAINING | pace | dict(request.training) | task)
    if settings.training.loss == "weighted_l1":
        raise ConfigError("loss must be 'l1' or 'l2', found 'weighted_l1': every step of a patch counts alike")
    return settings


def _train(request: PretrainRequest, settings: Settings, corpus: Corpus, checkpoint: Path) -> Fitted:
    training, validation = corpus.mixtures(request.steps * settings.training.batch_size)  # each is seen once
    with own_randomness(settings.training.seed):
        model: Any = build_model(
            MODEL, np.empty((0, 1)), settings.lookback, settings.horizon, **settings.model.arguments
        )
    report = train(
        EveryPatch(model),
        training,
        validation,
        settings.training,
        task=NextPatch(model.patch_length, settings.training.loss),
        callbacks=request.callbacks,
        checkpoint=checkpoint,
        resume=request.resume,
        progress=request.progress,
    )
    fitted = general(settings, model.eval(), corpus.notes)
    fitted.record = {
        "pretrained_on": corpus.names,
        "every": list(request.every),
        "left_out": sorted({*request.leave_out, *(name for note in corpus.notes for name in note.about)}),
        "least_rows": model.patch_length,
        "validation_loss": report.best_loss,
        "best_epoch": report.best_epoch,
        "epochs": report.epochs,
        "seconds": round(report.seconds, 1),
        "precision": report.precision,
        "kernels": report.kernels,
    }
    return fitted


def general(settings: Settings, model: Any, notes: list[Note]) -> Fitted:
    """A model that was fitted to no series in particular."""
    none = np.empty(0)
    panel = Panel(np.empty((0, 0)), pd.Index([]), [], Frequency("1", "integer"), notes=list(notes))
    return Fitted(settings, panel, none.astype(bool), none.astype(bool), StandardScaler(none, none), model, None, MODEL)
