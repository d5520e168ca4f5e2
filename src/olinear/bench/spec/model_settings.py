"""How models are built and trained where a task does not say so, and in other ways: `data/models.toml`."""

from functools import cache
from typing import Any

from pydantic import Field

from olinear.bench.spec.datafiles import Strict, data_settings
from olinear.core import ConfigError
from olinear.core.settings import TrainingConfig
from olinear.models import MODELS

ANY = "any"  # in the file, where a setting is not one model's
ELSEWHERE = "elsewhere"  # main as on datasets without a setting of their own


class Setting(Strict):
    """Options of a model, its training (batch size, learning rate, …), its loss; perhaps changes of a task's own."""

    options: dict[str, Any] = Field(default_factory=dict)
    training: dict[str, Any] = Field(default_factory=dict)
    loss: str = "l2"
    of_task: bool = False  # what is not named is as in the task's own setting of the model

    @property
    def config(self) -> TrainingConfig:
        """The training as a whole."""
        return TrainingConfig(**{"loss": self.loss} | self.training)

    def on(self, other: "Setting") -> "Setting":
        """Another setting with the changes of this one."""
        options, training = other.options | self.options, other.training | self.training
        return Setting(options=options, training=training, loss=other.loss)


class Shared(Strict):
    """A model's main loss and options, unless others are given, trained as one of ANY says."""

    trained: str
    options: dict[str, Any] | None = None


@cache
def settings() -> dict[str, dict[str, Setting]]:
    """Model, or ANY for all that have a main one here -> name of a setting -> setting."""
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
    model = MODELS.find(model).name
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
