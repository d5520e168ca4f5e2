"""The paper's datasets: what each is called, how large it is, how it is split, where it comes from."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import BaseModel, ConfigDict

from olinear.errors import ConfigError
from olinear.windows import Split

UNKNOWN = "unknown"


class Dataset(BaseModel):
    """One entry of `catalogue.toml`; what is not known is "unknown"."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    files: tuple[str, ...]
    rows: int
    series: int
    step: str
    split: str | tuple[int, int, int]
    borrow: bool = True
    gaps: Literal["zero", "fill"] = "zero"
    horizons: dict[int, tuple[int, ...]]
    source: str
    licence: str
    sha256: str
    notes: str = ""

    def split_rows(self, rows: int, ratio: str | None = None) -> Split:
        """Train, validation and test rows; `ratio` such as "6:2:2" in the place of the dataset's own."""
        split = ratio or self.split
        if isinstance(split, str):
            train, _, test = (int(part) / 10 for part in split.split(":"))
            return Split.by_ratio(rows, train, test, borrow=self.borrow)
        return Split.by_counts(*split, borrow=self.borrow)


@cache
def catalogue() -> dict[str, Dataset]:
    """All datasets by name."""
    text = (files("olinear.datasets") / "catalogue.toml").read_text("utf-8")
    found = [Dataset(**entry) for entry in tomllib.loads(text)["dataset"]]
    return {dataset.name: dataset for dataset in found}


def find_dataset(name: str) -> Dataset:
    """A dataset by its name, however it is capitalised."""
    for dataset in catalogue().values():
        if dataset.name.casefold() == name.casefold():
            return dataset
    raise ConfigError(f"no dataset is called {name!r}: there are {', '.join(catalogue())}")
