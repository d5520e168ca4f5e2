"""Tasks as data: what is forecast, how it is split, and what published results were trained with."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from olinear.bench.spec.datafiles import data_rows
from olinear.bench.spec.identity import TaskKey
from olinear.bench.spec.model_settings import Setting
from olinear.core import ConfigError
from olinear.data.datasets import Dataset, find_dataset

CORRELATION = "OLinear-C"
OPTIONS = {"model_dim": int, "ff_dim": int, "embed_dim": int, "blocks": int, "dropout": float}
TRAINING = {"learning_rate": float, "batch_size": int, "max_epochs": int, "patience": int, "schedule": str}
PUBLISHED_LOSS = "weighted_l1"


@dataclass(frozen=True)
class Task:
    """A task, and the settings that are its own: by model, or by a variant that has others."""

    key: TaskKey
    settings: Mapping[str, Setting]
    split: str | None = None  # a ratio of its own; None is the dataset's


@dataclass(frozen=True)
class TaskSet:
    """Some tasks and their datasets: the paper's, or those of a user's file."""

    tasks: Mapping[TaskKey, Task]
    datasets: Mapping[str, Dataset]  # besides those of the catalogue
    where: str  # that lists them, for messages

    def find(self, key: TaskKey) -> Task:
        """A task by its key."""
        if key not in self.tasks:
            raise ConfigError(f"{key} is not one of {self.where}")
        return self.tasks[key]

    def find_dataset(self, name: str) -> Dataset:
        """A dataset of these tasks or of the catalogue, however its name is capitalised."""
        own = {known.casefold(): dataset for known, dataset in self.datasets.items()}
        return own.get(name.casefold()) or find_dataset(name)

    def split_of(self, dataset: str, like: TaskKey) -> str | None:
        """The split of a dataset's own task with the same lookback and horizon, if it has one."""
        task = self.tasks.get(like._replace(dataset=dataset))
        return task.split if task else None


@cache
def tasks() -> dict[TaskKey, Task]:
    """The paper's 140 tasks in the order of the file, with OLinear's settings and, in 124 of them, OLinear-C's."""
    return _read_tasks("tasks.csv")


@cache
def own_tasks() -> dict[TaskKey, Task]:
    """Tasks of our own, which studies use and to which nothing published compares."""
    return _read_tasks("own_tasks.csv")


@cache
def paper_tasks() -> TaskSet:
    """The paper's tasks, and our own."""
    return TaskSet(tasks() | own_tasks(), {}, "the paper's tasks: `olinear bench run --dry-run` lists them")


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


def in_order(keys: Mapping[TaskKey, object] | set[TaskKey]) -> list[TaskKey]:
    """Tasks in the order of the published tables, then our own, then others by name."""
    known = [key for key in (*tasks(), *own_tasks()) if key in keys]
    return [*known, *sorted(set(keys) - set(known))]


def _read_tasks(file: str) -> dict[TaskKey, Task]:
    found: dict[TaskKey, dict[str, Setting]] = {}
    splits: dict[TaskKey, str | None] = {}
    for row in data_rows(file):
        options = {name: kind(row[name]) for name, kind in OPTIONS.items()}
        training = {name: kind(row[name]) for name, kind in TRAINING.items()}
        setting = Setting(options=options, training=training, loss=PUBLISHED_LOSS)
        found.setdefault(_key(row), {})[row["variant"]] = setting
        ratio = row["split"] if ":" in row["split"] else None
        splits[_key(row)] = ratio if ratio != find_dataset(row["dataset"]).split else None
    return {key: Task(key, settings, splits[key]) for key, settings in found.items()}


def _key(row: dict[str, str]) -> TaskKey:
    return TaskKey(row["dataset"], int(row["lookback"]), int(row["horizon"]))
