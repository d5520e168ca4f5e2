"""The files of `data/`: tables and settings, read in one way."""

import csv
import tomllib
from importlib.resources import files
from typing import Any

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """A part of a settings file: frozen, unknown keys forbidden."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def data_text(name: str) -> str:
    return (files("olinear.bench.spec") / "data" / name).read_text("utf-8")


def data_settings(name: str) -> dict[str, Any]:
    """What a TOML file of this package says."""
    return tomllib.loads(data_text(name))


def data_rows(name: str, **wanted: str) -> list[dict[str, str]]:
    """The rows of a CSV file of this package whose columns have the wanted values."""
    rows = csv.DictReader(data_text(name).splitlines())
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]
