"""What a study's results say: each method beside the paper's, and whether the order of methods agrees."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean, median

from olinear.bench.results import Row
from olinear.bench.studies import NOTHING, Place, Printed, Study, printed
from olinear.bench.summary import DECIMALS, is_result, spread
from olinear.bench.table import Cell, Column, ResultTable
from olinear.bench.tasks import TaskKey


@dataclass(frozen=True)
class MethodScore:
    """A method on one dataset: means over the horizons, then over the seeds; None where there is no result."""

    method: str
    seeds: int
    mse: float | None
    mae: float | None
    spread: float | None  # of the MSE: standard deviation over seeds; None for one seed
    paper: Printed


@dataclass(frozen=True)
class Comparison:
    """The methods of a study for one model on one dataset, over the horizons that all methods with results have."""

    model: str
    place: Place
    horizons: tuple[int, ...]
    scores: tuple[MethodScore, ...]

    @property
    def name(self) -> str:
        return f"{self.model} on {self.place.dataset} {self.place.lookback}->{','.join(map(str, self.horizons))}"

    @property
    def methods(self) -> int:
        """How many have results."""
        return sum(score.mse is not None for score in self.scores)

    @property
    def typical_spread(self) -> float | None:
        """The median spread of the methods with several seeds; it stands for those with one."""
        known = [score.spread for score in self.scores if score.spread is not None]
        return median(known) if known else None

    def tied(self, a: MethodScore, b: MethodScore) -> bool:
        """Whether two methods differ by no more than seeds do, √(s_a² + s_b²), or not at the printed decimals."""
        if _rounded(a.mse) == _rounded(b.mse):
            return True
        spreads = [self.typical_spread if score.spread is None else score.spread for score in (a, b)]
        return abs((a.mse or 0) - (b.mse or 0)) <= math.hypot(*(spread or 0 for spread in spreads))


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
    """Means over tasks of the means over seeds; the spread is of the seeds that all tasks have."""
    if not by_task or not all(by_task):
        return MethodScore(method, 0, None, None, None, paper)
    seeds = set.intersection(*({row.seed for row in rows} for rows in by_task))
    mse, mae = (fmean(fmean(getattr(row, name) for row in rows) for rows in by_task) for name in ("mse", "mae"))
    means = [fmean(row.mse or 0.0 for rows in by_task for row in rows if row.seed == seed) for seed in sorted(seeds)]
    return MethodScore(method, len(seeds), mse, mae, spread(means), paper)


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
    columns = [Column("model", False), Column("dataset", False), Column("lookback"), Column("method", False)]
    table = ResultTable([*columns, *(Column(name, decimals=4 if "spread" in name else 3) for name in names)], [])
    for comparison in comparisons:
        ours = [score.mse for score in comparison.scores]
        paper = [score.paper.mse for score in comparison.scores]
        place = comparison.place
        for score in comparison.scores:
            cells: list[Cell] = [comparison.model, place.dataset, place.lookback, score.method, score.seeds or None]
            cells += [score.mse, score.spread, score.paper.mse, score.mae, score.paper.mae]
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
    return [f"{comparison.name}: {_say_order(comparison)}" for comparison in comparisons]


def _say_order(comparison: Comparison) -> str:
    scores = [score for score in comparison.scores if score.mse is not None]
    best = min(scores, key=lambda score: score.mse or 0.0)
    beside = [score.method for score in scores if score is not best and comparison.tied(score, best)]
    how = "equal" if comparison.typical_spread is None else "within seed spread"
    said = [f"best is {best.method}" + (f" ({how}: {', '.join(beside)})" if beside else "")]
    known = [score for score in scores if score.paper.mse is not None]
    if len(known) > 1:
        said += _say_agreement(comparison, known)
    else:
        said.append("the paper prints nothing to compare with")
    if comparison.typical_spread is None:
        said.append("one seed each, so that only equals are tied")
    return "; ".join(said) + "."


def _say_agreement(comparison: Comparison, scores: Sequence[MethodScore]) -> list[str]:
    """The paper's best, and how the pairs stand."""
    agree, ties, against = 0, 0, []
    for a, b in combinations(scores, 2):
        theirs = _rounded(a.paper.mse) - _rounded(b.paper.mse)
        ours = (a.mse or 0) - (b.mse or 0)
        if theirs == 0 or comparison.tied(a, b):
            ties += 1
        elif (theirs < 0) == (ours < 0):
            agree += 1
        else:
            against.append(f"{a.method} before {b.method}" if ours < 0 else f"{b.method} before {a.method}")
    least = min(_rounded(score.paper.mse) for score in scores)
    best = [score.method for score in scores if _rounded(score.paper.mse) == least]
    said = [f"in the paper {' and '.join(best)}"]
    total = agree + ties + len(against)
    if total > 1:
        reversed_ones = f"{len(against)} reversed ({', '.join(against)})" if against else "none reversed"
        said.append(f"of {total} pairs {agree} are in the paper's order, {ties} tied here or there, {reversed_ones}")
    elif ties:
        said.append("tied here or there")
    return said


def _rounded(value: float | None) -> float:
    return round(value or 0.0, DECIMALS)
