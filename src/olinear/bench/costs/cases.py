"""What every model costs, as data: the shapes and settings of `data/efficiency.toml`, and a case for each."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from pydantic import Field

from olinear.bench.spec.datafiles import Strict, data_settings
from olinear.bench.spec.model_settings import find_setting
from olinear.bench.spec.model_settings import settings as benchmark_settings
from olinear.bench.spec.task import CORRELATION, TaskKey
from olinear.core import ConfigError
from olinear.data.datasets import find_dataset
from olinear.models import MAIN, MODELS, default_options

STUDY = "efficiency"
ABOUT = "What every model costs on this machine: parameters, multiplications, time, memory; with 7 to 862 series"
OWN = (MAIN, CORRELATION)  # the models that have forms
FORMS = ("plain", "folded", "compact")
REFERENCE = "folded"  # the form of OLinear that all times are relative to
PLAIN_FORM, NORMLIN = "main", "normlin"  # of the other models
MATCHED = "matched"  # the plain form with whatever NormLin's changes beside the mixer: a pair like for like
TRAINED = "trained"  # as `olinear bench run` trains it on ACCURACY, where the table's sizes are others
ACCURACY = TaskKey("ETTh1", 96, 96)  # what accuracy is drawn against cost on
Stage = Literal["inference", "training"]


class Shapes(Strict):
    """What one batch looks like, and which numbers of series the paper's table has."""

    lookback: int
    horizon: int
    batch: int
    datasets: dict[str, int]


class Entry(Strict):
    """How a model is built for the table; the keys are explained at the top of the file."""

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
    """One row to be: a model in a form, for so many series. Its settings are JSON, as the row keeps them."""

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
    def stages(self) -> tuple[Stage, ...]:
        """What is measured: what is precomputed or solved has no training step."""
        solved = self.model in MODELS and MODELS.find(self.model).traits.closed_form
        return ("inference",) if self.form == "compact" or solved else ("inference", "training")


@cache
def settings() -> Settings:
    """What `data/efficiency.toml` says."""
    return Settings(**data_settings("efficiency.toml"))


def known_models() -> list[str]:
    """OLinear, OLinear-C and every other registered model."""
    return [*OWN, *(name for name in MODELS if name not in OWN)]


def find_models(names: Sequence[str] | None) -> list[str]:
    """The spelling of some names, in the order of the registry; all without names."""
    spelt = {known.casefold(): known for known in known_models()}
    for name in names or []:
        if name.casefold() not in spelt:
            raise ConfigError(f"no model is called {name!r}: there are {', '.join(spelt.values())}")
    wanted = {spelt[name.casefold()] for name in names or spelt}
    return [name for name in spelt.values() if name in wanted]


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
    entry, shapes = settings().models.get(model, Entry()), settings().shapes
    sizes = (shapes.lookback, shapes.horizon, shapes.batch)
    options = entry.options | entry.at.get(series, {})
    if model in OWN:
        return [Case(model, form, series, _as_json(options), *sizes) for form in FORMS]
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
    defaults = default_options(model)
    trained = find_setting(model, "main", ACCURACY.dataset).options
    trained = trained | ({"dropout": 0.0} if "dropout" in defaults else {})
    return {} if defaults | trained == defaults | options else trained


def _as_json(options: dict[str, Any]) -> str:
    return json.dumps(options, sort_keys=True)
