"""What a study's results say: each method next to the paper's, and whether the order of methods agrees."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import fmean, median, variance
from typing import Literal, NamedTuple

from olinear.bench.read.summary import DECIMALS
from olinear.bench.spec.identity import TaskKey, Variant
from olinear.bench.spec.study import NOTHING, Place, Printed, Study
from olinear.bench.store.rows import Row


@dataclass(frozen=True)
class MethodScore:
    """A method on one dataset: means over the seeds of each horizon, then over the horizons; None without a result."""

    method: str
    mse: float | None
    mae: float | None
    by_horizon: Sequence[Mapping[int, float]]  # the MSE of each seed, for each horizon
    paper: Printed
    moved: float | None = None  # how far NormLin's weights went from their start, mean over rows that say so

    @property
    def spread(self) -> float | None:
        """Of the MSE, from seed to seed; None for too few seeds."""
        return _spread_of_mean([list(by_seed.values()) for by_seed in self.by_horizon])

    @property
    def seeds(self) -> str | int | None:
        """How many: fewest and most of a horizon."""
        counts = sorted({len(by_seed) for by_seed in self.by_horizon})
        return f"{counts[0]} to {counts[-1]}" if len(counts) > 1 else counts[0] if counts else None


class Gap(NamedTuple):
    """By how much a method's MSE is above another's: mean over the seeds of both, and its spread between seeds."""

    mean: float
    spread: float | None  # None for too few seeds


Found = dict[tuple[str, Variant, TaskKey], list[Row]]  # by model, variant and task
VariantOf = Callable[[str, TaskKey, str], Variant | None]  # by model, task and method; None where it has no rows
Verdict = Literal["the same order", "reversed", "tied here", "tied in the paper"]


@dataclass(frozen=True)
class Comparison:
    """The methods of a study for one model on one dataset, over the horizons that all methods with results have."""

    model: str
    place: Place
    horizons: tuple[int, ...]
    scores: tuple[MethodScore, ...]

    @property
    def name(self) -> str:
        return f"{self.model} on {self.place.dataset} {self.place.lookback}->{self.over}"

    @property
    def over(self) -> str:
        """The horizons in one word."""
        return ",".join(map(str, self.horizons))

    @property
    def methods(self) -> int:
        """How many have results."""
        return len(self.known)

    @property
    def known(self) -> list[MethodScore]:
        """The methods that have results."""
        return [score for score in self.scores if score.mse is not None]

    @property
    def printed(self) -> list[MethodScore]:
        """Those of them that the paper has too."""
        return [score for score in self.known if score.paper.mse is not None]

    @property
    def best(self) -> MethodScore:
        """Of the methods that have results."""
        return _best(self.known)

    @property
    def papers_best(self) -> list[MethodScore]:
        """Of those that the paper has too; equals at the printed decimals are best together."""
        lowest = min(_rounded(score.paper.mse) for score in self.printed)
        return [score for score in self.printed if _rounded(score.paper.mse) == lowest]

    @property
    def has_the_papers_best(self) -> bool:
        """Whether a method that the paper has as the best is ours, or tied with it, among those the paper has."""
        best = _best(self.printed)
        return any(score is best or self.tied(score, best) for score in self.papers_best)

    def gap(self, a: MethodScore, b: MethodScore) -> Gap:
        """Seed by seed, since what a seed does to one method it often does to the other."""
        gaps = [_gaps(ours, others) for ours, others in zip(a.by_horizon, b.by_horizon, strict=True)]
        return Gap(fmean(map(fmean, gaps)), _spread_of_mean(gaps))

    @cached_property
    def typical_spread(self) -> float | None:
        """What stands for the spread of a gap with one seed: the median of the others, or √2 that of the methods."""
        gaps = [self.gap(a, b).spread for a, b in combinations(self.known, 2)]
        if known := [gap for gap in gaps if gap is not None]:
            return median(known)
        methods = [score.spread for score in self.known if score.spread is not None]
        return math.sqrt(2) * median(methods) if methods else None

    def tied(self, a: MethodScore, b: MethodScore) -> bool:
        """Whether two methods differ by no more than their gap does from seed to seed, or not at printed decimals."""
        gap = self.gap(a, b)
        within = self.typical_spread if gap.spread is None else gap.spread
        return _rounded(a.mse) == _rounded(b.mse) or abs(gap.mean) <= (within or 0.0)

    def verdict(self, a: MethodScore, b: MethodScore) -> Verdict:
        """How our order of two methods stands to the paper's."""
        theirs = _rounded(a.paper.mse) - _rounded(b.paper.mse)
        if self.tied(a, b):
            return "tied here"
        if theirs == 0:
            return "tied in the paper"
        return "the same order" if (theirs < 0) == (self.gap(a, b).mean < 0) else "reversed"


