"""How the other forecasters are built and trained, and how else OLinear may be: `data/models.toml`."""

from functools import cache
from typing import Any

from pydantic import Field

from olinear.bench.datafiles import Strict, data_settings
from olinear.errors import ConfigError
from olinear.zoo import find_model


class Setting(Strict):
    """Options of a model, and what its training changes of the task's (batch size, learning rate, …)."""

    options: dict[str, Any] = Field(default_factory=dict)
    training: dict[str, Any] = Field(default_factory=dict)
    loss: str = "l2"


class AnyModel(Strict):
    """What is not one model's: ways to train any of them, and which of them is its main one on a dataset."""

    training: dict[str, dict[str, Any]]  # name of a setting -> training
    chosen: dict[str, dict[str, str]]  # dataset -> model -> name of a setting


@cache
def settings() -> dict[str, dict[str, Setting]]:
    """Model -> name of a setting -> setting."""
    found = {model: by_name for model, by_name in data_settings("models.toml").items() if model != "any"}
    return {model: {name: Setting(**setting) for name, setting in by_name.items()} for model, by_name in found.items()}


@cache
def for_any_model() -> AnyModel:
    """What is shared by all models but OLinear."""
    return AnyModel(**data_settings("models.toml")["any"])


def find_setting(model: str, name: str = "main", dataset: str = "") -> Setting:
    """A setting of a model by its name; the main one may be another on a dataset."""
    model, shared = find_model(model), for_any_model()
    known = settings().get(model, {})
    own = dataset if dataset in known else "main"
    if name == "main":
        name = shared.chosen.get(dataset, {}).get(model, own)
    if name in shared.training and own in known:
        return known[own].model_copy(update={"training": shared.training[name]})
    if name not in known:
        raise ConfigError(f"{model} has no setting {name!r}: it has {', '.join(known) or 'none'}")
    return known[name]
