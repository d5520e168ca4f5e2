"""A fitted forecaster as a folder: `config.json` and `weights.safetensors`. Nothing in it is code."""

import hashlib
import json
import os
import platform
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from pydantic import ValidationError
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from olinear import __version__
from olinear.core import CheckpointError, OutputError
from olinear.core.runtime import private_draws
from olinear.data.frames import Panel, StandardScaler, parse_frequency
from olinear.forecaster.fitted import Fitted
from olinear.forecaster.folder import FORMAT, VERSION, SavedConfig, find_source, origin_of, upgrade
from olinear.forecaster.intervals import Intervals
from olinear.models import Source, empty_model

CONFIG, WEIGHTS = "config.json", "weights.safetensors"


def save_fitted(fitted: Fitted, folder: Path, *, context: bool) -> None:
    """Write the folder under another name, then rename it; an older model of that name is replaced."""
    folder = folder.resolve()
    check_target(folder)
    panel, tensors = fitted.panel, _tensors(fitted, context)
    weights = save(tensors)
    config = SavedConfig(
        format=FORMAT,
        format_version=VERSION,
        settings=fitted.settings,
        origin=origin_of(fitted.source),
        series=panel.series,
        active=fitted.active.tolist(),
        nonnegative=fitted.nonnegative.tolist(),
        frequency=panel.frequency,
        style=panel.style,
        time_zone=str(panel.times.tz) if getattr(panel.times, "tz", None) is not None else None,
        time_unit=getattr(panel.times, "unit", None),
        trained=fitted.record,
        notes=panel.notes,
        calibration_windows=fitted.intervals.windows if fitted.intervals else 0,
        versions={
            "olinear": __version__,
            "torch": torch.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
        weights_sha256=hashlib.sha256(weights).hexdigest(),
    )
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        try:
            (part / WEIGHTS).write_bytes(weights)
            (part / CONFIG).write_text(config.model_dump_json(indent=2) + "\n", encoding="utf-8")
            part.chmod(0o755)
            _swap_in(part, folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be written: {error.strerror or error}") from error


def load_fitted(folder: Path, given: Source | None = None) -> Fitted:
    """Rebuild a forecaster from its folder, refusing what is not whole, not ours, or from a later format."""
    config, tensors = _read(folder)
    source = find_source(folder, config, given)
    settings, active = config.settings, np.array(config.active, dtype=bool)
    try:
        _check_shapes(config, tensors)
        scaler = StandardScaler(tensors["scaler.mean"].numpy(), tensors["scaler.deviation"].numpy())
        values, times = _context(tensors, config)
        model = None
        if active.any():
            with private_draws():  # a new model draws weights
                sizes = (int(active.sum()), settings.lookback, settings.horizon)
                model = empty_model(source, *sizes, **settings.model.arguments)
            prefix = "model."
            model.load_state_dict(
                {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
            )
            model.eval()
        intervals = None
        if "intervals.quantiles" in tensors:
            arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
            intervals = Intervals.from_tensors(arrays, config.calibration_windows, settings.horizon, int(active.sum()))
        stale = tensors["intervals.staleness"].numpy() if "intervals.staleness" in tensors else None
    except (ArithmeticError, KeyError, TypeError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise CheckpointError(f"{folder} does not fit together: {reason[:300]}") from error
    panel = Panel(values, times, config.series, config.frequency, config.style, config.notes)
    nonnegative = np.array(config.nonnegative, dtype=bool)
    return Fitted(settings, panel, active, nonnegative, scaler, model, intervals, source, config.trained, stale)


def _check_shapes(config: SavedConfig, tensors: dict[str, Tensor]) -> None:
    """Everything but the model's own weights, whose shapes it checks itself."""
    n, lookback = len(config.series), config.settings.lookback
    if not (n == len(config.active) == len(config.nonnegative) > 0):
        raise ValueError(f"{n} series, but {len(config.active)} and {len(config.nonnegative)} marks of them")
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


def _read(folder: Path) -> tuple[SavedConfig, dict[str, Tensor]]:
    for name in (CONFIG, WEIGHTS):
        if not (folder / name).is_file():
            raise CheckpointError(f"{folder} is not a model folder: it has no {name}")
    try:
        raw = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        if not isinstance(raw, dict) or raw.get("format") != FORMAT:
            raise CheckpointError(f"{folder} is not an olinear model: {CONFIG} is of another kind")
        version = raw.get("format_version")
        if not isinstance(version, int) or version > VERSION:
            raise CheckpointError(
                f"{folder} was saved in format {version}, this olinear reads formats up to {VERSION}: upgrade olinear"
            )
        config = SavedConfig.model_validate(upgrade(raw))
        weights = (folder / WEIGHTS).read_bytes()
        if hashlib.sha256(weights).hexdigest() != config.weights_sha256:
            raise CheckpointError(f"{folder}/{WEIGHTS} is damaged or from another model: save or copy the folder again")
        return config, load(weights)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise CheckpointError(f"{folder}/{CONFIG} does not fit at {where}: {first['msg']}") from error
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError, SafetensorError) as error:
        raise CheckpointError(f"{folder} cannot be read as a model: {str(error).splitlines()[0]}") from error


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
        tensors["intervals.staleness"] = torch.as_tensor(fitted.stale)
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


def check_target(folder: Path) -> None:
    """Replace only what is a model or empty: never somebody's other folder."""
    if folder.is_file():
        raise OutputError(f"{folder} cannot be written: it is a file")
    place = folder.resolve()
    parent = next(parent for parent in (*place.parents, place) if parent.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise OutputError(f"{folder} cannot be written: {parent} is no folder to write to")
    if folder.is_dir() and any(folder.iterdir()) and not _is_model(folder):
        raise OutputError(f"{folder} exists and is not a model folder: choose another name")


def _is_model(folder: Path) -> bool:
    try:
        return bool(json.loads((folder / CONFIG).read_text(encoding="utf-8"))["format"] == FORMAT)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def _swap_in(part: Path, folder: Path) -> None:
    """Put the finished folder in its place; the old one steps aside, and is put back whatever goes wrong."""
    if not folder.exists():
        part.rename(folder)
        return
    old = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        folder.replace(old)
        try:
            part.rename(folder)
        except BaseException:
            old.rename(folder)
            raise
    finally:
        shutil.rmtree(old, ignore_errors=True)
