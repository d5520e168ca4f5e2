"""How far results lie apart from seed to seed, next to the paper's."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import NamedTuple

from olinear.bench.read.summary import Selection, spread
from olinear.bench.spec.datafiles import data_rows
from olinear.bench.spec.identity import TaskKey, Variant
from olinear.bench.spec.task import in_order, paper_tasks
from olinear.bench.store.rows import Row
from olinear.data.datasets import find_dataset
from olinear.models import MAIN

SEEDS = 7  # of the paper's
TIMES = 3  # its intervals, which it calls those of 99 %, are three standard deviations
METRICS = ("mse", "mae")
ALL_HORIZONS = "avg"
Place = tuple[str, int, int | str]  # dataset, lookback, and a horizon or `ALL_HORIZONS`


class Around(NamedTuple):
    """A mean, and how far results lie around it."""

    mean: float
    spread: float | None = None  # standard deviation over seeds
    interval: float | None = None  # `TIMES` as much, of means over horizons alone


@dataclass(frozen=True)
class SpreadScore:
    """A task, or all horizons of a dataset and lookback: ours and the paper's, by metric."""

    place: Place
    seeds: int
    ours: Mapping[str, Around]
    paper: Mapping[str, Around]


@cache
def paper_spread(variant: Variant, model: str = MAIN) -> dict[Place, dict[str, Around]]:
    """What the paper prints of a model's variant; a cell that cannot be read has a mean alone."""
    found: dict[Place, dict[str, Around]] = {}
    for row in data_rows("robust.csv", variant=str(variant)) if model == MAIN else []:
        place = row["dataset"], int(row["lookback"]), int(row["horizon"])
        found[place] = {name: Around(float(row[name]), _number(row[f"{name}_spread"])) for name in METRICS}
    for row in data_rows("robust_means.csv", model=model, variant=str(variant)):
        cells = {name: Around(float(row[name]), None, float(row[f"{name}_interval"])) for name in METRICS}
        found[row["dataset"], int(row["lookback"]), ALL_HORIZONS] = cells
    return found


def _number(cell: str) -> float | None:
    return float(cell) if cell else None


def measure_spread(
    rows: Iterable[Row], selection: Selection, variant: Variant
) -> tuple[list[SpreadScore], dict[TaskKey, int]]:
    """Every task with several seeds, and the means over horizons; of the paper's tasks, how many seeds too few have."""
    known = paper_tasks().tasks
    found: dict[TaskKey, dict[int, Row]] = defaultdict(dict)
    for row in rows:
        of_it = (row.model, row.variant) == (selection.model, variant)
        if of_it and row.is_result and row.key in known and selection.has(row.key):
            found[row.key][row.seed] = row
    paper = paper_spread(variant, selection.model)
    scores = [
        SpreadScore(key, len(by_seed), _around([by_seed]), paper.get(key, {}))
        for key, by_seed in ((key, found[key]) for key in in_order(found))
        if len(by_seed) > 1
    ]
    scores += _means(found, paper)
    seeds = {key: len(found.get(key, ())) for key in _tasks_of(paper) if selection.has(key)}
    return scores, {key: count for key, count in seeds.items() if count < SEEDS}


def _means(found: Mapping[TaskKey, Mapping[int, Row]], paper: Mapping[Place, dict[str, Around]]) -> list[SpreadScore]:
    """The mean over the horizons of each dataset and lookback, where all have several seeds in common."""
    scores = []
    for dataset, lookback in dict.fromkeys(key[:2] for key in in_order(dict(found))):
        keys = [TaskKey(dataset, lookback, horizon) for horizon in _horizons(dataset, lookback)]
        if not keys or not all(key in found for key in keys):
            continue
        common = set.intersection(*(set(found[key]) for key in keys))
        by_horizon = [{seed: found[key][seed] for seed in common} for key in keys]
        if len(common) > 1:
            place = dataset, lookback, ALL_HORIZONS
            ours = {name: _with_interval(around) for name, around in _around(by_horizon).items()}
            scores.append(SpreadScore(place, len(common), ours, paper.get(place, {})))
    return scores


def _around(by_horizon: Sequence[Mapping[int, Row]]) -> dict[str, Around]:
    """Over the seeds, of the mean over horizons."""
    values = {
        name: [fmean(by_seed[seed].scores[name] for by_seed in by_horizon) for seed in sorted(by_horizon[0])]
        for name in METRICS
    }
    return {name: Around(fmean(each), spread(each)) for name, each in values.items()}


def _with_interval(around: Around) -> Around:
    return around._replace(interval=None if around.spread is None else TIMES * around.spread)


def _horizons(dataset: str, lookback: int) -> Sequence[int]:
    return find_dataset(dataset).horizons.get(lookback, ())


def _tasks_of(paper: Mapping[Place, object]) -> list[TaskKey]:
    """The tasks behind what is printed; a mean stands for all of its horizons."""
    keys = {
        TaskKey(dataset, lookback, each)
        for dataset, lookback, horizon in paper
        for each in ([horizon] if isinstance(horizon, int) else _horizons(dataset, lookback))
    }
    return in_order(keys)
