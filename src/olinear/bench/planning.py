"""What a run will do and about how long it takes: cheap jobs first."""

import time
from dataclasses import dataclass
from pathlib import Path

import torch

from olinear.bench.jobs import Job, recipe
from olinear.datasets import find_dataset, locate
from olinear.nn.folding import Shapes

LONG = 20 * 60.0  # seconds on one thread; a longer job has the machine for itself


@dataclass(frozen=True)
class Planned:
    """A job with its estimate in seconds on one thread."""

    job: Job
    seconds: float

    @property
    def is_long(self) -> bool:
        return self.seconds >= LONG


@dataclass(frozen=True)
class Plan:
    """The jobs to do, cheap ones first; how many are finished; which datasets are not here."""

    jobs: list[Planned]
    finished: int
    missing: dict[str, int]  # dataset -> jobs that need it

    @property
    def seconds(self) -> float:
        return sum(planned.seconds for planned in self.jobs)


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
            todo.append(Planned(job, estimate(job, speed)))
    todo.sort(key=lambda planned: (planned.seconds, planned.job.name))
    return Plan(todo, sum(job in done for job in jobs), missing)


def estimate(job: Job, speed: float) -> float:
    """Seconds of a job on one thread: its matrix products, the optimizer's pass over the weights, and the rest."""
    plan = recipe(job)
    task, dataset = plan.task, find_dataset(plan.train_on)
    shapes = Shapes(
        task.batch_size,
        dataset.series,
        task.key.lookback,
        task.key.horizon,
        task.embed_dim,
        task.model_dim,
        task.ff_dim,
    )
    rows, m, f = shapes.rows, task.model_dim, task.ff_dim
    block = min(shapes.mix()) + rows * dataset.series * m + 2 * rows * m * f
    forward = min(shapes.encode()) + min(shapes.decode()) + task.blocks * block + rows * f * task.key.horizon
    copies = task.embed_dim * (task.key.lookback * m + task.key.horizon * (m + f))
    weights = copies + task.blocks * (2 * m * (m + f) + dataset.series**2) + f * task.key.horizon
    step = 3 * forward / speed + 2e-9 * weights + 3e-3
    rows_trained = plan.train_share * len(dataset.split_rows(dataset.rows, task.split).train)
    windows = max(rows_trained - task.key.lookback - task.key.horizon, 1)
    epochs = min(task.max_epochs, task.patience + 8)  # how many early stopping lets pass is not known before
    return 5.0 + epochs * windows / task.batch_size * step


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
