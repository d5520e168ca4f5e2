"""What a recipe is run with: its data, split and standardised, and its model."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from olinear import models as zoo
from olinear.bench.spec.jobs import Recipe
from olinear.bench.spec.task import Task, tasks
from olinear.data.datasets import find_dataset, load_values, require
from olinear.data.frames import StandardScaler
from olinear.data.windows import Split, Windows
from olinear.models import MAIN
from olinear.models.plugins import with_orthotrans
from olinear.models.zoo import TOKEN_MIXERS, olinear_mixer
from olinear.nn import NormLin, OLinear, OrthoTrans, series_correlation


@dataclass(frozen=True)
class Series:
    """A dataset ready for a task: raw values, the same standardised by its training rows, and its split."""

    raw: NDArray[np.float64]
    scaled: NDArray[np.float32]
    split: Split

    def windows(self, span: range, lookback: int, horizon: int) -> Windows:
        return Windows(self.scaled, lookback, horizon, self.split.starts(span, lookback, horizon))


def load_series(name: str, task: Task, folder: Path | None) -> Series:
    """A dataset split as its own task of this lookback and horizon is, and standardised by its training rows."""
    dataset = find_dataset(name)
    raw = load_values(dataset, require(dataset, folder))
    own = tasks().get(task.key._replace(dataset=dataset.name))
    split = dataset.split_rows(len(raw), own.split if own else None)
    return Series(raw, StandardScaler.fit(raw[: len(split.train)]).transform(raw), split)


def training_rows(plan: Recipe, count: int) -> range:
    """All training rows, or the first or last share of them."""
    kept = int(plan.train_share * count)
    return range(kept) if plan.train_end == "first" else range(count - kept, count)


def build_model(plan: Recipe, source: Series, rows: range, folder: Path | None) -> nn.Module:
    """The model of a recipe; what it learns before training, such as its bases, from training rows alone."""
    known = source.scaled[rows.start : rows.stop]
    if plan.model != MAIN:
        return _build_other(plan, known)
    return _build_olinear(plan, known, _basis_rows(plan, source, rows, folder))


def _basis_rows(plan: Recipe, source: Series, rows: range, folder: Path | None) -> NDArray[np.generic]:
    """What the bases are computed from: the training rows, raw for the published recipe, or another dataset's."""
    if plan.basis_from == plan.train_on:
        values: NDArray[np.generic] = source.raw if plan.basis == "published" else source.scaled
        known = values[rows.start : rows.stop]
    else:
        other = load_series(plan.basis_from, plan.task, folder)
        known = other.scaled[: len(other.split.train)]
    return known[-max(int(plan.basis_share * len(known)), 1) :]


def _build_olinear(plan: Recipe, known: NDArray[np.float32], basis_rows: NDArray[np.generic]) -> nn.Module:
    task = plan.task
    return OLinear(
        known.shape[1],
        task.key.lookback,
        task.key.horizon,
        input_transform=OrthoTrans.fit(basis_rows, task.key.lookback, plan.basis),
        output_transform=OrthoTrans.fit(basis_rows, task.key.horizon, plan.output_basis or plan.basis),
        model_dim=task.model_dim,
        ff_dim=task.ff_dim,
        embed_dim=task.embed_dim,
        blocks=task.blocks,
        dropout=task.dropout,
        rank=plan.rank,
        **_parts(plan, known),
    )


def _parts(plan: Recipe, known: NDArray[np.float32]) -> dict[str, Any]:
    """OLinear's parts, a mixer that is not named in `olinear.nn` as its factory."""
    parts, matrix = {"mixer": "normlin"} | dict(plan.parts), dict[str, Any](plan.matrix)
    if plan.correlation:
        matrix = {"fixed": series_correlation(known), "transform": "softmax"} | matrix
    if matrix:
        parts["mixer"] = partial(NormLin, **matrix)
    elif parts["mixer"] in TOKEN_MIXERS:
        parts["mixer"] = olinear_mixer(parts["mixer"], plan.task.model_dim)
    return parts


def _build_other(plan: Recipe, known: NDArray[np.float32]) -> nn.Module:
    _, lookback, horizon = plan.task.key
    model = zoo.build_model(plan.model, known, lookback, horizon, **plan.options)
    return with_orthotrans(model, lookback, horizon, known, copy=False) if plan.orthotrans else model
