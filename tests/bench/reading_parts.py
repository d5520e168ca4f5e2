"""Made-up results for the tests of what reads them."""

from collections.abc import Iterable
from dataclasses import replace

from olinear.bench.spec.task import TaskKey, published
from olinear.bench.store.results import Row

SMALL = TaskKey("ETTm1", 96, 96)  # published: OLinear 0.302 0.334; best of the others TimeMixer++ 0.310 0.334
ILI = TaskKey("ILI", 12, 3)


def row(key: TaskKey, mse: float, mae: float | None = None, seed: int = 2023, **others: object) -> Row:
    """A finished job; its MAE is its MSE if left out."""
    plain = Row(*key, "OLinear", "main", seed, mse, mse if mae is None else mae, seconds=60.0, validation_loss=0.5)
    return replace(plain, versions="olinear 0.1.0, torch 2.13", commit="abc123", **others)


def paper_rows(factor: float = 1.0, keys: Iterable[TaskKey] | None = None, seed: int = 2023) -> list[Row]:
    """What the paper has for OLinear, times a factor."""
    cells = {key: published()[key]["OLinear"] for key in keys or published()}
    return [row(key, factor * cell["mse"], factor * cell["mae"], seed) for key, cell in cells.items()]
