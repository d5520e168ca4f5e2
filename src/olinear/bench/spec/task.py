"""The paper's 140 tasks: their hyperparameters and the published results, as data."""

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from olinear.bench.spec.datafiles import data_rows
from olinear.core import ConfigError
from olinear.data.datasets import find_dataset
from olinear.models import MAIN

CORRELATION = "OLinear-C"


class TaskKey(NamedTuple):
    """What names a task in every table."""

    dataset: str
    lookback: int
    horizon: int

    def __str__(self) -> str:
        return f"{self.dataset} {self.lookback}->{self.horizon}"


@dataclass(frozen=True)
class Task:
    """A row of `data/tasks.csv`: what a published result was trained with."""

    key: TaskKey
    model_dim: int
    ff_dim: int
    embed_dim: int
    blocks: int
    learning_rate: float
    batch_size: int
    dropout: float
    max_epochs: int
    patience: int
    schedule: str
    split: str | None  # a ratio of its own; None is the dataset's

    @property
    def suite(self) -> str:
        """`long` for the tables with lookback 96, `short` for those with 12 and 36."""
        return "long" if self.key.lookback == 96 else "short"


@cache
def tasks(variant: str = MAIN) -> dict[TaskKey, Task]:
    """The 140 tasks of OLinear, or the 124 of OLinear-C, in the order of the file."""
    return {task.key: task for task in map(_task, data_rows("tasks.csv", variant=variant))}


@cache
def own_tasks() -> dict[TaskKey, Task]:
    """Tasks of our own, which studies use and to which nothing published compares."""
    return {task.key: task for task in map(_task, data_rows("own_tasks.csv"))}


def find_task(key: TaskKey, variant: str = MAIN) -> Task:
    """A task by its key; OLinear-C's where that has settings of its own."""
    task = tasks(variant).get(key) or tasks().get(key) or own_tasks().get(key)
    if task is None:
        raise ConfigError(f"{key} is not one of the paper's tasks: `olinear bench run --dry-run` lists them")
    return task


@cache
def published() -> dict[TaskKey, dict[str, dict[str, float]]]:
    """The published results: task -> model -> {"mse": …, "mae": …}; a cell the paper leaves out is absent."""
    results = {}
    for row in data_rows("published.csv"):
        models: dict[str, dict[str, float]] = {}
        for column, value in row.items():
            model, _, metric = column.rpartition(" ")
            if model and value:
                models.setdefault(model, {})[metric] = float(value)
        results[_key(row)] = models
    return results


def _task(row: dict[str, str]) -> Task:
    numbers = {name: int(row[name]) for name in ("model_dim", "ff_dim", "embed_dim", "blocks", "batch_size")}
    split = row["split"] if ":" in row["split"] else None
    own = split if split != find_dataset(row["dataset"]).split else None
    return Task(
        _key(row),
        **numbers,
        learning_rate=float(row["learning_rate"]),
        dropout=float(row["dropout"]),
        max_epochs=int(row["max_epochs"]),
        patience=int(row["patience"]),
        schedule=row["schedule"],
        split=own,
    )


def _key(row: dict[str, str]) -> TaskKey:
    return TaskKey(row["dataset"], int(row["lookback"]), int(row["horizon"]))
