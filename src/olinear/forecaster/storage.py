"""A fitted forecaster as a folder: `config.json` and its tensors. Nothing in it is code."""

import platform
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from olinear import __version__
from olinear.core import CheckpointError, MissingDependencyError, as_note
from olinear.data.frames import Panel, StandardScaler, build_frame, parse_frequency
from olinear.forecaster.fitted import Fitted
from olinear.forecaster.folder import FORMAT, VERSION, SavedConfig, find_source, origin_of, unreadable
from olinear.forecaster.intervals import Intervals
from olinear.forecaster.publishing import check_target, fetch, name_weights, publish
from olinear.forecaster.rebuilding import rebuild
from olinear.models import Source, traits_of


def save_fitted(fitted: Fitted, folder: Path, *, context: bool) -> None:
    """Write the folder; the model that is in it already is replaced at once."""
    place = check_target(folder)
    panel, weights = fitted.panel, save(_tensors(fitted, context))
    checksum, name = name_weights(weights)
    config = SavedConfig(
        format=FORMAT,
        format_version=VERSION,
        settings=fitted.settings,
        origin=origin_of(fitted.source),
        series=panel.series,
        active=fitted.active.tolist(),
        nonnegative=fitted.nonnegative.tolist(),
        whole=[] if fitted.whole is None else fitted.whole.tolist(),
        frequency=panel.frequency,
        style=panel.style,
        time_zone=str(panel.times.tz) if getattr(panel.times, "tz", None) is not None else None,
        time_unit=getattr(panel.times, "unit", None),
        trained=fitted.record,
        notes=[note.as_object() for note in map(as_note, panel.notes)],
        calibration_windows=fitted.intervals.windows if fitted.intervals else 0,
        versions={
            "olinear": __version__,
            "torch": torch.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        weights=name,
        weights_sha256=checksum,
    )
    publish(place, config, weights)


def load_fitted(folder: Path, given: Source | None = None) -> Fitted:
    """Rebuild a forecaster from its folder, refusing what is not whole, not ours, or from a later format."""
    config, content = fetch(folder)
    tensors = _open(folder, content)
    source = find_source(folder, config, given)
    try:
        fitted = _put_together(config, tensors, source)
        if fitted.is_general:
            _check_general(fitted)
        else:
            _check_record(fitted)
            _rehearse(fitted)
        return fitted
    except MissingDependencyError:
        raise
    except Exception as error:  # whatever a model's constructor, or a table of time zones, has to say to its settings
        reason = " ".join(f"{error}".split()) or type(error).__name__
        raise CheckpointError(f"{folder} does not fit together: {reason[:300]}") from error


def _put_together(config: SavedConfig, tensors: dict[str, Tensor], source: Source) -> Fitted:
    settings, active = config.settings, np.array(config.active, dtype=bool)
    _check_shapes(config, tensors)
    scaler = StandardScaler(tensors["scaler.mean"].numpy(), tensors["scaler.deviation"].numpy())
    values, times = _context(tensors, config)
    model = None
    if active.any() or not config.series:
        model = rebuild(source, settings, max(int(active.sum()), 1), _of_model(tensors))
    intervals = None
    if "intervals.quantiles" in tensors:
        arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
        intervals = Intervals.from_tensors(arrays, config.calibration_windows, settings.horizon, int(active.sum()))
    stale = tensors["intervals.staleness"].numpy().astype(np.int64) if "intervals.staleness" in tensors else None
    panel = Panel(values, times, config.series, config.frequency, config.style, list(map(as_note, config.notes)))
    nonnegative = np.array(config.nonnegative, dtype=bool)
    whole = np.array(config.whole, dtype=bool) if config.whole else None
    return Fitted(settings, panel, active, nonnegative, scaler, model, intervals, source, config.trained, stale, whole)


def _check_general(fitted: Fitted) -> None:
    """That a model without series forecasts any, and that the least it needs is known."""
    traits = traits_of(fitted.model)
    if not (traits.any_series and traits.any_length):
        raise ValueError("there are no series, and its model does not forecast any number of them")
    least = fitted.record.get("least_rows")
    if type(least) is not int or least < 1 or not isinstance(fitted.record.get("pretrained_on"), list):
        raise ValueError(f"there are no series, and trained.least_rows is {least!r}")


def _check_record(fitted: Fitted) -> None:
    """That what is said of the rows of the fit is true of the last ones, where they are kept."""
    times, record = fitted.panel.times, fitted.record
    for name, kind in {"first": str, "last": str, "rows": int}.items():
        if type(record.get(name)) is not kind:
            raise ValueError(f"trained.{name} is {record.get(name)!r}")
    least = fitted.settings.lookback + fitted.settings.horizon
    if record["rows"] < least:
        raise ValueError(f"lookback and horizon need {least} rows, the fit was to {record['rows']}")
    if len(times) and str(times[-1]) != str(fitted.last_time):
        raise ValueError(f"the last row is of {times[-1]}, the fit was to rows up to {fitted.last_time}")


def _rehearse(fitted: Fitted) -> None:
    """One row of a forecast as a frame: names, times and kind of frame go together.

    It is laid out long in any case, which costs little for thousands of series.
    """
    panel, style = fitted.panel, fitted.panel.style
    times = panel.frequency.after(fitted.last_time, fitted.settings.horizon)[:1]
    long = replace(style, layout="long", numbered=style.numbered and style.layout == "long")
    with suppress(ImportError):  # the library of these frames, which other frames do not need
        build_frame(replace(panel, times=times, style=long), {"": np.zeros((1, len(panel.series)))})


def _check_shapes(config: SavedConfig, tensors: dict[str, Tensor]) -> None:
    """Everything but the model's own weights, whose shapes it checks itself."""
    n, lookback = len(config.series), config.settings.lookback
    if not n == len(config.active) == len(config.nonnegative):
        raise ValueError(f"{n} series, but {len(config.active)} and {len(config.nonnegative)} marks of them")
    if len(config.whole) not in (0, n):
        raise ValueError(f"{n} series, but {len(config.whole)} marks of whole numbers")
    parse_frequency(config.frequency.step) if not config.frequency.counts else None
    shapes = {
        "scaler.mean": (n,),
        "scaler.deviation": (n,),
        "intervals.staleness": (n,),
        "context.values": (lookback, n),
        "context.times": (lookback,),
    }
    for name, shape in shapes.items():
        if name in tensors and tensors[name].shape != shape:
            raise ValueError(f"{name} must have shape {shape}, found {tuple(tensors[name].shape)}")


def _open(folder: Path, content: bytes) -> dict[str, Tensor]:
    try:
        return load(content)
    except (SafetensorError, ValueError, TypeError, KeyError) as error:
        raise unreadable(folder, error) from error


def _of_model(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    prefix = "model."
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def _tensors(fitted: Fitted, context: bool) -> dict[str, Tensor]:
    tensors = {
        "scaler.mean": torch.as_tensor(fitted.scaler.mean),
        "scaler.deviation": torch.as_tensor(fitted.scaler.deviation),
    }
    if fitted.model is not None:
        tensors |= {f"model.{name}": tensor.cpu() for name, tensor in fitted.model.state_dict().items()}
    if fitted.intervals is not None:
        tensors |= {name: torch.as_tensor(array) for name, array in fitted.intervals.tensors().items()}
    if fitted.stale is not None:
        tensors["intervals.staleness"] = torch.as_tensor(fitted.stale.astype(np.int32))
    if context and len(fitted.panel):
        times = fitted.panel.times
        stamps = times.asi8 if isinstance(times, pd.DatetimeIndex) else times.to_numpy(np.int64)
        tensors["context.values"] = torch.tensor(fitted.panel.values)
        tensors["context.times"] = torch.tensor(stamps.tolist(), dtype=torch.int64)
    return {name: tensor.detach().clone().contiguous() for name, tensor in tensors.items()}


def _context(tensors: dict[str, Tensor], config: SavedConfig) -> tuple[Any, pd.Index]:
    if "context.values" not in tensors:
        return np.empty((0, len(config.series))), pd.Index([])
    stamps = tensors["context.times"].numpy()
    if config.frequency.counts:
        return tensors["context.values"].numpy(), pd.Index(stamps)
    times = pd.DatetimeIndex(stamps.view(f"datetime64[{config.time_unit}]"))
    if config.time_zone is not None:
        times = times.tz_localize("UTC").tz_convert(config.time_zone)
    return tensors["context.values"].numpy(), times
