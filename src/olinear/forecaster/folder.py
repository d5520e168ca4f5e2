"""What `config.json` of a model folder holds, in this format and in earlier ones."""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pydantic import BaseModel, ConfigDict

from olinear.core import CheckpointError
from olinear.core.settings import Settings
from olinear.data.frames import FrameStyle, Frequency
from olinear.models import MODELS, Source, card_of

FORMAT, VERSION = "olinear-model", 2
PARTS_1 = ("basis", "model_dim", "embed_dim", "blocks", "dropout", "rank")


class Origin(BaseModel):
    """Where a model comes from that is not one of olinear's own: its class and the package that brings it."""

    model_config = ConfigDict(extra="forbid")

    place: str
    package: str
    version: str | None
    registered: bool


class SavedConfig(BaseModel):
    """`config.json`: everything needed to rebuild the forecaster but its tensors."""

    model_config = ConfigDict(extra="forbid")

    format: str
    format_version: int
    settings: Settings
    origin: Origin | None = None
    series: list[str]
    active: list[bool]
    nonnegative: list[bool]
    frequency: Frequency
    style: FrameStyle
    time_zone: str | None
    time_unit: str | None
    trained: dict[str, Any]
    notes: list[str]
    calibration_windows: int
    versions: dict[str, str]
    weights_sha256: str


def upgrade(raw: dict[str, Any]) -> dict[str, Any]:
    """The content of a folder of an earlier format as this one has it."""
    if raw.get("format_version") == 1:
        raw = raw | {"settings": _settings_of_1(raw.get("settings")), "format_version": VERSION}
    return raw


def _settings_of_1(old: Any) -> Any:
    """Format 1 had the settings of OLinear side by side, and those of other models as options."""
    if not isinstance(old, Mapping):
        return old
    rest = dict(old)
    parts = {name: rest.pop(name) for name in PARTS_1 if name in rest}
    model = {"name": rest.pop("model", "OLinear"), "options": rest.pop("options", {})}
    if model["name"] == "OLinear":
        model |= parts
    tree: dict[str, Any] = {"model": model}
    for section, names in (("task", ("horizon", "lookback")), ("reading", ("missing",))):
        tree[section] = {name: rest.pop(name) for name in names if name in rest}
    moved = {"validation": "share", "refit": "refit"}
    tree["validation"] = {new: rest.pop(name) for name, new in moved.items() if name in rest}
    return rest | tree  # what is left over is refused where the tree is checked


def origin_of(source: Source) -> Origin | None:
    """What is written down of a model from outside; None for olinear's own."""
    card = card_of(source)
    registered = isinstance(source, str) or card.name in MODELS
    if card.package == "olinear":
        return None
    try:
        brought = version(card.package)
    except PackageNotFoundError:
        brought = None
    return Origin(place=card.use, package=card.package, version=brought, registered=registered)


def find_source(folder: object, config: SavedConfig, given: Source | None) -> Source:
    """What the folder's model is made of: its registered name, or what the caller gives.

    Nothing that a folder names is imported on its word: a name must be registered, by olinear or by an installed
    package, and everything else must be given.
    """
    name, origin = config.settings.model.name, config.origin
    if given is not None:
        if card_of(given).name != name:
            raise CheckpointError(f"{folder} holds a model {name}, given was {card_of(given).name}: pass the same")
        return given
    if name in MODELS:
        return name
    if origin is not None and origin.registered:
        wanted = origin.package + (f" ({origin.version} when it was saved)" if origin.version else "")
        raise CheckpointError(
            f"{folder} holds the model {name} of the package {wanted}, which is not installed here: pip install "
            f"{origin.package}"
        )
    raise CheckpointError(
        f"{folder} holds a model of the class {name}, which is not registered here: pass the class or the module, "
        "Forecaster.load(folder, model=…)"
    )
