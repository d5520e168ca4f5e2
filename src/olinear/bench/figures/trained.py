"""The trained models that pictures look into, made by the benchmark's own recipes and kept for the next time."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from olinear.bench.figures.registry import Places
from olinear.bench.run.preparing import Series, build_model, load_series, training_rows
from olinear.bench.run.running import train_recipe
from olinear.bench.spec.identity import JobKey
from olinear.bench.spec.jobs import recipe as recipe_of
from olinear.bench.spec.recipes import Bases, Recipe
from olinear.core.runtime import own_randomness, replacing
from olinear.models import MODELS
from olinear.models.plugins import with_orthotrans

WINDOWS = 8  # of the test rows, evenly spread: what is said of attention is a mean over so many


@dataclass(frozen=True)
class Wanted:
    """A job, perhaps with another orthogonal basis (around a model that has none), perhaps ended after some epochs."""

    job: JobKey
    basis: str = ""
    epochs: int | None = None

    @property
    def name(self) -> str:
        parts = [self.job.name, self.basis, "" if self.epochs is None else f"{self.epochs}epochs"]
        return "_".join(part for part in parts if part)

    @property
    def wraps(self) -> bool:
        """Whether the basis stands around the model; the identity there is the model as it is."""
        return self.basis not in ("", "identity") and not MODELS.find(self.job.model).traits.orthogonal


@dataclass(frozen=True)
class Trained:
    """A trained model, the same before it was trained, and the data it knows."""

    model: nn.Module
    start: nn.Module
    series: Series
    recipe: Recipe

    @property
    def windows(self) -> Tensor:
        """Lookbacks `b t n` of test windows."""
        _, lookback, horizon = self.recipe.key
        test = self.series.windows(self.series.split.test, lookback, horizon)
        chosen = torch.linspace(0, len(test) - 1, min(WINDOWS, len(test))).long()
        return test.batch(chosen).pair[0]

    @property
    def training(self) -> Any:
        """The rows it was trained on, standardised."""
        return self.series.scaled[: len(self.series.split.train)]


def trained(wanted: Wanted, places: Places, show: Callable[[str], None]) -> Trained:
    """A model from the folder of trained ones, or trained now and put there."""
    recipe = _recipe(wanted)
    series = load_series(recipe.trained, places.data)
    rows = training_rows(recipe, len(series.split.train))
    model, start = (_build(wanted, recipe, series, rows, places.data) for _ in range(2))
    path = places.models / f"{wanted.name}.safetensors"
    made_by = _fingerprint(wanted, recipe)
    if not _load(model, path, made_by):
        show(f"training {wanted.name.replace('_', ' ')}")
        checkpoint = path.with_suffix(".run")
        report = train_recipe(model, recipe, series, rows, wanted.job.seed, checkpoint)
        _save(model, path, {"recipe": made_by, "epochs": str(report.epochs), "seconds": f"{report.seconds:.1f}"})
        for rest in (checkpoint, checkpoint.with_name(f"{checkpoint.name}.lock")):
            rest.unlink(missing_ok=True)
    return Trained(model.eval(), start.eval(), series, recipe)


def _recipe(wanted: Wanted) -> Recipe:
    recipe = recipe_of(wanted.job)
    if wanted.epochs is not None:
        most = min(recipe.training.max_epochs, wanted.epochs)
        recipe = replace(recipe, training=recipe.training.model_copy(update={"max_epochs": most}))
    if wanted.basis and MODELS.find(wanted.job.model).traits.orthogonal:
        recipe = replace(recipe, bases=Bases(recipe.trained, wanted.basis))
    return recipe


def _build(wanted: Wanted, recipe: Recipe, series: Series, rows: range, data: Path | None) -> nn.Module:
    with own_randomness(wanted.job.seed):
        model = build_model(recipe, series, rows, data)
    if not wanted.wraps:
        return model
    _, lookback, horizon = recipe.key
    known = series.scaled[rows.start : rows.stop]
    return with_orthotrans(model, lookback, horizon, known, basis=wanted.basis, copy=False)


def _fingerprint(wanted: Wanted, recipe: Recipe) -> str:
    """What the model depends on, as text: another one is not loaded."""
    known = {
        "job": str(wanted.job),
        "basis": wanted.basis,
        "options": dict(recipe.options),
        "training": recipe.training.model_dump(mode="json"),
    }
    return json.dumps(known, sort_keys=True, default=str)


def _load(model: nn.Module, path: Path, made_by: str) -> bool:
    """Whether its weights were there, whole and made by this recipe."""
    try:
        with safe_open(path, framework="pt") as file:
            if (file.metadata() or {}).get("recipe") != made_by:
                return False
            names = file.keys()
            model.load_state_dict({name: file.get_tensor(name) for name in names})
    except (OSError, SafetensorError, RuntimeError):
        return False
    return True


def _save(model: nn.Module, path: Path, about: dict[str, str]) -> None:
    tensors = {name: tensor.detach().clone().contiguous() for name, tensor in model.state_dict().items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as part:
        part.write_bytes(save(tensors, about))
