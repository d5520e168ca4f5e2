"""What a recipe is run with: its data, split and standardised, and its model."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from olinear import models
from olinear.bench.spec.recipes import Bases, Recipe, Source
from olinear.data.datasets import load_values, require
from olinear.data.frames import StandardScaler
from olinear.data.windows import Split, Windows
from olinear.models.plugins import orthotrans_in_patches, with_orthotrans
from olinear.models.zoo import SkipOLinear
from olinear.nn import NormLin, OrthoTrans, series_correlation


@dataclass(frozen=True)
class Series:
    """A dataset ready for a task: raw values, the same standardised by its training rows, and its split."""

    raw: NDArray[np.float64]
    scaled: NDArray[np.float32]
    split: Split

    def windows(self, span: range, lookback: int, horizon: int) -> Windows:
        return Windows(self.scaled, lookback, horizon, self.split.starts(span, lookback, horizon))


def load_series(source: Source, folder: Path | None) -> Series:
    """A dataset, split, and standardised by its training rows."""
    raw = load_values(source.dataset, require(source.dataset, folder))
    split = source.dataset.split_rows(len(raw), source.split)
    return Series(raw, StandardScaler.fit(raw[: len(split.train)]).transform(raw), split)


def training_rows(recipe: Recipe, count: int) -> range:
    """All training rows, or the first or last share of them."""
    kept = int(recipe.train_share * count)
    return range(kept) if recipe.train_end == "first" else range(count - kept, count)


def build_model(recipe: Recipe, source: Series, rows: range, folder: Path | None) -> nn.Module:
    """The model of a recipe; what it learns before training, such as its bases, from training rows alone."""
    known = source.scaled[rows.start : rows.stop]
    _, lookback, horizon = recipe.key
    options = dict(recipe.options) | mixer_option(recipe, known)
    if recipe.skip:
        model = models.build_model(SkipOLinear, known, lookback, horizon, basis=recipe.skip, **options)
    elif recipe.bases is None:
        model = models.build_model(recipe.model, known, lookback, horizon, **options)
    else:
        basis_rows = _basis_rows(recipe, recipe.bases, source, rows, folder)
        transforms = {
            "input_transform": OrthoTrans.fit(basis_rows, lookback, recipe.bases.kind),
            "output_transform": OrthoTrans.fit(basis_rows, horizon, recipe.bases.output or recipe.bases.kind),
        }
        model = models.empty_model(recipe.model, known.shape[1], lookback, horizon, **options, **transforms)
    if recipe.orthotrans == "patches":
        return orthotrans_in_patches(model, known, copy=False)
    return with_orthotrans(model, lookback, horizon, known, copy=False) if recipe.orthotrans else model


def mixer_option(recipe: Recipe, known: NDArray[np.float32] | None = None) -> dict[str, Any]:
    """The option `mixer` where it is a factory; its correlation is that of the known rows, or of none."""
    if recipe.correlation or recipe.normlin:
        design = dict(recipe.normlin)
        if recipe.correlation:
            series = recipe.trained.dataset.series
            matrix = np.eye(series, dtype=np.float32) if known is None else known
            design = {"fixed": series_correlation(matrix), "transform": "softmax"} | design
        return {"mixer": partial(NormLin, **design)}
    return {}


def _basis_rows(recipe: Recipe, bases: Bases, source: Series, rows: range, folder: Path | None) -> NDArray[np.generic]:
    """What the bases are computed from: the training rows, raw for the published recipe, or another dataset's."""
    if bases.rows_of.dataset == recipe.trained.dataset:
        values: NDArray[np.generic] = source.raw if bases.kind == "published" else source.scaled
        known = values[rows.start : rows.stop]
    else:
        other = load_series(bases.rows_of, folder)
        known = other.scaled[: len(other.split.train)]
    return known[-max(int(bases.share * len(known)), 1) :]
