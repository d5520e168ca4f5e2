"""How an error changes with a size, a rate, the lookback or the amount of data: the paper's figures, from rows."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, NamedTuple, get_args

from olinear.bench.spec.identity import JobKey, Variant
from olinear.bench.spec.jobs import recipe
from olinear.bench.spec.recipes import Recipe
from olinear.bench.spec.task import in_order, paper_tasks
from olinear.bench.spec.variants import FEW, LOOKBACKS, SEARCH
from olinear.bench.store.rows import Row
from olinear.models import MODELS

Kind = Literal["lookback", "share", "lr", "blocks", "width", "embed"]
KINDS: tuple[Kind, ...] = get_args(Kind)
OPTION = {"blocks": "blocks", "width": "model_dim", "embed": "embed_dim"}


class Point(NamedTuple):
    """A place on a curve: the mean over horizons of the means over seeds, of which there are so many at the least."""

    x: float
    error: float
    seeds: int


@dataclass(frozen=True)
class Curve:
    """A model's error on a dataset, over all of its horizons that were varied."""

    dataset: str
    lookback: int | None  # None where it is what changes
    horizons: tuple[int, ...]
    model: str
    points: tuple[Point, ...]

    @property
    def place(self) -> str:
        """What it is of, but for the model."""
        before = f"{self.dataset} " if self.lookback is None else f"{self.dataset} {self.lookback}->"
        return before + ",".join(map(str, self.horizons))


Line = tuple[str, int | None, str]  # dataset, lookback and model of a curve


def find_curves(
    rows: Iterable[Row], kind: Kind, datasets: Sequence[str] = (), horizons: Sequence[int] = (), metric: str = "mse"
) -> list[Curve]:
    """The curves of a kind that have two points, over the seeds and horizons that were varied.

    Main results stand for their own size, with those seeds alone; a point is there where all horizons have it.
    """
    scores: dict[Line, dict[tuple[float, int], dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    varied: dict[Line, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))  # the seeds of each horizon
    for row in rows:
        dataset, lookback, horizon = row.key
        wanted = (not datasets or dataset in datasets) and (not horizons or horizon in horizons)
        x = _place_of(row.job, kind) if wanted and row.is_result and metric in row.scores else None
        if x is not None:
            line = dataset, None if kind == "lookback" else lookback, row.model
            scores[line][x, horizon][row.seed] = row.scores[metric]
            if not row.variant.is_main:
                varied[line][horizon].add(row.seed)
    curves = [
        Curve(*line[:2], tuple(sorted(varied[line])), line[2], _points(scores[line], varied[line])) for line in varied
    ]
    return sorted((curve for curve in curves if len(curve.points) > 1), key=_order)


def _points(scores: dict[tuple[float, int], dict[int, float]], varied: dict[int, set[int]]) -> tuple[Point, ...]:
    points = []
    for x in sorted({x for x, _ in scores}):
        by_horizon = [scores.get((x, horizon), {}).items() for horizon in varied]
        groups = [
            [score for seed, score in by_seed if seed in seeds]
            for by_seed, seeds in zip(by_horizon, varied.values(), strict=True)
        ]
        if all(groups):
            error = fmean(map(fmean, groups))
            points.append(Point(x, error, min(map(len, groups))))
    return tuple(points)


def _order(curve: Curve) -> tuple[int, int, int]:
    datasets = list(dict.fromkeys(key.dataset for key in in_order(dict(paper_tasks().tasks))))
    return datasets.index(curve.dataset), curve.lookback or 0, list(MODELS).index(curve.model)


def _place_of(job: JobKey, kind: Kind) -> float | None:
    """Where a row stands on the axis of a kind; None for a row of something else."""
    like = job.key._replace(lookback=LOOKBACKS[0]) if kind == "lookback" else job.key
    if like not in paper_tasks().tasks or job.model not in MODELS:
        return None
    if kind == "lookback":
        return float(job.key.lookback) if job.variant.is_main or job.variant == Variant(SEARCH) else None
    if job.variant.is_main:
        return 1.0 if kind == "share" else _size(recipe(job), kind)
    if job.variant == Variant("few-shot", "last"):
        return FEW if kind == "share" else None
    return float(job.variant.value) if job.variant == Variant(kind, job.variant.value) else None


def _size(main: Recipe, kind: Kind) -> float | None:
    """What a main job has anyway of what a kind sets."""
    if kind == "lr":
        return main.training.learning_rate
    options = MODELS.find(main.model).options() | dict(main.options)
    size = options.get(OPTION[kind])
    return None if size is None else float(size)
