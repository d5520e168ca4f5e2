"""The paper's ablations and plug-in experiments as data: `data/studies.toml`, and what the paper printed of them."""

from functools import cache
from typing import Any, Literal, NamedTuple

from pydantic import Field, model_validator

from olinear.bench.spec.datafiles import Strict, data_rows, data_settings
from olinear.bench.spec.task import TaskKey
from olinear.core import ConfigError
from olinear.data.datasets import find_dataset
from olinear.models import MAIN
from olinear.models.zoo import TOKEN_MIXERS
from olinear.nn import BASES, MIXERS, Norm, Transform

NONE = "none"  # in the file, where a part is left out


class Method(Strict):
    """What a row of a study changes in a task's recipe."""

    same_as: str | None = Field(None, alias="is")
    basis: str | None = None
    output_basis: str | None = None
    mixer: str | None = None
    pre_linear: bool | None = None
    post_linear: bool | None = None
    temporal: Literal["normlin", "none"] | None = None
    transform: Transform | None = None
    norm: Norm | None = None
    correlation: bool = False
    orthotrans: bool = False
    options: dict[str, Any] = Field(default_factory=dict)  # of a model other than OLinear

    @model_validator(mode="after")
    def _is_sound(self) -> "Method":
        for basis in (self.basis, self.output_basis):
            if basis is not None and basis not in BASES:
                raise ValueError(f"no basis is called {basis!r}")
        if self.mixer not in (None, NONE, *MIXERS, *TOKEN_MIXERS):
            raise ValueError(f"no mixer is called {self.mixer!r}")
        if self.same_as is not None and self.model_fields_set != {"same_as"}:
            raise ValueError("what is the same as another variant changes nothing itself")
        return self

    @property
    def parts(self) -> dict[str, Any]:
        """OLinear's arguments, for those of its parts that are named here; None is no such part."""
        given = {"mixer": self.mixer, "temporal": self.temporal}
        layers = {"pre_linear": self.pre_linear, "post_linear": self.post_linear}
        if self.mixer in TOKEN_MIXERS:  # its own maps take the place of CSL's two linear layers
            layers = {"pre_linear": False, "post_linear": False}
        parts = {name: part for name, part in (given | layers).items() if part is not None}
        return {name: None if part == NONE else part for name, part in parts.items()}

    @property
    def matrix(self) -> dict[str, str]:
        """NormLin's arguments, for those that are named here."""
        given = {"transform": self.transform, "norm": self.norm}
        return {name: value for name, value in given.items() if value is not None}


class Place(Strict):
    """A dataset, a lookback, and horizons: all of the dataset's if none is named."""

    dataset: str
    lookback: int
    horizons: tuple[int, ...] = ()

    @property
    def tasks(self) -> list[TaskKey]:
        horizons = self.horizons or find_dataset(self.dataset).horizons[self.lookback]
        return [TaskKey(self.dataset, self.lookback, horizon) for horizon in horizons]


class Study(Strict):
    """Methods compared on some tasks, for one or several models."""

    name: str
    about: str
    models: tuple[str, ...] = (MAIN,)
    on: tuple[Place, ...]
    methods: dict[str, Method]

    def variant(self, method: str) -> str:
        """What the results call a method."""
        return self.methods[method].same_as or f"{self.name}/{method}"


@cache
def studies() -> dict[str, Study]:
    """All studies by name."""
    return {name: Study(name=name, **study) for name, study in data_settings("studies.toml").items()}


def find_study(name: str) -> Study:
    """A study by its name."""
    if name not in studies():
        raise ConfigError(f"no study is called {name!r}: there are {', '.join(studies())}")
    return studies()[name]


def find_variant(variant: str) -> tuple[str, Method]:
    """The one spelling of `study/method`, and the method, however both are capitalised."""
    name, _, wanted = variant.partition("/")
    study = find_study(name.casefold())
    for method, change in study.methods.items():
        if method.casefold() == wanted.casefold():
            if change.same_as is not None:
                raise ConfigError(f"the variant {variant} is {change.same_as}: ask for that")
            return study.variant(method), change
    raise ConfigError(f"the study {study.name} has no method {wanted!r}: there are {', '.join(study.methods)}")


class Printed(NamedTuple):
    """What the paper prints for a method."""

    mse: float | None
    mae: float | None


NOTHING = Printed(None, None)


@cache
def printed(study: str) -> dict[tuple[str, TaskKey | tuple[str, int], str], Printed]:
    """The paper's table of a study: (model, task or (dataset, lookback) for a mean over horizons, method) -> scores."""
    found: dict[tuple[str, TaskKey | tuple[str, int], str], Printed] = {}
    for row in data_rows("study_tables.csv", study=study):
        place = row["dataset"], int(row["lookback"])
        key = place if row["horizon"] == "avg" else TaskKey(*place, int(row["horizon"]))
        scores = (float(row[name]) if row[name] else None for name in ("mse", "mae"))
        found[row["model"], key, row["method"]] = Printed(*scores)
    return found
