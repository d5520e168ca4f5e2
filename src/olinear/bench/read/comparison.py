"""What a study's results say: each method beside the paper's, and whether the order of methods agrees."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import fmean, median, variance
from typing import Literal, NamedTuple

from olinear.bench.read.summary import DECIMALS, is_result
from olinear.bench.show.table import Cell, Column, ResultTable
from olinear.bench.spec.study import NOTHING, Place, Printed, Study, printed
from olinear.bench.spec.task import TaskKey
from olinear.bench.store.results import Row


@dataclass(frozen=True)
class MethodScore:
    """A method on one dataset: means over the seeds of each horizon, then over the horizons; None without a result."""

    method: str
    mse: float | None
    mae: float | None
    by_horizon: Sequence[Mapping[int, float]]  # the MSE of each seed, for each horizon
    paper: Printed

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
    """By how much a method's MSE is above another's: mean over the seeds of both, and its deviation between seeds."""

    mean: float
    spread: float | None  # None for too few seeds


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


def compare(study: Study, rows: Iterable[Row]) -> list[Comparison]:
    """A comparison for each model and dataset of the study."""
    found: dict[tuple[str, str, TaskKey], list[Row]] = defaultdict(list)
    for row in filter(is_result, rows):
        found[row.model, row.variant, row.key].append(row)
    return [_compare(study, model, place, found) for model in study.models for place in study.on]


def _compare(study: Study, model: str, place: Place, found: dict[tuple[str, str, TaskKey], list[Row]]) -> Comparison:
    by_method = {
        method: {key: found[model, study.variant(method), key] for key in place.tasks} for method in study.methods
    }
    keys = _common_tasks([[key for key in place.tasks if results[key]] for results in by_method.values()])
    scores = [
        _score(method, [results[key] for key in keys], _printed(study, model, place, keys, method))
        for method, results in by_method.items()
    ]
    return Comparison(model, place, tuple(key.horizon for key in keys), tuple(scores))


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
    mse, mae = (fmean(fmean(getattr(row, name) for row in rows) for rows in by_task) for name in ("mse", "mae"))
    return MethodScore(method, mse, mae, [{row.seed: row.mse or 0.0 for row in rows} for rows in by_task], paper)


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
    table = printed(study.name)
    single = [table.get((model, key, method), NOTHING) for key in keys]
    if single and all(None not in scores for scores in single):
        return Printed(*(fmean(column) for column in zip(*single, strict=True)))
    if list(keys) == place.tasks:
        return table.get((model, (place.dataset, place.lookback), method), NOTHING)
    return NOTHING


def study_table(comparisons: Sequence[Comparison]) -> ResultTable:
    """A row a method: ours, spread, the paper's, and the places of both; the best of ours is bold."""
    names = ("seeds", "MSE", "MSE spread", "paper MSE", "MAE", "paper MAE", "place", "paper place")
    columns = [Column("model", False), Column("dataset", False), Column("lookback"), Column("horizons", False)]
    columns.append(Column("method", False))
    table = ResultTable([*columns, *(Column(name, decimals=4 if "spread" in name else 3) for name in names)], [])
    for comparison in comparisons:
        ours = [score.mse for score in comparison.scores]
        paper = [score.paper.mse for score in comparison.scores]
        place = comparison.place
        for score in comparison.scores:
            cells: list[Cell] = [comparison.model, place.dataset, place.lookback, comparison.over, score.method]
            cells += [score.seeds, score.mse, score.spread, score.paper.mse, score.mae, score.paper.mae]
            table.cells.append([*cells, _rank(score.mse, ours), _rank(score.paper.mse, paper)])
            if table.cells[-1][-2] == 1:
                table.bold.add((len(table.cells) - 1, len(columns) + names.index("MSE")))
    return table


def _rank(value: float | None, among: Sequence[float | None]) -> int | None:
    """1 for the lowest; equals at the printed decimals share a place."""
    if value is None:
        return None
    return 1 + sum(round(other, DECIMALS) < round(value, DECIMALS) for other in among if other is not None)


def order_lines(comparisons: Sequence[Comparison]) -> list[str]:
    """For each dataset, in words: which method is best, and in which pairs our order is the paper's."""
    lines = [f"{comparison.name}: {_say_order(comparison)}" for comparison in comparisons]
    beside = [comparison for comparison in comparisons if len(comparison.printed) > 1]
    if len(beside) > 1:
        agree = sum(_has_the_papers_best(comparison) for comparison in beside)
        lines.append(f"The paper's best method is ours too, or tied with it, in {agree} of {len(beside)} comparisons.")
    return lines


def _say_order(comparison: Comparison) -> str:
    best = _best(comparison.known)
    beside = [score.method for score in comparison.known if score is not best and comparison.tied(score, best)]
    how = "equal" if comparison.typical_spread is None else "within seed spread"
    said = [f"best is {best.method}" + (f" ({how}: {', '.join(beside)})" if beside else "")]
    beside_the_paper = len(comparison.printed) > 1
    said.append(_say_agreement(comparison) if beside_the_paper else "the paper prints nothing to compare with")
    if comparison.typical_spread is None:
        said.append("too few seeds for a spread, so that only equals are tied")
    elif any(comparison.gap(a, b).spread is None for a, b in combinations(comparison.known, 2)):
        said.append(f"pairs with too few common seeds are tied within {comparison.typical_spread:.2g}")
    return "; ".join(said) + "."


def _say_agreement(comparison: Comparison) -> str:
    """The paper's best, and how the pairs stand."""
    pairs = [(a, b, comparison.verdict(a, b)) for a, b in combinations(comparison.printed, 2)]
    best = f"in the paper {' and '.join(score.method for score in _papers_best(comparison))}"
    if len(pairs) == 1:
        return f"{best}: {pairs[0][2]}"
    against = [_in_order(comparison, a, b) for a, b, verdict in pairs if verdict == "reversed"]
    agree = sum(verdict == "the same order" for *_, verdict in pairs)
    turned = f"{len(against)} reversed ({', '.join(against)})" if against else "none reversed"
    ties = len(pairs) - agree - len(against)
    return f"{best}; of {len(pairs)} pairs {agree} are in the paper's order, {ties} tied here or there, {turned}"


def _in_order(comparison: Comparison, a: MethodScore, b: MethodScore) -> str:
    first, second = (a, b) if comparison.gap(a, b).mean < 0 else (b, a)
    return f"{first.method} before {second.method}"


def _best(scores: Sequence[MethodScore]) -> MethodScore:
    return min(scores, key=lambda score: score.mse or 0.0)


def _papers_best(comparison: Comparison) -> list[MethodScore]:
    least = min(_rounded(score.paper.mse) for score in comparison.printed)
    return [score for score in comparison.printed if _rounded(score.paper.mse) == least]


def _has_the_papers_best(comparison: Comparison) -> bool:
    """Whether a method that the paper has as the best is ours, or tied with it, among those the paper has."""
    best = _best(comparison.printed)
    return any(score is best or comparison.tied(score, best) for score in _papers_best(comparison))


def _rounded(value: float | None) -> float:
    return round(value or 0.0, DECIMALS)
