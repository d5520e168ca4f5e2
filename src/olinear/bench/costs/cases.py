"""What every model costs, as data: the shapes and settings of `data/efficiency.toml`, and a case for each."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from pydantic import Field

from olinear.bench.spec.datafiles import Strict, data_settings
from olinear.bench.spec.identity import TaskKey
from olinear.bench.spec.model_settings import find_setting
from olinear.bench.spec.model_settings import settings as benchmark_settings
from olinear.core import ConfigError
from olinear.data.datasets import find_dataset
from olinear.models import MAIN, MODELS

REFERENCE = "folded"  # the form of OLinear that all times are relative to
PLAIN_FORM, NORMLIN = "main", "normlin"  # of the other models
MATCHED = "matched"  # the plain form with whatever NormLin's changes besides the mixer: a pair like for like
TRAINED = "trained"  # as `olinear bench run` trains it on ACCURACY, where the table's sizes are others
ACCURACY = TaskKey("ETTh1", 96, 96)  # what accuracy is drawn against cost on
Stage = Literal["inference", "training"]
Form = Literal["plain", "folded", "compact"]


class Shapes(Strict):
    """What one batch looks like, and which numbers of series the paper's table has."""

    lookback: int
    horizon: int
    batch: int
    datasets: dict[str, int]


class Entry(Strict):
    """How a model is built for the table; the keys are explained at the top of the file."""

    of: str = ""
    correlation: bool = False
    forms: tuple[Form, ...] = ()
    options: dict[str, Any] = Field(default_factory=dict)
    at: dict[int, dict[str, Any]] = Field(default_factory=dict)
    normlin: dict[str, Any] | None = None
    note: str = ""
    remark: str = ""


class Settings(Strict):
    """The whole file."""

    shapes: Shapes
    models: dict[str, Entry]


@dataclass(frozen=True)
class Case:
    """One case: a model in a form, for so many series. Its settings are JSON, as the row keeps them."""

    model: str
    form: str
    series: int
    settings: str = "{}"
    lookback: int = 96
    horizon: int = 96
    batch: int = 16

    def __str__(self) -> str:
        form = "" if self.form == PLAIN_FORM else f" {self.form}"
        return f"{self.model}{form}, {self.series} series"

    @property
    def options(self) -> dict[str, Any]:
        return json.loads(self.settings)

    @property
    def registered(self) -> str:
        """The registered model that it is."""
        return entry_of(self.model).of or self.model

    @property
    def stages(self) -> tuple[Stage, ...]:
        """What is measured: what is precomputed or solved has no training step."""
        solved = MODELS.find(self.registered).traits.closed_form
        return ("inference",) if self.form == "compact" or solved else ("inference", "training")


@cache
def settings() -> Settings:
    """What `data/efficiency.toml` says."""
    return Settings(**data_settings("efficiency.toml"))


def entry_of(model: str) -> Entry:
    """What the file says of a model; nothing of one that it does not name."""
    return settings().models.get(model, Entry())


def known_names() -> list[str]:
    """Every registered model, each followed by what has a name of its own only here."""
    named = {name: entry.of for name, entry in settings().models.items() if entry.of}
    return [name for model in MODELS for name in (model, *(other for other, of in named.items() if of == model))]


def table_models() -> list[str]:
    """The models of the table of costs: those that the file names, in the order of the registry."""
    return [name for name in known_names() if name in settings().models]


def find_models(names: Sequence[str] | None) -> list[str]:
    """The spelling of some names, in the order of the registry; without names, those of the table of costs."""
    if names is None:
        return table_models()
    known = {name.casefold(): name for name in known_names()}
    for name in names:
        if name.casefold() not in known:
            raise ConfigError(f"no model is called {name!r}: there are {', '.join(known.values())}")
    wanted = {known[name.casefold()] for name in names}
    return [name for name in known.values() if name in wanted]


def find_series(counts: Sequence[int] | None) -> list[int]:
    """Some of the numbers of series of the table; all without any."""
    known = sorted(settings().shapes.datasets.values())
    for count in counts or []:
        if count not in known:
            raise ConfigError(f"--series must be one of {', '.join(map(str, known))}, found {count}")
    return [count for count in known if not counts or count in counts]


def make_cases(models: Sequence[str], series: Sequence[int]) -> list[Case]:
    """Every form of some models: few series first, so that a run that is stopped leaves whole tables."""
    return [case for count in series for model in models for case in _cases(model, count)]


def reference_case(case: Case) -> Case:
    """OLinear folded, at the same shapes."""
    options = settings().models[MAIN].options
    return Case(MAIN, REFERENCE, case.series, _as_json(options), case.lookback, case.horizon, case.batch)


def without_entry(models: Sequence[str]) -> list[str]:
    """Those that the file does not name, and which are taken with their defaults."""
    return [model for model in models if model not in settings().models]


def _cases(model: str, series: int) -> list[Case]:
    entry, shapes = entry_of(model), settings().shapes
    sizes = (shapes.lookback, shapes.horizon, shapes.batch)
    options = entry.options | entry.at.get(series, {})
    if entry.forms:
        return [Case(model, form, series, _as_json(options), *sizes) for form in entry.forms]
    found = [Case(model, PLAIN_FORM, series, _as_json(options), *sizes)]
    if entry.normlin is not None:
        matched = options | entry.normlin
        found.append(Case(model, NORMLIN, series, _as_json(matched | {"mixer": "normlin"}), *sizes))
        if entry.normlin:
            found.append(Case(model, MATCHED, series, _as_json(matched), *sizes))
    if series == find_dataset(ACCURACY.dataset).series and (trained := _trained_otherwise(model, options)):
        found.append(Case(model, TRAINED, series, _as_json(trained), *sizes))
    return found


def _trained_otherwise(model: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options of the benchmark's main setting, without dropout; none if they make the same model as `options`."""
    if model not in benchmark_settings():
        return {}
    defaults = MODELS.find(model).options()
    trained = find_setting(model, "main", ACCURACY.dataset).options
    trained = trained | ({"dropout": 0.0} if "dropout" in defaults else {})
    return {} if defaults | trained == defaults | options else trained


def _as_json(options: dict[str, Any]) -> str:
    return json.dumps(options, sort_keys=True)
