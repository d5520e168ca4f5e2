"""The paper's datasets: what each is called, how large it is, how it is split, where it comes from."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from olinear.core import ConfigError, DataError

if TYPE_CHECKING:
    from olinear.data.windows import Split

UNKNOWN = "unknown"

Address = Annotated[str, Field(pattern="^https://")]


class Dataset(BaseModel):
    """One entry of `catalogue.toml`, where the fields are explained; what is not known is "unknown"."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    paper: bool = True
    files: Annotated[tuple[str, ...], Field(min_length=1)]
    rows: int
    series: int
    step: str
    split: str | tuple[int, int, int]
    borrow: bool = True
    kin: tuple[str, ...] = ()
    gaps: Literal["zero", "fill"] = "zero"
    horizons: dict[int, tuple[int, ...]]
    source: str
    licence: str
    sha256: Annotated[str, Field(pattern=f"^([0-9a-f]{{64}}|{UNKNOWN})$")]
    address: Address | None = None
    tried: bool = False
    page: Address | None = None
    notes: str = ""

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        if isinstance(self.split, str):
            _shares(self.split)
        if self.address and self.sha256 == UNKNOWN:
            raise ValueError(f"{self.name} has an address but no sha256: what comes from it could not be checked")
        return self

    def split_rows(self, rows: int, ratio: str | None = None) -> "Split":
        """Train, validation and test rows; `ratio` such as "6:2:2" in the place of the dataset's own."""
        from olinear.data.windows import Split  # brings torch, which a look at the catalogue does not need

        split = ratio or self.split
        if isinstance(split, str):
            train, test = _shares(split)
            return Split.by_ratio(rows, train, test, borrow=self.borrow)
        if rows < sum(split):
            raise DataError(f"{self.name} needs {sum(split)} rows for its split, found {rows}: is the file complete?")
        return Split.by_counts(*split, borrow=self.borrow)


def _shares(ratio: str) -> tuple[float, float]:
    """The shares of training and test rows in "7:1:2"."""
    parts = ratio.split(":")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts) or sum(map(int, parts)) != 10:
        raise ConfigError(f"a split must be three numbers of tenths that sum to ten, such as 7:1:2, found {ratio!r}")
    return int(parts[0]) / 10, int(parts[2]) / 10


def catalogue() -> dict[str, Dataset]:
    """The paper's datasets by name."""
    return {name: dataset for name, dataset in all_datasets().items() if dataset.paper}


@cache
def all_datasets() -> dict[str, Dataset]:
    """Those, and the others that studies use."""
    text = (files("olinear.data.datasets") / "catalogue.toml").read_text("utf-8")
    found = [Dataset(**entry) for entry in tomllib.loads(text)["dataset"]]
    return {dataset.name: dataset for dataset in found}


def find_dataset(name: str) -> Dataset:
    """A dataset by its name, however it is capitalised."""
    for dataset in all_datasets().values():
        if dataset.name.casefold() == name.casefold():
            return dataset
    raise ConfigError(f"no dataset is called {name!r}: there are {', '.join(catalogue())}")
