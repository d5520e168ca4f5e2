"""Small data and small forecasters that these tests share."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import torch

from olinear.forecaster import Forecaster
from olinear.forecaster.folder import checksum

HORIZON, LOOKBACK = 4, 12
KINDS = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


def waves(rows: int = 150, n_series: int = 3, freq: str = "h", tz: str | None = None, seed: int = 0) -> pd.DataFrame:
    """`time` and a few noisy sines a, b, c …, wide."""
    step = np.arange(rows)[:, None]
    noise = np.random.default_rng(seed).normal(0, 0.1, (rows, n_series))
    values = np.sin(2 * np.pi * step / 12 + np.arange(n_series)) * (1 + np.arange(n_series)) + noise
    times = pd.date_range("2024-01-01", periods=rows, freq=freq, tz=tz)
    return pd.DataFrame({"time": times} | {chr(97 + i): values[:, i] for i in range(n_series)})


def to_long(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.melt("time", var_name="unique_id", value_name="y").rename(columns={"time": "ds"})


def small(horizon: int = HORIZON, lookback: int | None = LOOKBACK, **options: Any) -> Forecaster:
    """A forecaster that fits in a twentieth of a second: the judged model, unless asked for the one of all rows."""
    usual = {"model_dim": 8, "max_epochs": 1, "refit": False, "progress": False}
    return Forecaster(horizon, lookback, **(usual | options))


def to_pandas(frame: Any) -> pd.DataFrame:
    return frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()


def values_of(frame: Any, columns: tuple[str, ...] = ("a", "b", "c")) -> np.ndarray:
    """The forecasts in a wide frame of any kind."""
    return to_pandas(frame)[list(columns)].to_numpy()


def assert_same_frames(first: Any, second: Any) -> None:
    """Bit by bit, with times and columns; the unit a stamp is counted in does not matter."""
    assert type(first) is type(second)
    first, second = (_in_microseconds(to_pandas(frame)) for frame in (first, second))
    pd.testing.assert_frame_equal(first, second, check_exact=True, check_freq=False)


def _in_microseconds(frame: pd.DataFrame) -> pd.DataFrame:
    stamps = frame.select_dtypes(["datetime", "datetimetz"])
    frame = frame.assign(**{name: stamps[name].dt.as_unit("us") for name in stamps})
    return frame.set_axis(frame.index.as_unit("us")) if isinstance(frame.index, pd.DatetimeIndex) else frame


def weights_of(forecaster: Forecaster) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in forecaster.fitted.model.state_dict().items()}


def same_weights(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> bool:
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


CONFIG = "config.json"  # of a model folder
ABSENT = object()


def weights_in(folder: Path) -> Path:
    """The file of a model folder's tensors."""
    return folder / json.loads((folder / CONFIG).read_text())["weights"]


def edit(folder: Path, *, signed: bool = True, **changes: object) -> None:
    """Change keys of a model folder's config.json, with the right checksum or the old one; ABSENT takes one out."""
    config = json.loads((folder / CONFIG).read_text()) | changes
    config = {key: value for key, value in config.items() if value is not ABSENT}
    if signed:
        config["checksum"] = checksum(config)
    (folder / CONFIG).write_text(json.dumps(config))
