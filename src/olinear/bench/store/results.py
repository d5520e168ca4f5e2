"""The results: one CSV row for each job, added by many processes, never lost or doubled."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from olinear.bench.spec.jobs import FIRST_SEED, Job
from olinear.bench.spec.task import TaskKey, own_tasks, tasks
from olinear.core import DataError
from olinear.core.runtime import column_names, read_records, write_records
from olinear.data.datasets import find_dataset


@dataclass(frozen=True)
class Row:
    """One result, or one failure: then `error` says why and the scores are empty."""

    dataset: str
    lookback: int
    horizon: int
    model: str
    variant: str
    seed: int
    mse: float | None = None
    mae: float | None = None
    r2: float | None = None
    pearson: float | None = None
    mase: float | None = None
    windows: int | None = None
    best_epoch: int | None = None
    epochs: int | None = None
    seconds: float | None = None
    parameters: int | None = None
    peak_memory_mb: float | None = None
    versions: str = ""
    commit: str = ""
    error: str = ""
    validation_loss: float | None = None

    def __post_init__(self) -> None:
        """The dataset in its one spelling; an unknown one is refused."""
        object.__setattr__(self, "dataset", find_dataset(self.dataset).name)

    @property
    def key(self) -> TaskKey:
        return TaskKey(self.dataset, self.lookback, self.horizon)

    @property
    def job(self) -> Job:
        return Job(self.key, self.model, self.variant, self.seed)


COLUMNS = column_names(Row)


def failed(job: Job, error: str) -> Row:
    """The row of a job that could not be finished."""
    return Row(*job.key, job.model, job.variant, job.seed, error=" ".join(error.split())[:500])


def results_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.csv"))


def read_results(folder: Path) -> list[Row]:
    """Every row of `folder/*.csv`."""
    return [row for path in results_files(folder) for row in read_file(path)]


def read_file(path: Path) -> list[Row]:
    """The rows of one file; a line that is none is an error that names it."""
    return read_records(path, Row)


def finished(folder: Path) -> set[Job]:
    """The jobs that have a result; one that failed is not among them."""
    return {row.job for row in read_results(folder) if not row.error}


def repeat_quick(jobs: Iterable[Job], folder: Path, seconds: float) -> list[Job]:
    """The jobs without the further seeds of what took longer with the first one, or has no result of it yet."""
    quick = {row.job for row in read_results(folder) if row.seconds is not None and row.seconds < seconds}
    return [job for job in jobs if job.seed == FIRST_SEED or replace(job, seed=FIRST_SEED) in quick]


def add_row(folder: Path, row: Row) -> None:
    """Put a row into `folder/<model>.csv`, in the place of an earlier one of the same job.

    A failure does not take the place of a result: a process may be killed when its row is written already.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{row.model}.csv"
    with FileLock(runs_folder(folder) / "results.lock"):
        rows = read_file(path) if path.exists() else []
        if row.error and any(old.job == row.job and not old.error for old in rows):
            return
        rows = sorted([*(old for old in rows if old.job != row.job), row], key=_order)
        write_records(path, rows, Row)


def errors_path(folder: Path, job: Job) -> Path:
    """Where the MSE of a job's every test window is."""
    return folder / "windows" / f"{job.name}.npy"


def save_errors(folder: Path, job: Job, errors: NDArray[np.float32]) -> None:
    path = errors_path(folder, job)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, errors, allow_pickle=False)


def read_errors(folder: Path, job: Job) -> NDArray[np.float32] | None:
    """The MSE of every test window, if it was kept."""
    path = errors_path(folder, job)
    try:
        return np.load(path, allow_pickle=False) if path.exists() else None
    except (ValueError, EOFError) as error:
        raise DataError(f"{path} is damaged ({error}): take it away, and run the job again") from error


def runs_folder(folder: Path) -> Path:
    """Where locks and checkpoints of running jobs are, beside the results."""
    path = folder / ".runs"
    path.mkdir(parents=True, exist_ok=True)
    return path


def _order(row: Row) -> tuple[object, ...]:
    datasets = {key.dataset: None for key in (*tasks(), *own_tasks())}
    return (row.variant != "main", row.variant, list(datasets).index(row.dataset), row.lookback, row.horizon, row.seed)
