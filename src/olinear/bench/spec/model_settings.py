"""How the other forecasters are built and trained, and how else OLinear may be: `data/models.toml`."""

from functools import cache
from typing import Any

from pydantic import Field

from olinear.bench.spec.datafiles import Strict, data_settings
from olinear.core import ConfigError
from olinear.models import find_model

ANY = "any"  # in the file, where a setting is not one model's
ELSEWHERE = "elsewhere"  # main as on datasets without a setting of their own


class Setting(Strict):
    """Options of a model, and what its training changes of the task's (batch size, learning rate, …)."""

    options: dict[str, Any] = Field(default_factory=dict)
    training: dict[str, Any] = Field(default_factory=dict)
    loss: str = "l2"


class Shared(Strict):
    """A model's main loss and options, unless others are given, trained as one of ANY says."""

    trained: str
    options: dict[str, Any] | None = None


@cache
def settings() -> dict[str, dict[str, Setting]]:
    """Model, or ANY for all but OLinear -> name of a setting -> setting."""
    found = data_settings("models.toml")
    shared = {name: Setting(**setting) for name, setting in found[ANY].items()}

    def make(model: str, setting: dict[str, Any]) -> Setting:
        if "trained" not in setting:
            return Setting(**setting)
        given, main = Shared(**setting), Setting(**found[model]["main"])
        options = main.options if given.options is None else given.options
        return main.model_copy(update={"training": shared[given.trained].training, "options": options})

    return {model: {name: make(model, each) for name, each in by_name.items()} for model, by_name in found.items()}


def find_setting(model: str, name: str = "main", dataset: str = "") -> Setting:
    """A setting of a model by its name; the main one may be another on a dataset of that name."""
    model = find_model(model)
    known = settings().get(model, {})
    main = known.get(dataset) or known.get("main")
    if main and name == "main":
        return main
    if main and name == ELSEWHERE:
        return known["main"]
    if main and name in settings()[ANY]:
        return main.model_copy(update={"training": settings()[ANY][name].training})
    if name not in known:
        raise ConfigError(f"{model} has no setting {name!r}: it has {', '.join(known) or 'none'}")
    return known[name]
