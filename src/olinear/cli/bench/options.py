"""Options that several of the benchmark's commands have."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from olinear.core import ConfigError

if TYPE_CHECKING:
    from olinear.bench import OwnTasks, Selection, TaskKey

SuiteName = Literal["all", "long", "short"]
Suite = Annotated[SuiteName, typer.Option(help="long: lookback 96; short: lookbacks 12 and 36.")]
Dataset = Annotated[list[str] | None, typer.Option(help="Only this dataset; may be repeated.")]
Horizon = Annotated[list[int] | None, typer.Option(help="Only this horizon; may be repeated.")]
Tasks = Annotated[
    Path | None,
    typer.Option("--tasks", metavar="FILE", help="Your own tasks, not the paper's: a TOML file."),
]
Model = Annotated[str, typer.Option(help="Whose rows.")]
Seeds = Annotated[int, typer.Option(min=1, help="How many seeds, from 2023 on.")]
Jobs = Annotated[int, typer.Option(min=1, help="Short tasks at a time, one thread each.")]
Hours = Annotated[float | None, typer.Option(min=0, help="Stop cleanly after so long.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the plan and its estimate.")]
PrecisionName = Literal["float32", "auto", "bfloat16"]
Precision = Annotated[
    PrecisionName, typer.Option(help="Of matrix products, where a variant does not say it; each row names what it was.")
]
Data = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Folder of the datasets; else OLINEAR_DATA.")]
Results = Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of the results.")]
FormatName = Literal["terminal", "markdown", "csv", "latex"]
Format = Annotated[FormatName, typer.Option(help="How it is written.")]
Out = Annotated[Path | None, typer.Option(metavar="FILE", help="Write it there; else it is printed.")]
NO_TASK = "no task is like that: `olinear bench run --dry-run` lists all"


@dataclass(frozen=True)
class Written:
    """How a table is written."""

    format: Format = "terminal"
    out: Out = None


@dataclass(frozen=True)
class Wanted:
    """Which tasks."""

    suite: Suite = "all"
    dataset: Dataset = None
    horizon: Horizon = None
    tasks: Tasks = None


@dataclass(frozen=True)
class How:
    """Where and how jobs are run."""

    jobs: Jobs = 2
    hours: Hours = None
    dry_run: DryRun = False
    data: Data = None
    results: Results = Path("results")
    precision: Precision = "float32"


def select(model: str, suite: str, datasets: list[str] | None, horizons: list[int] | None = None) -> "Selection":
    """What was asked for of the paper's tasks, in the one spelling of each name; an error if it is nothing."""
    from olinear.bench import Selection, paper_tasks
    from olinear.data.datasets import find_dataset
    from olinear.models import MODELS

    names = tuple(find_dataset(name).name for name in datasets or [])
    selection = Selection(MODELS.find(model).name, suite, names, tuple(horizons or []))
    if not any(selection.has(key) for key in paper_tasks().tasks):
        raise ConfigError(NO_TASK)
    return selection


def select_own(path: Path, wanted: Wanted) -> "tuple[OwnTasks, list[TaskKey]]":
    """The tasks of a file, and those of them that were asked for."""
    from olinear.bench import read_own_tasks

    own = read_own_tasks(path)
    names = {own.tasks.find_dataset(name).name for name in wanted.dataset or []}
    keys = [
        key
        for key in own.tasks.tasks
        if (not names or key.dataset in names) and (not wanted.horizon or key.horizon in wanted.horizon)
    ]
    if not keys:
        raise ConfigError(f"no task of {path} is like that: there are {', '.join(map(str, own.tasks.tasks))}")
    return own, keys
