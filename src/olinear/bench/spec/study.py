"""The paper's ablations and plug-in experiments as data: `data/studies.toml`, and what the paper printed of them."""

from functools import cache
from typing import Any, Literal, NamedTuple

from pydantic import Field, model_validator

from olinear.bench.spec.datafiles import Strict, data_rows, data_settings
from olinear.bench.spec.identity import TaskKey, Variant
from olinear.core import ConfigError
from olinear.data.datasets import find_dataset
from olinear.models import MAIN

NONE = "none"  # in the file, where a part is left out
# The names that the file may use, written out since their homes bring torch; a test holds them equal to what is there.
Basis = Literal[
    "pearson", "published", "fourier", "haar", "dmey", "chebyshev", "laguerre", "legendre", "identity"
]  # fmt: skip
Mixing = Literal[
    "normlin", "linear", "attention", "reformer", "flowformer", "flatten", "sub-adjacent", "mamba", "wide-mamba",
    "enhanced", "none"
]  # fmt: skip
FixedBasis = Literal["fourier", "haar", "dmey", "chebyshev", "laguerre", "legendre"]
Transform = Literal["softplus", "softmax", "sigmoid", "relu", "identity"]
Norm = Literal["l1", "l2"]


class Method(Strict):
    """What a row of a study changes in a task's recipe."""

    same_as: str | None = Field(None, alias="is")
    models: tuple[str, ...] = ()  # whose it is, if not all of the study's
    basis: Basis | None = None
    output_basis: Basis | None = None
    mixer: Mixing | None = None
    encoder: Mixing | None = None  # in the place of all blocks
    pre_linear: bool | None = None
    post_linear: bool | None = None
    temporal: Literal["normlin", "none"] | None = None
    transform: Transform | None = None
    norm: Norm | None = None
    correlation: bool = False
    orthotrans: Literal["", "around", "patches"] = ""
    skip: FixedBasis | None = None  # the network of the paper's rows of fixed bases, with this one
    options: dict[str, Any] = Field(default_factory=dict)  # further ones

    @model_validator(mode="after")
    def _is_sound(self) -> "Method":
        if self.same_as is not None and not self.model_fields_set <= {"same_as", "models"}:
            raise ValueError("what is the same as another variant changes nothing itself")
        return self

    @property
    def parts(self) -> dict[str, Any]:
        """The model's options, for those of its parts that are named here; None is no such part."""
        layers = {"pre_linear": self.pre_linear, "post_linear": self.post_linear}
        given: dict[str, Any] = {"mixer": self.mixer, "encoder": self.encoder, "temporal": self.temporal, **layers}
        parts = {name: part for name, part in given.items() if part is not None}
        return {name: None if part == NONE else part for name, part in parts.items()} | self.options

    @property
    def normlin(self) -> dict[str, str]:
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
    orthogonal: bool = True  # whether its methods are of models that have orthogonal bases
    on: tuple[Place, ...]
    methods: dict[str, Method]
    table: str = ""  # the study whose printed table it has, if not one of its own

    @property
    def printed(self) -> "PrintedTable":
        """What the paper prints of its methods."""
        return printed(self.table or self.name)

    def methods_of(self, model: str) -> list[str]:
        """The methods that a model of its has."""
        return [name for name, method in self.methods.items() if not method.models or model in method.models]

    def variant(self, method: str) -> Variant:
        """What the results call a method."""
        same = self.methods[method].same_as
        return Variant.parse(same) if same else Variant(self.name, method=method)


@cache
def studies() -> dict[str, Study]:
    """All studies by name."""
    return {name: Study(name=name, **study) for name, study in data_settings("studies.toml").items()}


def find_study(name: str) -> Study:
    """A study by its name."""
    if name not in studies():
        raise ConfigError(f"no study is called {name!r}: there are {', '.join(studies())}")
    return studies()[name]


def find_method(variant: Variant) -> tuple[Study, str]:
    """The study of a variant, and the one spelling of its method, however both are capitalised."""
    study = find_study(variant.name.casefold())
    for method, change in study.methods.items():
        if method.casefold() == variant.method.casefold():
            if change.same_as is not None:
                raise ConfigError(f"the variant {variant} is {change.same_as}: ask for that")
            return study, method
    raise ConfigError(f"the study {study.name} has no method {variant.method!r}: there are {', '.join(study.methods)}")


class Printed(NamedTuple):
    """What the paper prints for a method."""

    mse: float | None
    mae: float | None


NOTHING = Printed(None, None)


PrintedTable = dict[tuple[str, TaskKey | tuple[str, int], str], Printed]


@cache
def printed(study: str) -> PrintedTable:
    """The paper's table of a study: (model, task or (dataset, lookback) for a mean over horizons, method) -> scores."""
    found: PrintedTable = {}
    for row in data_rows("study_tables.csv", study=study):
        place = row["dataset"], int(row["lookback"])
        key = place if row["horizon"] == "avg" else TaskKey(*place, int(row["horizon"]))
        scores = (float(row[name]) if row[name] else None for name in ("mse", "mae"))
        found[row["model"], key, row["method"]] = Printed(*scores)
    return found
