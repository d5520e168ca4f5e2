"""Made-up datasets small enough to train on in a moment, and processes that start in one."""

import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.context import BaseContext
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from olinear.bench.run.planning import Plan, Planned
from olinear.bench.run.pool import PRELOADED
from olinear.bench.spec.identity import JobKey, TaskKey, Variant
from olinear.bench.spec.jobs import recipe
from olinear.bench.store.rows import Row
from olinear.core.runtime import fork_server

EXCHANGE = JobKey(TaskKey("Exchange", 96, 96))  # one epoch
POWER = JobKey(
    TaskKey("Power", 12, 9)
)  # the smallest model; from noise it learns nothing after one epoch, and stops after six
ILI = JobKey(TaskKey("ILI", 12, 3))


def write_data(folder: Path) -> Path:
    """A few rows under the names of Exchange, Power and ILI."""
    folder.mkdir(exist_ok=True)
    np.savetxt(folder / "exchange_rate.txt", walk(1000, 8), delimiter=",")
    write_dated(folder / "power.csv", np.random.default_rng(0).normal(size=(120, 2)))
    write_dated(folder / "national_illness.csv", walk(60, 7))
    return folder


def write_dated(path: Path, values: NDArray[np.float64]) -> None:
    frame = pd.DataFrame(values).add_prefix("series ")
    frame.insert(0, "date", pd.date_range("2020-01-01", periods=len(values)).astype(str))
    frame.to_csv(path, index=False)


def walk(rows: int, series: int) -> NDArray[np.float64]:
    return np.random.default_rng(rows).normal(size=(rows, series)).cumsum(0)


def as_plan(*jobs: JobKey, seconds: float = 10.0) -> Plan:
    return Plan([planned(job, seconds) for job in jobs], 0, [])


def planned(job: JobKey, seconds: float = 10.0, **others: int) -> Planned:
    return Planned(job, recipe(job), seconds, **others)


def result(job: JobKey, mse: float = 0.5, **others: object) -> Row:
    return Row(job=job, scores={"mse": mse, "mae": mse}, **others)


def quick_processes() -> BaseContext:
    """Processes forked from one that has imported torch: each is real, and needs no seconds to start."""
    return fork_server(PRELOADED)


def varied(job: JobKey, variant: str) -> JobKey:
    """Another variant of a job."""
    return replace(job, variant=Variant.parse(variant))


def seeds(job: JobKey, count: int) -> list[JobKey]:
    return [replace(job, seed=2023 + index) for index in range(count)]


def wait_for(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, f"no {what} in two minutes"
        time.sleep(0.005)
