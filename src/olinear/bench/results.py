"""The results: one CSV row for each job, added by many processes, never lost or doubled."""

import csv
import os
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np
from filelock import FileLock
from numpy.typing import NDArray

from olinear.bench.jobs import Job
from olinear.bench.tasks import TaskKey, own_tasks, tasks
from olinear.datasets import find_dataset
from olinear.errors import DataError


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

    @property
    def key(self) -> TaskKey:
        return TaskKey(self.dataset, self.lookback, self.horizon)

    @property
    def job(self) -> Job:
        return Job(self.key, self.model, self.variant, self.seed)


COLUMNS = [field.name for field in fields(Row)]
_INTEGERS = ("lookback", "horizon", "seed", "windows", "best_epoch", "epochs", "parameters")
_NAMING = ("lookback", "horizon", "seed")  # never empty
_NUMBERS = ("mse", "mae", "r2", "pearson", "mase", "seconds", "peak_memory_mb", "validation_loss")


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
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            missing = set(COLUMNS) - set(reader.fieldnames or [])
            if missing:
                raise DataError(f"{path} lacks the columns {', '.join(sorted(missing))}: it is no file of results")
            return [_parse(line, f"{path}, line {reader.line_num}") for line in reader]
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"{path} is damaged ({error}): mend it, or move it away") from error


def finished(folder: Path) -> set[Job]:
    """The jobs that have a result; one that failed is not among them."""
    return {row.job for row in read_results(folder) if not row.error}


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
        part = path.with_suffix(".csv.part")
        with part.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(map(_format, rows))
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)


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


def _format(row: Row) -> list[str]:
    return [
        f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value) for value in astuple(row)
    ]


def _parse(line: dict[str, str], place: str) -> Row:
    values: dict[str, object] = {name: line[name] for name in COLUMNS}
    try:
        if None in line or None in line.values():  # so csv marks too many cells, and too few
            raise ValueError("it must have a cell for each column")
        for name in _INTEGERS:
            values[name] = int(line[name]) if line[name] or name in _NAMING else None
        for name in _NUMBERS:
            values[name] = float(line[name]) if line[name] else None
        values["dataset"] = find_dataset(line["dataset"]).name
    except ValueError as error:
        raise DataError(f"{place} is damaged ({error}): mend it, or take the line out") from error
    return Row(**values)  # type: ignore[arg-type]
