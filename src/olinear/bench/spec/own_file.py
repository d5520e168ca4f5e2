"""A user's own tasks: a TOML file that names datasets, and what is to be run on them.

[datasets.sales]
file = "sales.csv"
lookbacks = [48]
horizons = [12, 24]

[[tasks]]
models = ["OLinear", "DLinear"]
seeds = 3
training = { max_epochs = 20 }
options.OLinear = { model_dim = 64 }
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, ValidationError

from olinear.bench.spec.datafiles import Strict
from olinear.bench.spec.identity import JobKey, TaskKey
from olinear.bench.spec.jobs import expand, recipe
from olinear.bench.spec.model_settings import Setting, find_setting
from olinear.bench.spec.task import Task, TaskSet
from olinear.core import ConfigError, DataError
from olinear.core.settings import TrainingConfig
from olinear.data.datasets import UNKNOWN, Dataset
from olinear.models import MAIN, MODELS

Name = Annotated[str, StringConstraints(pattern=r"^[^\s/=]+$")]
Length = Annotated[int, Field(ge=1)]


class DatasetEntry(Strict):
    """A file of series: its first column is a date, each other one a series; `.txt` and `.npz` have no dates."""

    file: str  # next to the file of tasks, or a whole path
    lookbacks: Annotated[tuple[Length, ...], Field(min_length=1)]
    horizons: Annotated[tuple[Length, ...], Field(min_length=1)]
    split: str | tuple[Length, Length, Length] = "7:1:2"  # training, validation, test: tenths, or rows
    borrow: bool = True  # whether validation and test may look back into the rows before them
    gaps: Literal["fill", "zero"] = "fill"
    step: str = UNKNOWN
    notes: str = ""


class TasksEntry(Strict):
    """What is to be run on some of the datasets."""

    datasets: tuple[str, ...] = ()  # all, if none is named
    models: Annotated[tuple[str, ...], Field(min_length=1)] = (MAIN,)
    variants: Annotated[tuple[str, ...], Field(min_length=1)] = ("main",)
    seeds: Length = 1  # how many, from 2023 on
    training: dict[str, Any] = Field(default_factory=dict)
    options: dict[str, dict[str, Any]] = Field(default_factory=dict)  # by model
    settings: dict[str, str] = Field(default_factory=dict)  # by model: the name of one of `models.toml`


class OwnFile(Strict):
    """The whole file."""

    datasets: Annotated[dict[Name, DatasetEntry], Field(min_length=1)]
    tasks: Annotated[tuple[TasksEntry, ...], Field(min_length=1)]


@dataclass(frozen=True)
class OwnTasks:
    """What a file of tasks asks for."""

    tasks: TaskSet
    jobs: tuple[JobKey, ...]


def read_own_tasks(path: Path) -> OwnTasks:
    """The tasks and jobs of a file; a mistake raises an error that names the key it is in."""
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is not a TOML file: {error}") from error
    try:
        file = OwnFile(**content)
        datasets = {name: _dataset(name, entry, path.parent) for name, entry in file.datasets.items()}
        return _make_jobs(file, datasets, path)
    except ValidationError as error:
        raise ConfigError(f"{path}: {_first_mistake(error)}") from error
    except (ConfigError, DataError) as error:
        raise type(error)(f"{path}: {error}") from error


def _dataset(name: str, entry: DatasetEntry, folder: Path) -> Dataset:
    from olinear.data.datasets import read_table

    file = (folder / entry.file).resolve()
    rows, series = read_table(file).values.shape
    return Dataset(
        name=name,
        paper=False,
        files=(str(file),),
        rows=rows,
        series=series,
        step=entry.step,
        split=entry.split,
        borrow=entry.borrow,
        gaps=entry.gaps,
        horizons=dict.fromkeys(entry.lookbacks, entry.horizons),
        source=UNKNOWN,
        licence=UNKNOWN,
        sha256=UNKNOWN,
        notes=entry.notes,
    )


def _make_jobs(file: OwnFile, datasets: dict[str, Dataset], path: Path) -> OwnTasks:
    """The jobs of each entry; the settings of each task by model."""
    settings: dict[TaskKey, dict[str, Setting]] = {}
    asked: list[tuple[list[TaskKey], TasksEntry]] = []
    for place, entry in enumerate(file.tasks):
        _check_training(entry.training, f"tasks.{place}.training")
        unknown = sorted(set(entry.datasets) - set(datasets))
        if unknown:
            raise ConfigError(f"tasks name the dataset {unknown[0]!r}: there are {', '.join(datasets)}")
        keys = [key for name in entry.datasets or datasets for key in _keys(datasets[name])]
        asked.append((keys, entry))
        for model in (MODELS.find(name).name for name in entry.models):
            for key in keys:
                if model in settings.setdefault(key, {}):
                    raise ConfigError(f"{key} is asked of {model} twice: join the two entries of tasks")
                settings[key][model] = _setting(entry, model, datasets[key.dataset])
        _refuse_other_models(entry)
    tasks = TaskSet({key: Task(key, own) for key, own in settings.items()}, datasets, f"the tasks of {path}")
    jobs = [
        job
        for keys, entry in asked
        for model in entry.models
        for variant in entry.variants
        for job in expand(keys, variant, entry.seeds, MODELS.find(model).name, tasks)
    ]
    for job in jobs:
        recipe(job, tasks)  # refuses what cannot be, before anything runs
    return OwnTasks(tasks, tuple(jobs))


def _keys(dataset: Dataset) -> list[TaskKey]:
    return [TaskKey(dataset.name, lookback, horizon) for lookback, all_ in dataset.horizons.items() for horizon in all_]


def _setting(entry: TasksEntry, model: str, dataset: Dataset) -> Setting:
    """The defaults for data of this size, or a setting of `models.toml`; changed by what the entry says."""
    from olinear.models import check_options

    name, options = _of_model(entry.settings, model), _of_model(entry.options, model) or {}
    check_options(model, options)
    if name is None:
        windows = len(dataset.split_rows(dataset.rows).train)
        base = Setting(options=MODELS.find(model).choose(windows, dataset.series), loss="weighted_l1")
    else:
        base = find_setting(model, name, dataset.name)
    return base.model_copy(update={"options": base.options | options, "training": base.training | entry.training})


def _of_model(given: dict[str, Any], model: str) -> Any:
    return next((value for name, value in given.items() if name.casefold() == model.casefold()), None)


def _refuse_other_models(entry: TasksEntry) -> None:
    """Options and settings of a model that the entry does not run would be ignored."""
    models = {name.casefold() for name in entry.models}
    for name in (*entry.options, *entry.settings):
        if name.casefold() not in models:
            raise ConfigError(f"tasks have options or settings of {name}, which is not among their models")


def _check_training(training: dict[str, Any], place: str) -> None:
    try:
        TrainingConfig(**training)
    except ValidationError as error:
        raise ConfigError(_first_mistake(error, place)) from error


def _first_mistake(error: ValidationError, within: str = "") -> str:
    first = error.errors()[0]
    place = ".".join([*([within] if within else []), *map(str, first["loc"])])
    if first["type"] == "extra_forbidden":
        return f"{place} is not a key that is known here"
    return f"{place}: {first['msg']}"
