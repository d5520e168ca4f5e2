"""What a variant changes: its results next to our main ones of the same tasks, and the paper's of the same variant."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean

from olinear.bench.read.summary import spread
from olinear.bench.spec.datafiles import data_rows
from olinear.bench.spec.identity import TaskKey, Variant
from olinear.bench.spec.study import NOTHING, Printed, find_study
from olinear.bench.spec.task import in_order
from olinear.bench.spec.variants import LOOKBACKS, SEARCH
from olinear.bench.store.rows import Row
from olinear.models import MAIN

ALL_HORIZONS = "avg"
Place = tuple[str, int, int | str]  # dataset, lookback, and a horizon or `ALL_HORIZONS`


@dataclass(frozen=True)
class Measure:
    """One metric of one task."""

    ours: float  # mean over seeds
    spread: float | None  # standard deviation over seeds; None for one seed
    main: float | None  # of our main results, over the same seeds where they are there
    paper: float | None  # of the same variant

    @property
    def ratio(self) -> float | None:
        """To our main result."""
        return None if self.main is None else self.ours / self.main


@dataclass(frozen=True)
class VariantScore:
    """One task that has a result of the variant."""

    key: TaskKey
    seeds: int
    lookbacks: tuple[int, ...]  # that its rows were made with
    mse: Measure
    mae: Measure


@cache
def paper_scores(variant: Variant, model: str = MAIN) -> dict[Place, Printed]:
    """What the paper has of a variant."""
    found: dict[Place, Printed] = {}
    if variant.method and not variant.also:
        for (of, key, method), scores in find_study(variant.name).printed.items():
            if (of, method) == (model, variant.method):
                found[key if isinstance(key, TaskKey) else (*key, ALL_HORIZONS)] = scores
        return found
    name = str(variant)
    if variant.name == "few-shot" and not variant.also:
        name = variant.name  # the paper does not say which end
    for row in data_rows("protocols.csv", model=model, variant=name):
        horizon = row["horizon"] if row["horizon"] == ALL_HORIZONS else int(row["horizon"])
        cells = (float(row[name]) if row[name] else None for name in ("mse", "mae"))
        found[row["dataset"], int(row["lookback"]), horizon] = Printed(*cells)
    return found


def choose_lookback(rows: Iterable[Row]) -> list[Row]:
    """Of the rows that differ only in their lookback, the one with the lowest validation loss; ties to the shorter.

    Lookbacks that the search does not look at have rows of other experiments.
    """
    groups: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in (row for row in rows if row.is_result and row.key.lookback in LOOKBACKS):
        groups[row.key._replace(lookback=0), row.model, row.variant, row.seed].append(row)
    return [min(group, key=_loss_then_lookback) for group in groups.values()]


def _loss_then_lookback(row: Row) -> tuple[float, int]:
    loss = row.validation_loss
    return (math.inf if loss is None or math.isnan(loss) else loss, row.key.lookback)


def score_variant(rows: Iterable[Row], variant: Variant, model: str = MAIN) -> list[VariantScore]:
    """Each task that has a result of the variant, in the order of the published tables."""
    found = {row.job: row for row in rows if row.model == model and row.is_result}.values()
    ours = [row for row in found if row.variant == variant]
    main = [row for row in found if row.variant.is_main]
    searched = variant.has(SEARCH)
    if searched:
        ours = choose_lookback(ours)
    by_task: dict[TaskKey, list[Row]] = defaultdict(list)
    for row in ours:
        by_task[row.key._replace(lookback=96) if searched else row.key].append(row)
    return [
        _score(key, by_task[key], [row for row in main if row.key == key], variant, model) for key in in_order(by_task)
    ]


def _score(key: TaskKey, rows: Sequence[Row], main: Sequence[Row], variant: Variant, model: str) -> VariantScore:
    seeds = {row.seed for row in rows}
    compared = [row for row in main if row.seed in seeds] or main
    paper = paper_scores(variant, model).get(key, NOTHING)
    mse, mae = (_measure(rows, compared, name, value) for name, value in zip(("mse", "mae"), paper, strict=True))
    return VariantScore(key, len(rows), tuple(sorted({row.key.lookback for row in rows})), mse, mae)


def _measure(rows: Sequence[Row], main: Sequence[Row], name: str, paper: float | None) -> Measure:
    ours, others = ([row.scores[name] for row in group] for group in (rows, main))
    return Measure(fmean(ours), spread(ours), fmean(others) if others else None, paper)
