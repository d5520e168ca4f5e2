"""What a forecaster is made with: chosen from the data where the user does not say."""

import json
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from olinear.core import ConfigError, DataError
from olinear.data.frames import Frequency
from olinear.models import MAIN, check_options, find_model
from olinear.training import TrainingConfig

MODEL_ARGUMENTS = ("basis", "model_dim", "blocks", "dropout", "rank")


class Settings(BaseModel):
    """All that rebuilds the model and its training; saved with it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    horizon: int = Field(ge=1, description="steps to forecast")
    lookback: int = Field(ge=1, description="steps the forecast looks back on")
    model: str = Field(MAIN, description="which forecaster, of those that `olinear models` lists")
    options: dict[str, Any] = Field({}, description="of a forecaster other than OLinear, which has the next six")
    basis: str = Field("pearson", description="orthogonal basis of both time axes")
    model_dim: int | None = Field(None, ge=1, description="width of the model")
    embed_dim: int = Field(16, ge=1, description="length of the dimension extension")
    blocks: int | None = Field(None, ge=0, description="number of blocks")
    dropout: float | None = Field(None, ge=0, lt=1)
    rank: int | None = Field(None, ge=1, description="of NormLin's factors, for many series; None for the whole matrix")
    validation: float = Field(0.2, gt=0, lt=1, description="share of the rows, the newest, that validates")
    refit: bool = Field(False, description="train again on all rows for the chosen number of epochs")
    missing: Literal["bridge", "error"] = "bridge"
    training: TrainingConfig


def choose_settings(given: Mapping[str, Any], rows: int, n_series: int, frequency: Frequency) -> Settings:
    """The fields of `Settings` and its training as given, the others (None) from the size of the data.

    Everything follows from the number of rows and series and from the frequency: small data gets a small model and
    small batches, large data fewer epochs.
    """
    given = {name: value for name, value in given.items() if value is not None}
    given["model"] = find_model(given.get("model", MAIN))
    if given["model"] == MAIN and given.get("options"):
        raise ConfigError(
            "options= is for other models, as is --option: what OLinear takes here has an argument of its own, such as "
            "model_dim= or --model-dim, and olinear.training.train trains one of other parts (mixer=, temporal=, …)"
        )
    horizon = given["horizon"]
    lookback = given.setdefault("lookback", default_lookback(horizon, rows, frequency.season))
    if rows < lookback + horizon:
        raise DataError(
            f"lookback {lookback} and horizon {horizon} need {lookback + horizon} rows, found {rows}: pass more rows, "
            "or a shorter lookback or horizon"
        )
    windows = rows - lookback - horizon + 1
    large = windows >= 5000
    own = {
        "model_dim": 64 if windows < 500 else 128 if windows < 20000 else 256,
        "blocks": 1 if windows < 500 else 2,
        "dropout": 0.1,
    }
    if given["model"] != MAIN:
        given, own = _as_options(given), {}
    chosen = (
        own
        | {
            "batch_size": 8 if windows < 250 else 16 if windows < 1000 or n_series > 100 else 32,
            "learning_rate": 5e-4,
            "schedule": "type1" if large else "type3",
            "max_epochs": 15 if large else 30,
            "patience": 3 if large else 6,
        }
        | given
    )
    training = {name: chosen.pop(name) for name in TrainingConfig.model_fields if name in chosen}
    try:
        return Settings(training=TrainingConfig(**training), **chosen)
    except ValidationError as error:
        first = error.errors()[0]
        raise ConfigError(f"{first['loc'][0]}: {first['msg']}, found {first['input']!r}") from error


def _as_options(given: dict[str, Any]) -> dict[str, Any]:
    """What was given for OLinear's parts is passed to another model as its own option of that name."""
    parts, options = {name: given[name] for name in MODEL_ARGUMENTS if name in given}, dict(given.get("options", {}))
    for name in parts:
        if name in options:
            raise ConfigError(
                f"{name} is given twice, as {parts[name]!r} and as option {options[name]!r}: leave one out"
            )
    options |= parts
    check_options(given["model"], options)
    options = {name: _as_saved(name, value) for name, value in options.items()}
    return {name: value for name, value in given.items() if name not in parts} | {"options": options}


def _as_saved(name: str, value: Any) -> Any:
    """An option as the model folder will hold it, so that the model is built now as it will be after loading."""
    try:
        return json.loads(json.dumps(value, default=_plain_number, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"option {name!r} is {value!r}, which cannot be saved with the model: pass a number, true or false, or a "
            "name, such as 'flowformer' for a mixer; olinear.training.train trains a module made of anything"
        ) from error


def _plain_number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not JSON")


def as_given(settings: Settings) -> dict[str, Any]:
    """What makes `choose_settings` choose these again; the device is left open, for the machine may be another."""
    given = settings.model_dump(exclude={"training"}) | settings.training.model_dump(exclude={"device"})
    unused = () if settings.model == MAIN else MODEL_ARGUMENTS  # such a model has them among its options
    return {name: value for name, value in given.items() if name not in unused}


def default_lookback(horizon: int, rows: int, season: int) -> int:
    """Four short seasons or two long ones, at least twice the horizon, at most a quarter of the rows and 720."""
    wanted = max(4 * season if season <= 24 else 2 * season, 2 * horizon, 8)
    return max(min(max(min(wanted, 720, rows // 4), 8), rows - horizon), 1)
