"""Sound model folders and checkpoints to do damage to, and what each of them gives while it is whole."""

import hashlib
import shutil
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from olinear import Forecaster
from olinear.core import OLinearError
from olinear.forecaster.service import PredictRequest, predict
from olinear.training import Callback, StopWhen
from olinear.training.checkpoints import load_checkpoint, save_checkpoint

FIXTURES = Path(__file__).parents[2] / "tests" / "fixtures"
HORIZON, LOOKBACK = 4, 12
Make = Callable[[pd.DataFrame], tuple[Forecaster, Any]]


def waves(rows: int = 150, freq: str = "h", tz: str | None = None) -> pd.DataFrame:
    """A wide table of four series; one never moves, one has gaps, one was never negative."""
    step = np.arange(rows)[:, None]
    noise = np.random.default_rng(0).normal(0, 0.1, (rows, 3))
    values = np.sin(2 * np.pi * step / 12 + np.arange(3)) * (1 + np.arange(3)) + noise + [0, 0, 8]
    frame = pd.DataFrame({"time": pd.date_range("2024-01-01", periods=rows, freq=freq, tz=tz)})
    frame = frame.assign(a=values[:, 0], b=values[:, 1], c=values[:, 2], still=3.0)
    frame.loc[20:24, "b"] = np.nan
    return frame


def small(**options: Any) -> Forecaster:
    """A forecaster that fits in a twentieth of a second."""
    defaults = {"horizon": HORIZON, "lookback": LOOKBACK, "max_epochs": 1, "progress": False}
    model = {} if "model" in options else {"model_dim": 8}
    return Forecaster(**defaults | model | options)


def long(frame: pd.DataFrame) -> pd.DataFrame:
    """One row for each series and time."""
    return frame.melt("time", var_name="unique_id", value_name="y").rename(columns={"time": "ds"})


def polars_of(frame: pd.DataFrame) -> Any:
    import polars

    return polars.from_pandas(frame)


def counted(frame: pd.DataFrame) -> pd.DataFrame:
    """Times that are whole numbers."""
    return frame.assign(time=np.arange(len(frame)) + 100)


# Each gives what is fitted, and to which rows.
FOLDERS: dict[str, Make] = {
    "usual": lambda frame: (small(), frame),
    "zoned, indexed": lambda _: (small(), waves(tz="Europe/Berlin").set_index("time")),
    "long, polars": lambda frame: (small(mixer="attention", point="mean"), polars_of(long(frame))),
    "days, business": lambda _: (small(rank=2, bounds=(-5, 20)), waves(freq="B")),
    "months": lambda _: (small(refit=True, blocks=2, head="linear"), waves(freq="MS")),
    "whole numbers": lambda frame: (small(mixer="none", affine=True), counted(frame)),
    "rows": lambda frame: (small(freq="rows", temporal="normlin"), frame.drop(index=[30, 31, 90])),
    "without intervals": lambda frame: (small(), frame[:18]),
    "all constant": lambda frame: (small(), frame[["time", "still"]]),
    "Ridge": lambda frame: (small(model="Ridge"), frame),
    "Gaussian": lambda frame: (small(model="Gaussian"), frame),
    "DLinear": lambda frame: (small(model="DLinear"), frame),
    "PatchTST": lambda frame: (small(model="PatchTST", options={"model_dim": 8, "heads": 1}), frame),
    "TimesNet": lambda frame: (small(model="TimesNet", options={"model_dim": 4}), frame),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "adam": {"dropout": 0.1},
    "adamw, averaged": {"optimizer": "adamw", "weight_decay": 0.01, "average_decay": 0.9},
    "sgd, clipped": {"optimizer": "sgd", "clip_norm": 1.0},
    "iTransformer": {"model": "iTransformer", "options": {"model_dim": 8, "heads": 1}},
}


