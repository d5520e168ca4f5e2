"""Made-up results for the tests of what reads them."""

from collections.abc import Iterable
from dataclasses import replace

from olinear.bench.spec.identity import JobKey, TaskKey, Variant
from olinear.bench.spec.task import published
from olinear.bench.store.rows import Row

SMALL = TaskKey("ETTm1", 96, 96)  # published: OLinear 0.302 0.334; best of the others TimeMixer++ 0.310 0.334
ILI = TaskKey("ILI", 12, 3)
OF_JOB = ("model", "seed", "key")


def row(key: TaskKey, mse: float, mae: float | None = None, seed: int = 2023, **others: object) -> Row:
    """A finished job; its MAE is its MSE if left out."""
    scores = {"mse": mse, "mae": mse if mae is None else mae}
    plain = Row(job=JobKey(key, seed=seed), scores=scores, seconds=60.0, validation_loss=0.5)
    return change(plain, versions="olinear 0.1.0, torch 2.13", commit="abc123", **others)


def change(row: Row, **others: object) -> Row:
    """The row with other facts, another part of its job, or another score; None takes the score out."""
    job = {name: others.pop(name) for name in OF_JOB if name in others}
    if "variant" in others:
        job["variant"] = Variant.parse(str(others.pop("variant")))
    given = {name: others.pop(name) for name in ("mse", "mae") if name in others}
    scores = {name: score for name, score in (dict(row.scores) | given).items() if score is not None}
    return replace(row, job=replace(row.job, **job), scores=scores, **others)


def paper_rows(factor: float = 1.0, keys: Iterable[TaskKey] | None = None, seed: int = 2023) -> list[Row]:
    """What the paper has for OLinear, times a factor."""
    cells = {key: published()[key]["OLinear"] for key in keys or published()}
    return [row(key, factor * cell["mse"], factor * cell["mae"], seed) for key, cell in cells.items()]
