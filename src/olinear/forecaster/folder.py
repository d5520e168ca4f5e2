"""What `config.json` of a model folder holds, in this format and in earlier ones."""

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from olinear.core import CheckpointError
from olinear.core.settings import Settings
from olinear.data.frames import FrameStyle, Frequency
from olinear.models import MODELS, Source, card_of

FORMAT, VERSION = "olinear-model", 5
CONFIG: str = "config.json"
OLD_WEIGHTS: str = "weights.safetensors"
WEIGHTS = r"weights(-[0-9a-f]{16})?\.safetensors"  # all names that the file of the tensors can have
CHECKED_SINCE = 3  # the format from which on config.json has a checksum
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
    whole: list[bool] = []  # empty in folders of formats 1 to 3
    frequency: Frequency
    style: FrameStyle
    time_zone: str | None
    time_unit: str | None
    trained: dict[str, Any]
    notes: list[str | dict[str, Any]]  # text in folders of before
    calibration_windows: int
    versions: dict[str, str]
    weights: str = Field(pattern=f"^{WEIGHTS}$")
    weights_sha256: str


def write_config(config: SavedConfig) -> str:
    """The text of `config.json`, with its own checksum."""
    raw = json.loads(config.model_dump_json())
    return json.dumps(raw | {"checksum": checksum(raw)}, indent=2, ensure_ascii=False) + "\n"


def read_config(folder: Path, content: bytes) -> SavedConfig:
    """The content of `config.json`, of this format or an earlier one; refused if it is not as it was saved."""
    try:
        raw = json.loads(content.decode("utf-8"))
        if not isinstance(raw, dict) or raw.get("format") != FORMAT:
            raise CheckpointError(f"{folder} is not an olinear model: {CONFIG} is of another kind")
        number = raw.get("format_version")
        if type(number) is not int or not 1 <= number <= VERSION:
            raise CheckpointError(
                f"{folder} was saved in format {number}, this olinear reads formats 1 to {VERSION}: upgrade olinear"
            )
        if number >= CHECKED_SINCE and raw.pop("checksum", None) != checksum(raw):
            raise CheckpointError(
                f"{folder}/{CONFIG} is not as it was saved, by damage or by an edit: copy the folder again, or fit and "
                "save the model again with the settings you want"
            )
        return SavedConfig.model_validate(upgrade(raw))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise CheckpointError(f"{folder}/{CONFIG} does not fit at {where}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise unreadable(folder, error) from error


def unreadable(folder: Path, error: Exception) -> CheckpointError:
    """In one line, whatever was raised."""
    reason = next(iter(str(error).splitlines()), type(error).__name__)
    return CheckpointError(f"{folder} cannot be read as a model: {reason[:300]}")


def checksum(raw: Mapping[str, Any]) -> str:
    """Of everything in `config.json` but the checksum itself, however it is laid out."""
    rest = {name: value for name, value in raw.items() if name != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{FORMAT}\n{text}".encode()).hexdigest()


def upgrade(raw: dict[str, Any]) -> dict[str, Any]:
    """The content of a folder of an earlier format as this one has it."""
    if raw["format_version"] == 1:
        raw = raw | {"settings": _settings_of_1(raw.get("settings")), "format_version": 2}
    if raw["format_version"] == 2:
        raw = raw | {"weights": OLD_WEIGHTS, "format_version": 3}
    if raw["format_version"] == 3:  # how times and numbers were written, which the style has since, is left open
        style = raw.get("style")
        if isinstance(style, dict):
            raw = raw | {"style": style | {"zone": raw.get("time_zone")}}
        raw = raw | {"format_version": 4}
    if raw["format_version"] == 4:
        raw = raw | {"settings": _settings_of_4(raw.get("settings")), "format_version": 5}
    return raw


def _settings_of_4(old: Any) -> Any:
    """Up to format 4, precision was a switch for CUDA; what it was fitted with forecasts in float32."""
    training = old.get("training") if isinstance(old, Mapping) else None
    if not isinstance(training, Mapping) or "mixed_precision" not in training:
        return old
    rest = {name: value for name, value in training.items() if name != "mixed_precision"}
    return {**old, "training": rest | {"precision": "auto" if training["mixed_precision"] is True else "float32"}}


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
