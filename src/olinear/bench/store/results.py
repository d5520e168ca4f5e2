"""The results: one CSV row for each job, added by many processes, never lost or doubled."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from olinear.bench.spec.identity import FIRST_SEED, JobKey
from olinear.bench.spec.task import own_tasks, tasks
from olinear.bench.store.rows import JOB, Row, cells_of, columns_of, parse_row
from olinear.core import DataError
from olinear.core.runtime import read_lines, write_lines


def failed(job: JobKey, error: str) -> Row:
    """The row of a job that could not be finished."""
    return Row(job=job, error=" ".join(error.split())[:500])


def results_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.csv"))


def read_results(folder: Path) -> list[Row]:
    """Every row of `folder/*.csv`."""
    return [row for path in results_files(folder) for row in read_file(path)]


def read_file(path: Path) -> list[Row]:
    """The rows of one file; a malformed line raises an error that names it."""
    return read_lines(path, JOB, parse_row)


def finished(folder: Path) -> set[JobKey]:
    """The jobs that have a result; one that failed is not among them."""
    return {row.job for row in read_results(folder) if not row.error}


def repeat_quick(jobs: Iterable[JobKey], folder: Path, seconds: float) -> list[JobKey]:
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
        columns = columns_of(rows)
        write_lines(path, columns, (cells_of(each, columns) for each in rows))


def errors_path(folder: Path, job: JobKey) -> Path:
    """Where the MSE of a job's every test window is."""
    return folder / "windows" / f"{job.name}.npy"


def save_errors(folder: Path, job: JobKey, errors: NDArray[np.float32]) -> None:
    path = errors_path(folder, job)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, errors, allow_pickle=False)


def read_errors(folder: Path, job: JobKey) -> NDArray[np.float32] | None:
    """The MSE of every test window, if it was kept."""
    path = errors_path(folder, job)
    try:
        return np.load(path, allow_pickle=False) if path.exists() else None
    except (ValueError, EOFError) as error:
        raise DataError(f"{path} is damaged ({error}): take it away, and run the job again") from error


def runs_folder(folder: Path) -> Path:
    """Where locks and checkpoints of running jobs are, next to the results."""
    path = folder / ".runs"
    path.mkdir(parents=True, exist_ok=True)
    return path


def _order(row: Row) -> tuple[object, ...]:
    datasets = list(dict.fromkeys(key.dataset for key in (*tasks(), *own_tasks())))
    name, *lengths = row.key
    place = datasets.index(name) if name in datasets else len(datasets)
    return (not row.variant.is_main, str(row.variant), place, name, *lengths, row.seed)