def compare(study: Study, rows: Iterable[Row], variant_of: VariantOf | None = None) -> list[Comparison]:
    """A comparison for each model and dataset of the study; a method's rows may be of other variants than its own."""
    variant_of = variant_of or (lambda model, key, method: study.variant(method))
    found: Found = defaultdict(list)
    for row in (row for row in rows if row.is_result):
        found[row.model, row.variant, row.key].append(row)
    return [_compare(study, model, place, found, variant_of) for model in study.models for place in study.on]


def _compare(study: Study, model: str, place: Place, found: Found, variant_of: VariantOf) -> Comparison:
    by_method = {
        method: {key: _rows_of(found, model, variant_of(model, key, method), key) for key in place.tasks}
        for method in study.methods_of(model)
    }
    keys = _common_tasks([[key for key in place.tasks if results[key]] for results in by_method.values()])
    scores = [
        _score(method, [results[key] for key in keys], _printed(study, model, place, keys, method))
        for method, results in by_method.items()
    ]
    return Comparison(model, place, tuple(key.horizon for key in keys), tuple(scores))


def _rows_of(found: Found, model: str, variant: Variant | None, key: TaskKey) -> list[Row]:
    return [] if variant is None else found[model, variant, key]


def _common_tasks(done: Sequence[list[TaskKey]]) -> list[TaskKey]:
    """The tasks that all methods have; one that would leave none, since it has only begun, is left out."""
    fullest, *others = sorted(done, key=len, reverse=True)
    common = fullest
    for keys in others:
        common = [key for key in common if key in keys] or common
    return common


def _score(method: str, by_task: Sequence[Sequence[Row]], paper: Printed) -> MethodScore:
    if not by_task or not all(by_task):
        return MethodScore(method, None, None, [], paper)
    mse, mae = (fmean(fmean(row.scores[name] for row in rows) for rows in by_task) for name in ("mse", "mae"))
    by_horizon = [{row.seed: row.scores["mse"] for row in rows} for rows in by_task]
    moved = [row.normlin_moved for rows in by_task for row in rows if row.normlin_moved is not None]
    return MethodScore(method, mse, mae, by_horizon, paper, fmean(moved) if moved else None)


def _gaps(ours: Mapping[int, float], others: Mapping[int, float]) -> list[float]:
    """The difference at each seed that both have, or that of the means if there is none."""
    common = sorted(ours.keys() & others.keys())
    return [ours[seed] - others[seed] for seed in common] or [fmean(ours.values()) - fmean(others.values())]


def _spread_of_mean(by_horizon: Sequence[Sequence[float]]) -> float | None:
    """The standard deviation from seed to seed of a mean over H horizons, √(Σ_h var_h) / H.

    What a seed does to one horizon says little of what it does to another. A horizon with one seed counts with the mean
    variance of the others; None if these are less than half, for short horizons vary less than long ones.
    """
    known = [variance(values) for values in by_horizon if len(values) > 1]
    return math.sqrt(fmean(known) / len(by_horizon)) if known and 2 * len(known) >= len(by_horizon) else None


def _printed(study: Study, model: str, place: Place, keys: Sequence[TaskKey], method: str) -> Printed:
    """The paper's scores over the same horizons, if it prints them all, or else its mean over all horizons."""
    table = study.printed
    single = [table.get((model, key, method), NOTHING) for key in keys]
    if single and all(None not in scores for scores in single):
        return Printed(*(fmean(column) for column in zip(*single, strict=True)))
    if list(keys) == place.tasks:
        return table.get((model, (place.dataset, place.lookback), method), NOTHING)
    return NOTHING


def _best(scores: Sequence[MethodScore]) -> MethodScore:
    return min(scores, key=lambda score: score.mse or 0.0)


def _rounded(value: float | None) -> float:
    return round(value or 0.0, DECIMALS)
