"""What a forecaster is made with: chosen from the data where the user does not say."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from olinear.core import ConfigError, DataError
from olinear.core.settings import ModelSettings, Settings, ValidationSettings, check_given, flatten, make_settings
from olinear.data.frames import Frequency
from olinear.models import Source, card_of, check_options

MOST_LOOKBACK = 720
MOST_HELD_OUT = 20  # horizons
MOST_REFITTED = 1000  # rows; benchmarks/refit.py measures what a second training brings
MOST_CELLS = 1_000_000  # in those rows; of thousands of series it is known only what a second training costs

EPOCH_STEPS = 1000  # at the most; benchmarks/large.py measures what fewer cost


def choose_settings(
    given: Mapping[str, Any], source: Source, rows: int, n_series: int, frequency: Frequency
) -> Settings:
    """The settings as given, by flat names; the others (None) from the size of the data.

    Everything follows from the number of rows and series and from the frequency: small data gets a small model and
    small batches, large data fewer epochs, very large data epochs of a part of it.
    """
    given = check_given({**given, "model": card_of(source).name})
    if "horizon" not in given:
        raise ConfigError("horizon must be given: how many steps to forecast")
    horizon = given["horizon"]
    lookback = given.setdefault("lookback", default_lookback(horizon, rows, frequency.season))
    if rows < lookback + horizon:
        raise DataError(
            f"lookback {lookback} and horizon {horizon} need {lookback + horizon} rows, found {rows}: pass more rows, "
            "or a shorter lookback or horizon"
        )
    windows = rows - lookback - horizon + 1
    judging = validation_rows(rows, given.get("validation", ValidationSettings().share), lookback, horizon)
    if 0 < given.setdefault("holdout", default_holdout(judging, horizon)) < horizon:
        raise ConfigError(
            f"holdout must be 0 or at least one horizon of {horizon} rows, found {given['holdout']}: pass "
            f"holdout={horizon} or more"
        )
    given.setdefault("refit", rows <= MOST_REFITTED and rows * n_series <= MOST_CELLS)
    training = _training_for(windows, n_series) | given
    if not card_of(source).traits.closed_form:
        training.setdefault("epoch_steps", _epoch_steps(windows - judging, training["batch_size"]))
    settings = make_settings(training | _model_for(given, source, windows, n_series))
    check_options(source, settings.model.arguments)
    return settings


def _training_for(windows: int, n_series: int) -> dict[str, Any]:
    large = windows >= 5000
    return {
        "batch_size": 8 if windows < 250 else 16 if windows < 1000 or n_series > 100 else 32,
        "learning_rate": 5e-4,
        "schedule": "type1" if large else "type3",
        "max_epochs": 15 if large else 30,
        "patience": 3 if large else 6,
    }


def _epoch_steps(windows: int, batch_size: int) -> int:
    """None is set (0) where all windows make no more steps than that."""
    return EPOCH_STEPS if windows > EPOCH_STEPS * batch_size else 0


def _model_for(given: Mapping[str, Any], source: Source, windows: int, n_series: int) -> dict[str, Any]:
    """The model's sizes for this data, where they are not given, and its options as the folder will hold them."""
    options = {name: _as_saved(name, value) for name, value in given.get("options", {}).items()}
    for name, value in options.items():
        if name in given:
            raise ConfigError(f"{name} is given twice, as {given[name]!r} and as option {value!r}: leave one out")
    chosen = card_of(source).choose(windows, n_series) if isinstance(source, str | type) else {}
    chosen = {name: value for name, value in chosen.items() if name not in given and name not in options}
    parts = {name: value for name, value in chosen.items() if name in ModelSettings.model_fields}
    return parts | {"options": options | {name: value for name, value in chosen.items() if name not in parts}}


def _as_saved(name: str, value: Any) -> Any:
    """An option as the model folder will hold it, so that the model is built now as it will be after loading."""
    try:
        return json.loads(json.dumps(value, default=_plain_number, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"option {name!r} is {value!r}, which cannot be saved with the model: pass a number, true or false, or a "
            "name, such as 'flowformer' for a mixer; a model of other parts can be given whole, Forecaster(model=…)"
        ) from error


def _plain_number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not JSON")


def as_given(settings: Settings) -> dict[str, Any]:
    """What makes `choose_settings` choose these again; the device is left open, for the machine may be another."""
    return flatten(settings) | {"device": None}


def default_lookback(horizon: int, rows: int, season: int) -> int:
    """Four short seasons or two long ones, at least twice the horizon, at most a quarter of the rows and 720."""
    wanted = max(4 * season if season <= 24 else 2 * season, 2 * horizon, 8)
    return max(min(max(min(wanted, MOST_LOOKBACK, rows // 4), 8), rows - horizon), 1)


def validation_rows(rows: int, share: float, lookback: int, horizon: int) -> int:
    """How many of the newest rows do not train: their share, at least a horizon; none if that leaves no window."""
    found = min(max(int(share * rows), horizon), rows - lookback - horizon)
    return found if found >= horizon else 0


def default_holdout(judging: int, horizon: int) -> int:
    """How many of the rows that do not train are seen by no choice: whole horizons, a quarter of them, at most twenty.

    One horizon where a quarter is less, if that leaves two to choose by; else none.
    """
    horizons = min(judging // 4 // horizon, MOST_HELD_OUT)
    return horizon * (horizons or int(judging >= 3 * horizon))
