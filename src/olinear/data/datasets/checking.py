"""Whether a file is the dataset it is taken for: its shape, its checksum, its gaps."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from olinear.core import DataError, MissingDependencyError
from olinear.data.datasets.entries import UNKNOWN, Dataset
from olinear.data.datasets.reading import Table, read_table

State = Literal["ok", "different", "unknown"]

# The longest regular step; trading days have none.
STEPS = {
    "5 min": pd.Timedelta(minutes=5),
    "10 min": pd.Timedelta(minutes=10),
    "15 min": pd.Timedelta(minutes=15),
    "hour": pd.Timedelta(hours=1),
    "day": pd.Timedelta(days=1),
    "week": pd.Timedelta(days=7),
    "month": pd.Timedelta(days=31),
}


@dataclass(frozen=True)
class Check:
    """What was found in a dataset's file; `problems` is empty if it is the file it should be."""

    dataset: Dataset
    path: Path
    sha256: State
    shape: tuple[int, int] | None = None
    empty_cells: int = 0
    repeated_times: int = 0
    backward_steps: int = 0
    long_steps: int = 0
    unreadable: str = ""

    @property
    def problems(self) -> list[str]:
        """Why this may not be the dataset; a file with the right checksum has the times it should have."""
        found = [self.unreadable] if self.unreadable else []
        expected = (self.dataset.rows, self.dataset.series)
        if self.shape not in (None, expected):
            found.append(f"{_size(*self.shape)} rows × series, expected {_size(*expected)}")
        if self.sha256 == "different":
            found.append("another sha256 than the file of the committed results")
        return found if self.sha256 == "ok" else found + self._disorder()

    @property
    def notes(self) -> list[str]:
        """What is worth knowing and no problem."""
        found = _counted(
            {"empty cells": self.empty_cells, f"steps longer than one of {self.dataset.step}": self.long_steps}
        )
        return found + self._disorder() if self.sha256 == "ok" else found

    def _disorder(self) -> list[str]:
        return _counted({"repeated times": self.repeated_times, "steps back in time": self.backward_steps})


def check(dataset: Dataset, path: str | Path) -> Check:
    """Read a dataset's file and compare it with the catalogue; whatever is wrong is reported, not refused."""
    path = Path(path)
    try:
        found = file_sha256(path)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}") from error
    state: State = "ok" if found == dataset.sha256 else "unknown" if dataset.sha256 == UNKNOWN else "different"
    try:
        table = read_table(path)
    except (DataError, MissingDependencyError) as error:
        return Check(dataset, path, state, unreadable=str(error))
    return Check(dataset, path, state, table.values.shape, int(np.isnan(table.values).sum()), *_steps(dataset, table))


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _steps(dataset: Dataset, table: Table) -> tuple[int, int, int]:
    """Times seen before, steps backwards in time, and steps longer than the dataset's."""
    if table.times is None:
        return 0, 0, 0
    steps = table.times[1:] - table.times[:-1]
    longest = STEPS.get(dataset.step, pd.Timedelta.max)
    return int(table.times.duplicated().sum()), int((steps < pd.Timedelta(0)).sum()), int((steps > longest).sum())


def _counted(counts: dict[str, int]) -> list[str]:
    return [f"{what}: {count}" for what, count in counts.items() if count]


def _size(rows: int, series: int) -> str:
    return f"{rows} × {series}"
