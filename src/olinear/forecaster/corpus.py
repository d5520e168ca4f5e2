"""What a model is pre-trained on: the training rows of several datasets, and the rows that validate."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from olinear.core import ConfigError, DataError, Note
from olinear.data.datasets import Dataset, find_dataset, load_values, require
from olinear.data.frames import StandardScaler, read_panel
from olinear.data.windows import Mixture, Split, Windows

VALIDATION = 0.2  # share of the rows of a user's own file, the newest
MOST_JUDGING = 1024  # windows of each dataset that validate


@dataclass
class Corpus:
    """Windows of several datasets, each standardised by its own training rows.

    Args:
        every: the steps at which each trains, such as 1 and 4: all its rows, and every fourth of them, which have
            another season.
    """

    every: Sequence[int] = (1,)
    names: list[str] = field(default_factory=list)
    training: list[Windows] = field(default_factory=list)
    validation: list[Windows] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    def add(self, name: str, values: NDArray[np.float64], split: Split, lookback: int, horizon: int) -> None:
        """A dataset, or a note that it is too short."""
        known = split.validation.stop
        scaled = StandardScaler.fit(values[: len(split.train)]).transform(values[:known])
        try:
            starts = split.starts(split.validation, lookback, horizon)
            training = [Windows(scaled[: len(split.train)], lookback, horizon)] if 1 in self.every else []
        except DataError:
            needed = lookback + horizon
            text = f"{name} is left out: {len(split.train)} rows train, and a window has {needed}"
            self.notes.append(Note("pretrain-too-short", text, [name]))
            return
        self.names.append(name)
        self.training += training
        for step in self.every:
            coarse = scaled[: len(split.train)][::step]
            if step > 1 and len(coarse) >= lookback + horizon:
                self.training.append(Windows(coarse, lookback, horizon))
        self.validation.append(Windows(scaled, lookback, horizon, starts))

    def mixtures(self, windows: int) -> tuple[Mixture, Mixture]:
        """As many windows of each dataset: those that train, about so many in all, and those that validate."""
        if not self.names:
            raise DataError(f"nothing is left to train on: {'; '.join(self.notes) or 'name some datasets'}")
        return Mixture(self.training, -(-windows // len(self.training))), Mixture(self.validation, MOST_JUDGING)


def read_corpus(
    data: Sequence[str],
    leave_out: Sequence[str],
    folder: Path | None,
    lookback: int,
    horizon: int,
    every: Sequence[int] = (1,),
) -> Corpus:
    """Datasets of the paper by their names, and files of one's own by their paths, but for those left out."""
    found = Corpus(every)
    for each in kept(data, leave_out, found.notes):
        if isinstance(each, Dataset):
            values = load_values(each, require(each, folder))
            found.add(each.name, values, each.split_rows(len(values)), lookback, horizon)
        else:
            values = read_panel(each).values
            found.add(each, values, Split.by_ratio(len(values), 1 - VALIDATION, 0.0), lookback, horizon)
    return found


def _find(name: str) -> Dataset | str:
    if Path(name).is_file():
        return name
    if Path(name).suffix or len(Path(name).parts) > 1:
        raise DataError(f"there is no file {name}: check the path, or name a dataset such as ETTh1")
    return find_dataset(name)


def kept(data: Sequence[str], leave_out: Sequence[str], notes: list[Note]) -> list[Dataset | str]:
    """What is not left out; with a dataset go its kin, which hold the same measurements, and a note says so."""
    given = [_find(each) for each in data]
    names = [each.name if isinstance(each, Dataset) else each for each in given]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{name} is given twice: leave one out")
    left = [find_dataset(each) for each in leave_out]
    gone = {dataset.name for dataset in left}
    for dataset in left:
        for name in set(dataset.kin) & set(names) - gone:
            text = f"{name} is left out with {dataset.name}: both hold the same measurements"
            notes.append(Note("pretrain-kin-left-out", text, [name]))
    gone |= {name for dataset in left for name in dataset.kin}
    return [each for each, name in zip(given, names, strict=True) if name not in gone]
