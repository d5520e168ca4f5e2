"""What a run will do and about how long it takes: cheap jobs first."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch

from olinear.bench.run.counting import count_multiplications
from olinear.bench.spec.jobs import Job, Recipe, recipe
from olinear.core import ConfigError
from olinear.core.runtime import SMALL
from olinear.data.datasets import find_dataset, locate
from olinear.models import MAIN, MODELS
from olinear.nn import Shapes

LONG = 20 * 60.0  # seconds on one thread; a longer job has the machine for itself
SLOWER = {"mamba": 4.0, "reformer": 4.0}  # than NormLin, at 170 series: they go step by step, or sort
# About when a run is at its best; how long early stopping lets it go is not known before.
TYPICAL_BEST = {"type1": 7, "type3": 20, "stairs": 7}


class Estimate(NamedTuple):
    """What a job takes: seconds on one thread, and how many weights it trains."""

    seconds: float
    weights: int


UNKNOWN = Estimate(0.0, 0)


@dataclass(frozen=True)
class Planned:
    """A job with its estimate."""

    job: Job
    seconds: float  # on one thread
    weights: int = SMALL

    @property
    def is_long(self) -> bool:
        """Whether it has the machine for itself; a small model has no use for more than one thread."""
        return self.seconds >= LONG and self.weights >= SMALL


def wall_seconds(planned: Iterable[Planned], jobs: int) -> float:
    """How long jobs take together: long ones one after the other on all threads, the others beside each other."""
    planned, threads = list(planned), torch.get_num_threads()
    long = sum(each.seconds for each in planned if each.is_long)
    short = sum(each.seconds for each in planned) - long
    return long / threads + short / (jobs if jobs > 1 else threads)  # one job at a time has all threads


@dataclass(frozen=True)
class Plan:
    """The jobs to do, cheap ones first; how many are finished; which datasets are not here."""

    jobs: list[Planned]
    finished: int
    missing: dict[str, int]  # dataset -> jobs that need it


def make_plan(jobs: list[Job], done: set[Job], folder: Path | None, speed: float) -> Plan:
    """Leave out what is done and what has no data; order the rest by cost. `speed`: multiplications a second."""
    missing: dict[str, int] = {}
    todo = []
    for job in jobs:
        if job in done:
            continue
        plan = recipe(job)
        needed = {job.key.dataset, plan.train_on, plan.basis_from}
        absent = sorted(name for name in needed if locate(find_dataset(name), folder) is None)
        if absent:
            missing[absent[0]] = missing.get(absent[0], 0) + 1
        else:
            todo.append(Planned(job, *_estimate_if_possible(plan, speed)))
    todo.sort(key=lambda planned: (planned.seconds, planned.job.name))
    return Plan(todo, sum(job in done for job in jobs), missing)


def _estimate_if_possible(plan: Recipe, speed: float) -> Estimate:
    """A model that cannot be built, since the lookback is too short for instance, fails in its turn and says why."""
    try:
        return estimate(plan, speed)
    except ConfigError:
        return UNKNOWN


def estimate(plan: Recipe, speed: float) -> Estimate:
    """Of a recipe: its matrix products, the optimizer's pass over the weights, and the rest."""
    task, dataset = plan.task, find_dataset(plan.train_on)
    forward, weights = _cost_of_olinear(plan) if plan.model == MAIN else _cost_of_other(plan)
    step = (3 * forward / speed + 2e-9 * weights + 5e-3) * SLOWER.get(str(plan.parts.get("mixer")), 1.0)
    rows_trained = plan.train_share * len(dataset.split_rows(dataset.rows, task.split).train)
    windows = max(rows_trained - task.key.lookback - task.key.horizon, 1)
    epochs = min(task.max_epochs, task.patience + TYPICAL_BEST.get(task.schedule, task.max_epochs))
    return Estimate(5.0 + epochs * windows / task.batch_size * step, weights)


def _cost_of_olinear(plan: Recipe) -> tuple[int, int]:
    """Multiplications of a forward pass of one batch, and how many weights there are."""
    task, series = plan.task, find_dataset(plan.train_on).series
    lookback, horizon, m, f = task.key.lookback, task.key.horizon, task.model_dim, task.ff_dim
    shapes = Shapes(task.batch_size, series, lookback, horizon, task.embed_dim, m, f)
    copies = task.embed_dim * (lookback * m + horizon * (m + f))
    return shapes.forward(task.blocks).folded, copies + task.blocks * (2 * m * (m + f) + series**2) + f * horizon


def _cost_of_other(plan: Recipe) -> tuple[int, int]:
    """The same for any model, counted on tensors without memory."""
    (_, lookback, horizon), series = plan.task.key, find_dataset(plan.train_on).series
    with torch.device("meta"):
        model = MODELS.find(plan.model).load()(series, lookback, horizon, **plan.options)
        if not any(True for _ in model.parameters()):
            return 0, 0  # a closed form
        forward = count_multiplications(model, torch.empty(plan.task.batch_size, lookback, series))
    return forward, sum(parameter.numel() for parameter in model.parameters())


def matrix_speed(size: int = 768, repeats: int = 4) -> float:
    """Multiplications a second of this machine's matrix product on one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        a, best = torch.randn(size, size), float("inf")
        for _ in range(repeats):
            started = time.perf_counter()
            a @ a
            best = min(best, time.perf_counter() - started)
    finally:
        torch.set_num_threads(threads)
    return size**3 / best
