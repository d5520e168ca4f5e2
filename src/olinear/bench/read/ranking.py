"""Many models on the same tasks: their scores, their ranks, and which differences are more than chance."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from olinear.bench.read.summary import DECIMALS
from olinear.bench.spec.identity import JobKey, TaskKey
from olinear.bench.spec.task import in_order
from olinear.bench.store.results import read_errors
from olinear.bench.store.rows import Row
from olinear.evaluation import find_metric, holm, least_p, sign_flip_test
from olinear.models import MAIN

LEVEL = 0.05
FEW, UNKNOWN = "°", "?"


@dataclass(frozen=True)
class Ranking:
    """The main results of several models on the tasks that at least two of them have."""

    metric: str
    tasks: tuple[TaskKey, ...]
    scores: dict[str, dict[TaskKey, float]]  # model -> task -> mean over seeds
    ranked: tuple[TaskKey, ...]  # the tasks that at least half of the models have
    ranks: dict[str, float]  # of the models that have all of those: mean over them; empty unless there are two
    marks: dict[tuple[str, TaskKey], str]  # see `_marks`
    seeds: tuple[int, int]  # fewest and most of a score

    def cost(self, model: str, key: TaskKey) -> float:
        """A score at the printed decimals, as something that is better the lower it is."""
        return _cost(self.metric, self.scores[model][key])

    def place(self, model: str, key: TaskKey) -> float:
        """Of a model on a task; equals share the mean of their places."""
        costs = [self.cost(name, key) for name, by_task in self.scores.items() if key in by_task]
        own = self.cost(model, key)
        return 1 + sum(cost < own for cost in costs) + (costs.count(own) - 1) / 2

    def is_best(self, model: str, key: TaskKey) -> bool:
        """Whether no model is better on a task."""
        costs = {name: self.cost(name, key) for name, by_task in self.scores.items() if key in by_task}
        return model in costs and costs[model] == min(costs.values())


def rank_models(rows: Iterable[Row], folder: Path, metric: str = "mse", wanted: Sequence[TaskKey] = ()) -> Ranking:
    """Compare all models by their main rows, on the wanted tasks or on all; window errors are read from `folder`."""
    find_metric(metric)  # which way it improves must be known
    found: dict[str, dict[TaskKey, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.variant.is_main and row.is_result and metric in row.scores and (not wanted or row.key in wanted):
            found[row.model][row.key].append(row.scores[metric])
    counts = [key for by_task in found.values() for key in by_task]
    tasks = tuple(in_order({key for key in counts if counts.count(key) > 1}))
    scores = {
        model: {key: fmean(by_task[key]) for key in tasks if key in by_task}
        for model, by_task in found.items()
        if any(key in by_task for key in tasks)
    }
    ranked = tuple(key for key in tasks if 2 * counts.count(key) >= len(scores))
    whole = [model for model, by_task in scores.items() if ranked and all(key in by_task for key in ranked)]
    seeds = [len(found[model][key]) for model, by_task in scores.items() for key in by_task] or [0]
    marks = _marks(scores, tasks, folder) if metric == "mse" else {}
    ranking = Ranking(metric, tasks, scores, ranked, {}, marks, (min(seeds), max(seeds)))
    if len(whole) < 2:
        return ranking
    return replace(ranking, ranks={model: fmean(ranking.place(model, key) for key in ranked) for model in whole})


def _cost(metric: str, score: float) -> float:
    known = find_metric(metric)
    if known.better == "target":
        return abs(round(score - (known.goal or 0.0), DECIMALS))
    return round(-score if known.better == "higher" else score, DECIMALS)


def _marks(
    scores: dict[str, dict[TaskKey, float]], tasks: Sequence[TaskKey], folder: Path
) -> dict[tuple[str, TaskKey], str]:
    """Each model against OLinear, task by task, by the squared errors of their first seeds on every test window.

    "+" better, "-" worse, "" not shown to differ, FEW where windows are too few to show it, UNKNOWN without errors.
    """
    marks: dict[tuple[str, TaskKey], str] = {}
    for key in tasks:
        models = [model for model in scores if model != MAIN and key in scores[model]]
        marks |= dict.fromkeys(((model, key) for model in models), UNKNOWN)
        main = read_errors(folder, JobKey(key))
        kept = {model: read_errors(folder, JobKey(key, model)) for model in models}
        errors = {model: theirs for model, theirs in kept.items() if theirs is not None}
        if main is None:
            continue
        if len(errors) * least_p(len(main), key.horizon) >= LEVEL:
            marks |= dict.fromkeys(((model, key) for model in errors), FEW)
            continue
        p_values = holm({model: sign_flip_test(theirs, main, key.horizon) for model, theirs in errors.items()})
        for model, p in p_values.items():
            worse = errors[model].mean() > main.mean()
            marks[model, key] = "" if p >= LEVEL else "-" if worse else "+"
    return marks
