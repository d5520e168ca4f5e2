"""What a variant changes: its results beside our main ones of the same tasks, and the paper's of the same variant."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean

from olinear.bench.read.summary import is_result, spread
from olinear.bench.show.table import Cell, Column, Metric, ResultTable
from olinear.bench.spec.datafiles import data_rows
from olinear.bench.spec.jobs import SEARCH, spell
from olinear.bench.spec.study import NOTHING, Printed, printed
from olinear.bench.spec.task import TaskKey, own_tasks, tasks
from olinear.bench.store.results import Row
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

    def measure(self, metric: Metric) -> Measure:
        return self.mse if metric == "MSE" else self.mae


@cache
def paper_scores(variant: str, model: str = MAIN) -> dict[Place, Printed]:
    """What the paper has of a variant."""
    found: dict[Place, Printed] = {}
    if "/" in variant:
        study, _, wanted = variant.partition("/")
        for (of, key, method), scores in printed(study).items():
            if (of, method) == (model, wanted):
                found[key if isinstance(key, TaskKey) else (*key, ALL_HORIZONS)] = scores
        return found
    if model != MAIN:
        return {}
    name = "few-shot" if variant.startswith("few-shot=") else variant  # the paper does not say which end
    for row in data_rows("protocols.csv", variant=name):
        horizon = row["horizon"] if row["horizon"] == ALL_HORIZONS else int(row["horizon"])
        found[row["dataset"], int(row["lookback"]), horizon] = Printed(float(row["mse"]), float(row["mae"]))
    return found


def choose_lookback(rows: Iterable[Row]) -> list[Row]:
    """Of the rows that differ only in their lookback, the one with the lowest validation loss; ties to the shorter."""
    groups: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for row in filter(is_result, rows):
        groups[row.dataset, row.horizon, row.model, row.variant, row.seed].append(row)
    return [min(group, key=_loss_then_lookback) for group in groups.values()]


def _loss_then_lookback(row: Row) -> tuple[float, int]:
    loss = row.validation_loss
    return (math.inf if loss is None or math.isnan(loss) else loss, row.lookback)


def score_variant(rows: Iterable[Row], variant: str, model: str = MAIN) -> list[VariantScore]:
    """Each task that has a result of the variant, in the order of the published tables."""
    found = {row.job: row for row in rows if row.model == model and is_result(row)}.values()
    ours, main = ([row for row in found if row.variant == name] for name in (spell(variant), "main"))
    if variant == SEARCH:
        ours = choose_lookback(ours)
    by_task: dict[TaskKey, list[Row]] = defaultdict(list)
    for row in ours:
        by_task[row.key._replace(lookback=96) if variant == SEARCH else row.key].append(row)
    scores = []
    for key in (*tasks(), *own_tasks()):
        if key in by_task:
            scores.append(_score(key, by_task[key], [row for row in main if row.key == key], variant, model))
    return scores


def _score(key: TaskKey, rows: Sequence[Row], main: Sequence[Row], variant: str, model: str) -> VariantScore:
    seeds = {row.seed for row in rows}
    beside = [row for row in main if row.seed in seeds] or main
    paper = paper_scores(variant, model).get(key, NOTHING)
    mse, mae = (_measure(rows, beside, name, value) for name, value in zip(("mse", "mae"), paper, strict=True))
    return VariantScore(key, len(rows), tuple(sorted({row.lookback for row in rows})), mse, mae)


def _measure(rows: Sequence[Row], main: Sequence[Row], name: str, paper: float | None) -> Measure:
    ours, beside = ([float(getattr(row, name)) for row in group] for group in (rows, main))
    return Measure(fmean(ours), spread(ours), fmean(beside) if beside else None, paper)


def variant_table(
    scores: Sequence[VariantScore], variant: str, metrics: Sequence[Metric] = ("MSE", "MAE")
) -> ResultTable:
    """A row a task: ours, its spread over seeds, our main result, the ratio to it, the paper's of the same variant."""
    columns = [Column("dataset", False), Column("lookback"), Column("horizon"), Column("seeds")]
    if variant == SEARCH:
        columns.append(Column("chosen lookback", False))
    for metric in metrics:
        columns += [Column(metric), Column(f"{metric} spread", decimals=4), Column(f"main {metric}")]
        columns += [Column(f"{metric} ratio"), Column(f"paper {metric}")]
    table = ResultTable(columns, [])
    for score in scores:
        chosen = [" ".join(map(str, score.lookbacks))] if variant == SEARCH else []
        cells: list[Cell] = [*score.key, score.seeds, *chosen]
        for one in map(score.measure, metrics):
            cells += [one.ours, one.spread, one.main, one.ratio, one.paper]
        table.cells.append(cells)
    return table


def variant_lines(scores: Sequence[VariantScore], variant: str, model: str = MAIN) -> list[str]:
    """The figures over all tasks, in words, and what the paper has only as a mean over horizons."""
    compared = [score for score in scores if score.mse.ratio is not None]
    lines = [f"{len(scores)} {'task has' if len(scores) == 1 else 'tasks have'} a result of {variant}."]
    if compared:
        mse, mae = (fmean(score.measure(metric).ratio or 0.0 for score in compared) for metric in ("MSE", "MAE"))
        lines.append(f"Ratio to our main results, mean over {len(compared)} of them: MSE {mse:.3f}, MAE {mae:.3f}.")
    both = [(score, score.mse.paper, score.mae.paper) for score in scores]
    printed_too = [(s.mse.ours / mse, s.mae.ours / mae) for s, mse, mae in both if mse is not None and mae is not None]
    if printed_too:
        mse, mae = map(fmean, zip(*printed_too, strict=True))
        lines.append(
            f"Ratio to the paper's {variant}, mean over {len(printed_too)} of them: MSE {mse:.3f}, MAE {mae:.3f}."
        )
    for place in dict.fromkeys((score.key.dataset, score.key.lookback) for score in scores):
        paper = paper_scores(variant, model).get((*place, ALL_HORIZONS))
        if paper is not None and None not in paper:
            of = [score for score in scores if score.key[:2] == place]
            mse, mae = fmean(score.mse.ours for score in of), fmean(score.mae.ours for score in of)
            lines.append(
                f"{place[0]}, mean over horizons: the paper's MSE {paper[0]:.3f}, MAE {paper[1]:.3f}; ours over "
                f"{', '.join(str(score.key.horizon) for score in of)}: MSE {mse:.3f}, MAE {mae:.3f}."
            )
    return lines