@dataclass(frozen=True)
class Subject:
    """A sound folder or checkpoint: its place, the rows it goes with, and the answer it gives."""

    name: str
    place: Path
    data: Any
    answer: str

    @property
    def is_folder(self) -> bool:
        return self.place.is_dir()


def make_subjects(work: Path, names: Sequence[str] = ()) -> list[Subject]:
    """Those of these names, or all of them; the folders of earlier formats first."""
    fixtures = sorted(path.name for path in FIXTURES.glob("model-v*") if path.is_dir())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            _make(name, work / name) for name in names or (*fixtures, *FOLDERS, *(f"{name}.run" for name in OPTIONS))
        ]


def _make(name: str, place: Path) -> Subject:
    if place.suffix == ".run":
        return _checkpoint(place)
    if name in FOLDERS:
        forecaster, data = FOLDERS[name](waves())
        forecaster.fit(data).save(place)
    else:
        data = _rows_for(Forecaster.load(shutil.copytree(FIXTURES / name, place)))
    return Subject(name, place, data, answer_of_folder(place, data))


def _rows_for(forecaster: Forecaster) -> pd.DataFrame:
    """The context of a model, once more as data."""
    panel = forecaster.fitted.panel
    return pd.DataFrame({panel.style.time: panel.times} | dict(zip(panel.series, panel.values.T, strict=True)))


def _checkpoint(path: Path) -> Subject:
    """A fit that was stopped: after an epoch, in the middle of the second, or at the end."""
    stop = (4, 6, 10**9)[list(OPTIONS).index(path.stem) % 3]
    to_checkpoint(path.name).fit(waves(), checkpoint=path, callbacks=[_stop_after(stop)])
    _forget_seconds(path)
    return Subject(path.name, path, waves(), answer_of_fit(path.name))


def _forget_seconds(path: Path) -> None:
    """So that a case is the same in every run."""
    tensors, record = load_checkpoint(path)
    record["position"] |= {"seconds": 1.0, "history": [one | {"seconds": 1.0} for one in record["position"]["history"]]}
    save_checkpoint(path, tensors, record)


def to_checkpoint(name: str) -> Forecaster:
    """A forecaster whose fit is to be resumed, by the name of its checkpoint."""
    return small(max_epochs=3, batch_size=32, checkpoint_seconds=0, **OPTIONS[name.removesuffix(".run")])


def _stop_after(steps: int) -> Callback:
    count = iter(range(10**9))
    return StopWhen(lambda: next(count) >= steps)


def answer_of_folder(folder: Path, data: Any) -> str:
    """A digest of what the model forecasts, from its own rows and from others, as `olinear predict` does."""
    return " ".join(answers_of_folder(folder, data))


def answers_of_folder(folder: Path, data: Any) -> list[str]:
    """The digests of both; where one is refused, `refused` stands in its place."""
    forecaster = Forecaster.load(folder)
    return [_answer(forecaster, asked) for asked in ((data, None) if len(forecaster.fitted.panel) else (data,))]


def _answer(forecaster: Forecaster, data: Any) -> str:
    try:
        return _digest([predict(PredictRequest(forecaster, data)).prediction.to_frame()])
    except OLinearError:
        return "refused"


def answer_of_fit(name: str, checkpoint: Path | None = None) -> str:
    """A digest of what a fit forecasts that goes on from a checkpoint, if there is one."""
    forecaster = to_checkpoint(name).fit(waves(), checkpoint=checkpoint, resume=checkpoint is not None)
    return _digest([forecaster.predict(levels=[80])])


def _digest(frames: list[Any]) -> str:
    """Of kind, names, types, index and every bit."""
    digest = hashlib.sha256()
    for frame in frames:
        table = frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()
        digest.update(repr((type(frame), list(table.columns), table.dtypes.tolist(), list(table.index))).encode())
        for _, column in table.items():
            values = column.to_numpy()
            digest.update(values.tobytes() if values.dtype.kind == "f" else repr(column.tolist()).encode())
    return digest.hexdigest()
