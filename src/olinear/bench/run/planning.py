"""What a run will do and about how long it takes: cheap jobs first."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import torch

from olinear.bench.run.preparing import mixer_option
from olinear.bench.spec.identity import JobKey
from olinear.bench.spec.jobs import recipe
from olinear.bench.spec.recipes import Recipe, with_precision
from olinear.bench.spec.task import TaskSet
from olinear.core import ConfigError
from olinear.core.runtime import SMALL, count_multiplications
from olinear.data.datasets import Dataset, locate
from olinear.models import MODELS, empty_model
from olinear.models.zoo import square_images
from olinear.nn import OrthoTrans

LONG = 20 * 60.0  # seconds on one thread; a longer job has the machine for itself
SLOWER = {"mamba": 4.0, "wide-mamba": 40.0, "reformer": 4.0}  # than NormLin, at 170 series: step by step, or sorting
# About when a run is at its best; how long early stopping lets it go is not known before.
TYPICAL_BEST = {"type1": 7, "type3": 20, "stairs": 7}


class Estimate(NamedTuple):
    """What a job takes: seconds on one thread, and how many weights it trains."""

    seconds: float
    weights: int


ASKING = 6.0  # seconds of a slow model for each series of a window that is scored: benchmarks/llmtime.py
UNKNOWN = Estimate(0.0, 0)


@dataclass(frozen=True)
class Planned:
    """A job with its recipe and estimate."""

    job: JobKey
    recipe: Recipe
    seconds: float  # on one thread
    weights: int = SMALL

    @property
    def is_long(self) -> bool:
        """Whether it has the machine for itself; a small model has no use for more than one thread."""
        return self.seconds >= LONG and self.weights >= SMALL


def wall_seconds(planned: Iterable[Planned], jobs: int) -> float:
    """How long jobs take together: long ones one after the other on all threads, the others side by side."""
    planned, threads = list(planned), torch.get_num_threads()
    long = sum(each.seconds for each in planned if each.is_long)
    short = sum(each.seconds for each in planned) - long
    return long / threads + short / (jobs if jobs > 1 else threads)  # one job at a time has all threads


class Absent(NamedTuple):
    """A dataset that is not here, and how many jobs need it."""

    dataset: Dataset
    jobs: int


@dataclass(frozen=True)
class Plan:
    """The jobs to do, cheap ones first; how many are finished; which datasets are not here."""

    jobs: list[Planned]
    finished: int
    missing: list[Absent]


def make_plan(
    jobs: Sequence[JobKey],
    done: set[JobKey],
    folder: Path | None,
    speed: float,
    tasks: TaskSet | None = None,
    precision: str = "float32",
) -> Plan:
    """Leave out what is done and what has no data; order the rest by cost.

    Args:
        speed: multiplications a second.
        precision: of the jobs whose variant says nothing of it.
    """
    missing: dict[str, int] = {}
    datasets: dict[str, Dataset] = {}
    todo = []
    for job in jobs:
        if job in done:
            continue
        found = with_precision(recipe(job, tasks), precision)
        datasets |= found.sources
        absent = sorted(name for name, dataset in found.sources.items() if locate(dataset, folder) is None)
        if absent:
            missing[absent[0]] = missing.get(absent[0], 0) + 1
        else:
            todo.append(Planned(job, found, *_estimate_if_possible(found, speed)))
    todo.sort(key=lambda planned: (planned.seconds, planned.job.name))
    absentees = [Absent(datasets[name], count) for name, count in missing.items()]
    return Plan(todo, sum(job in done for job in jobs), absentees)


def _estimate_if_possible(recipe: Recipe, speed: float) -> Estimate:
    """A model that cannot be built, since the lookback is too short for instance, fails in its turn and says why."""
    try:
        return estimate(recipe, speed)
    except ConfigError:
        return UNKNOWN


def estimate(recipe: Recipe, speed: float) -> Estimate:
    """Of a recipe: its matrix products, the optimizer's pass over the weights, and the rest."""
    training, (dataset, split) = recipe.training, recipe.trained
    forward, weights = _count(recipe)
    step = (3 * forward / speed + 2e-9 * weights + 5e-3) * SLOWER.get(
        recipe.options.get("encoder") or recipe.options.get("mixer", ""), 1.0
    )
    rows_trained = recipe.train_share * len(dataset.split_rows(dataset.rows, split).train)
    windows = max(rows_trained - recipe.key.lookback - recipe.key.horizon, 1)
    typical = TYPICAL_BEST.get(training.schedule, training.max_epochs)
    epochs = min(training.max_epochs, training.patience + typical)
    return Estimate(1.0 + epochs * windows / training.batch_size * step + _asking(recipe), weights)


def _asking(recipe: Recipe) -> float:
    """Seconds of a slow model, which has nothing to train: what it costs is to be scored."""
    if not MODELS.find(recipe.model).traits.slow:
        return 0.0
    (trained, split), scored = recipe.trained, recipe.scored
    judged = len(trained.split_rows(trained.rows, split).validation) * trained.series
    tested = len(scored.dataset.split_rows(scored.dataset.rows, scored.split).test) * scored.dataset.series
    return ASKING * (judged + tested)


def _count(recipe: Recipe) -> tuple[int, int]:
    """Multiplications of a forward pass of one batch, and how many weights there are."""
    shape = (recipe.trained.dataset.series, *recipe.key[1:], recipe.training.batch_size)
    mixer = mixer_option(recipe)
    if mixer:
        return _count_model(recipe.model, dict(recipe.options) | mixer, shape)
    return _count_once(recipe.model, json.dumps(dict(recipe.options), sort_keys=True), shape)


@cache
def _identity(size: int) -> OrthoTrans:
    return OrthoTrans(torch.eye(size))


@cache
def _count_once(model: str, options: str, shape: tuple[int, int, int, int]) -> tuple[int, int]:
    """Jobs that differ in their data alone cost the same."""
    return _count_model(model, json.loads(options), shape)


def _count_model(model: str, options: dict[str, Any], shape: tuple[int, int, int, int]) -> tuple[int, int]:
    """Counted on tensors without memory."""
    series, lookback, horizon, batch = shape
    if MODELS.find(model).traits.orthogonal:  # these are looked at when they are made
        transforms = [_identity(size) for size in (lookback, horizon)]
        options = options | dict(zip(("input_transform", "output_transform"), transforms, strict=True))
    with torch.device("meta"):
        built = empty_model(model, series, lookback, horizon, **options).to("meta")
        if not any(True for _ in built.parameters()):
            return 0, 0  # a closed form
        with square_images():
            forward = count_multiplications(built, torch.empty(batch, lookback, series))
    return forward, sum(parameter.numel() for parameter in built.parameters())
