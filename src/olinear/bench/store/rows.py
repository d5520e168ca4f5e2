"""Result rows and their form as lines of a CSV file, whichever metrics they have.

    schema  which form the line has: 2; a file without this column is of schema 1, which called `window_mase` `mase`
    dataset, lookback, horizon, model, variant, seed    the job
    …                                                   a column for each metric
    windows, best_epoch, …                              facts of the run

Metrics that a file lacks are absent from its rows; columns that are not known here are kept as they are.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from olinear.bench.spec.identity import JobKey, TaskKey, Variant
from olinear.core import ConfigError
from olinear.core.runtime import parse_cells
from olinear.data.datasets import find_dataset

SCHEMA = 2
JOB = ("dataset", "lookback", "horizon", "model", "variant", "seed")
RENAMED = {1: {"mase": "window_mase"}}  # metrics, by schema


@dataclass(frozen=True)
class Facts:
    """What is kept of a run besides its scores; `error` says why it has none."""

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
    precision: str = ""  # that it was trained and scored with; empty in rows of before, which are of float32
    kernels: str = ""  # whose kernels multiplied; empty in rows of before, which are of torch
    normlin_moved: float | None = None  # |W - W₀| / |W₀| of all NormLin weights together; None without one


FACTS = tuple(each.name for each in fields(Facts))
LATER = ("precision", "kernels", "normlin_moved")  # facts that a file has only if a row of it does


@dataclass(frozen=True)
class Row(Facts):
    """One result, or one failure: then `error` says why and the scores are empty."""

    job: JobKey = field(kw_only=True)
    scores: Mapping[str, float] = field(default_factory=dict, kw_only=True)  # by metric
    other: Mapping[str, str] = field(default_factory=dict, kw_only=True)  # cells of columns that are not known here

    @property
    def key(self) -> TaskKey:
        return self.job.key

    @property
    def model(self) -> str:
        return self.job.model

    @property
    def variant(self) -> Variant:
        return self.job.variant

    @property
    def seed(self) -> int:
        return self.job.seed

    @property
    def mse(self) -> float | None:
        return self.scores.get("mse")

    @property
    def mae(self) -> float | None:
        return self.scores.get("mae")

    @property
    def is_result(self) -> bool:
        """Whether it has the scores that everything is compared by; one with an error has none."""
        return not self.error and all(math.isfinite(self.scores.get(name, math.nan)) for name in ("mse", "mae"))


def parse_row(cells: Mapping[str, str]) -> Row:
    """A line's row."""
    schema = int(cells.get("schema", 1))
    if schema > SCHEMA:
        raise ValueError(f"it has schema {schema} and this olinear reads up to {SCHEMA}: install a newer one")
    names = list(cells)
    last_of_job, first_fact = names.index("seed"), names.index("windows") if "windows" in names else len(names)
    metrics = names[last_of_job + 1 : first_fact]
    renamed = RENAMED.get(schema, {})
    scores = {renamed.get(name, name): float(cells[name]) for name in metrics if cells[name]}
    known = {"schema", *JOB, *metrics, *FACTS}
    other = {name: cells[name] for name in names if name not in known}
    return Row(job=_job(cells), scores=scores, other=other, **parse_cells(dict(cells), Facts))


def _job(cells: Mapping[str, str]) -> JobKey:
    key = TaskKey(_spelt(cells["dataset"]), int(cells["lookback"]), int(cells["horizon"]))
    return JobKey(key, cells["model"], Variant.parse(cells["variant"]), int(cells["seed"]))


def _spelt(dataset: str) -> str:
    """A dataset as the catalogue spells it; one of a user's own as it stands."""
    try:
        return find_dataset(dataset).name
    except ConfigError:
        if not dataset.isprintable() or len(dataset.split()) != 1:
            raise ValueError(f"{dataset!r} is no name of a dataset") from None
        return dataset


def columns_of(rows: Sequence[Row]) -> list[str]:
    """The columns of a file that holds these rows."""
    metrics = dict.fromkeys(name for row in rows for name in row.scores)
    other = dict.fromkeys(name for row in rows for name in row.other)
    facts = [name for name in FACTS if name not in LATER or any(getattr(row, name) not in ("", None) for row in rows)]
    return ["schema", *JOB, *metrics, *facts, *other]


def cells_of(row: Row, columns: Sequence[str]) -> list[Any]:
    """A row's line."""
    facts = {name: getattr(row, name) for name in FACTS}
    job = dict(zip(JOB, (*row.key, row.model, row.variant, row.seed), strict=True))
    cells = {"schema": SCHEMA, **row.other, **row.scores, **facts, **job}
    return [cells.get(column) for column in columns]
