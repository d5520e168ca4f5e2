"""Why a task is worse than published: remarks that people write next to the results."""

import tomllib
from pathlib import Path

from olinear.bench.spec.identity import TaskKey
from olinear.bench.spec.task import published
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
        raise DataError(f"{path} is not a TOML file: {error}") from error
    tasks = {str(key): key for key in published()}
    for name, lines in tables.items():
        if name not in MODELS or not isinstance(lines, dict):
            raise DataError(f"{path} has a table {name!r}, which is no model: write one as [OLinear]")
        unknown = [task for task in lines if task not in tasks]
        if unknown:
            raise DataError(f"{path} has a remark on {unknown[0]!r}, which is no task: write one as 'ILI 12->3'")
    return {tasks[name]: str(text) for name, text in tables.get(model, {}).items()}
