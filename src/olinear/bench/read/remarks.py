"""Why a task is worse than published: remarks that people write beside the results."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from olinear.bench.read.summary import TaskScore, is_worse
from olinear.bench.show.table import Column, ResultTable
from olinear.bench.spec.task import TaskKey, published
from olinear.core import DataError
from olinear.models import MODELS

REMARKS = "remarks.toml"


def read_remarks(folder: Path, model: str) -> dict[TaskKey, str]:
    """The remarks of a folder of results on a model's tasks: a table for each model, in it a line for each task."""
    path = folder / REMARKS
    if not path.exists():
        return {}
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path} is no TOML file: {error}") from error
    tasks = {str(key): key for key in published()}
    for name, lines in tables.items():
        if name not in MODELS or not isinstance(lines, dict):
            raise DataError(f"{path} has a table {name!r}, which is no model: write one as [OLinear]")
        unknown = [task for task in lines if task not in tasks]
        if unknown:
            raise DataError(f"{path} has a remark on {unknown[0]!r}, which is no task: write one as 'ILI 12->3'")
    return {tasks[name]: str(text) for name, text in tables.get(model, {}).items()}


def worse_table(scores: Sequence[TaskScore], remarks: Mapping[TaskKey, str]) -> ResultTable:
    """The tasks whose MSE is worse than published, the worst first, and why."""
    columns = [Column("dataset", False), Column("lookback"), Column("horizon"), Column("seeds"), Column("MSE")]
    columns += [Column("MSE spread", decimals=4), Column("paper MSE"), Column("MSE ratio"), Column("why", False)]
    worse = sorted((score for score in scores if is_worse(score.mse.ratio)), key=lambda score: -score.mse.ratio)
    table = ResultTable(columns, [])
    for score in worse:
        mse, why = score.mse, remarks.get(score.key, "not looked into yet")
        table.cells.append([*score.key, score.seeds, mse.ours, mse.spread, mse.published, mse.ratio, why])
    return table
