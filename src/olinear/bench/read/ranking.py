"""Many models on the same tasks: their scores, their ranks, and which differences are more than chance."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal

from olinear.bench.read.summary import DECIMALS, is_result
from olinear.bench.show.table import Cell, Column, ResultTable, say_seeds
from olinear.bench.spec.jobs import FIRST_SEED, Job
from olinear.bench.spec.task import TaskKey, own_tasks, published
from olinear.bench.store.results import Row, read_errors
from olinear.evaluation import holm, least_p, sign_flip_test
from olinear.models import MAIN

LEVEL = 0.05
FEW, UNKNOWN = "°", "?"
Metric = Literal["mse", "mae"]


@dataclass(frozen=True)
class Ranking:
    """The main results of several models on the tasks that at least two of them have."""

    metric: Metric
    tasks: tuple[TaskKey, ...]
    scores: dict[str, dict[TaskKey, float]]  # model -> task -> mean over seeds
    ranked: tuple[TaskKey, ...]  # the tasks that at least half of the models have
    ranks: dict[str, float]  # of the models that have all of those: mean over them; empty unless there are two
    marks: dict[tuple[str, TaskKey], str]  # see `_marks`
    seeds: tuple[int, int]  # fewest and most of a score


def rank_models(rows: Iterable[Row], folder: Path, metric: Metric = "mse", wanted: Sequence[TaskKey] = ()) -> Ranking:
    """Compare all models by their main rows, on the wanted tasks or on all; window errors are read from `folder`."""
    found: dict[str, dict[TaskKey, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.variant == "main" and is_result(row) and (not wanted or row.key in wanted):
            found[row.model][row.key].append(float(getattr(row, metric)))
    counts = [key for by_task in found.values() for key in by_task]
    tasks = tuple(key for key in (*published(), *own_tasks()) if counts.count(key) > 1)
    scores = {
        model: {key: fmean(by_task[key]) for key in tasks if key in by_task}
        for model, by_task in found.items()
        if any(key in by_task for key in tasks)
    }
    ranked = tuple(key for key in tasks if 2 * counts.count(key) >= len(scores))
    whole = [model for model, by_task in scores.items() if ranked and all(key in by_task for key in ranked)]
    ranks = {model: fmean(_rank(scores, model, key) for key in ranked) for model in whole} if len(whole) > 1 else {}
    seeds = [len(found[model][key]) for model, by_task in scores.items() for key in by_task] or [0]
    marks = _marks(scores, tasks, folder) if metric == "mse" else {}
    return Ranking(metric, tasks, scores, ranked, ranks, marks, (min(seeds), max(seeds)))


def _rank(scores: dict[str, dict[TaskKey, float]], model: str, key: TaskKey) -> float:
    """The place of a model on a task at the printed decimals; equals share the mean of their places."""
    own = round(scores[model][key], DECIMALS)
    values = [round(by_task[key], DECIMALS) for by_task in scores.values() if key in by_task]
    return 1 + sum(value < own for value in values) + (values.count(own) - 1) / 2


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
        main = read_errors(folder, Job(key, seed=FIRST_SEED))
        kept = {model: read_errors(folder, Job(key, model, seed=FIRST_SEED)) for model in models}
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


def ranking_table(ranking: Ranking, tasks: Sequence[TaskKey] | None = None) -> ResultTable:
    """A row a model, best mean rank first; a column a task (all of them, or some), the best bold, with the marks."""
    tasks = ranking.tasks if tasks is None else tasks
    models = sorted(ranking.scores, key=lambda model: (ranking.ranks.get(model, math.inf), model))
    columns = [Column("model", False), Column("mean rank", decimals=1)]
    columns += [Column(str(key)) for key in tasks]
    table = ResultTable(columns, [])
    for row, model in enumerate(models):
        cells: list[Cell] = [model, ranking.ranks.get(model)]
        for column, key in enumerate(tasks, start=len(cells)):
            cells.append(_cell(ranking, model, key) if key in ranking.scores[model] else None)
            if is_best(ranking, model, key):
                table.bold.add((row, column))
        table.cells.append(cells)
    return table


def _cell(ranking: Ranking, model: str, key: TaskKey) -> str:
    """A score, its place, and its mark."""
    place = _rank(ranking.scores, model, key)
    return f"{ranking.scores[model][key]:.3f} ({place:g}){ranking.marks.get((model, key), '')}"


def ranking_lines(ranking: Ranking) -> list[str]:
    """What the table means, in words."""
    over = say_seeds(*ranking.seeds)
    lines = [f"{ranking.metric.upper()}, mean over {over}, and its place in brackets. {_say_ranked(ranking)}"]
    if MAIN in ranking.scores:
        best = [key for key in ranking.tasks if is_best(ranking, MAIN, key)]
        place = sorted(ranking.ranks.values()).index(ranking.ranks[MAIN]) + 1 if MAIN in ranking.ranks else None
        of = f"; its mean rank is number {place} of {len(ranking.ranks)}" if place else ""
        lines.append(f"{MAIN} is best on {len(best)} of {len(ranking.tasks)} tasks{of}.")
    if not ranking.marks:
        return lines
    lines.append(
        f"+ better and - worse than {MAIN} at a level of {LEVEL:g}: sign-flip test of the MSE of the first seeds, "
        "paired over test windows, in blocks of two horizons since neighbouring windows overlap; Holm's correction "
        "within a task."
    )
    if FEW in ranking.marks.values():
        lines.append(f"{FEW} not tested: too few test windows to show a difference among so many models.")
    if UNKNOWN in ranking.marks.values():
        lines.append(f"{UNKNOWN} not tested: no window errors were kept.")
    return lines


def _say_ranked(ranking: Ranking) -> str:
    if not ranking.ranks:
        return "No mean rank: no two models have the tasks that most have."
    tasks = ", ".join(map(str, ranking.ranked)) if len(ranking.ranked) <= 4 else f"{len(ranking.ranked)} tasks"
    without = [model for model in ranking.scores if model not in ranking.ranks]
    return f"Mean rank over {tasks}" + (f"; {', '.join(without)} lack some of them." if without else ".")


def is_best(ranking: Ranking, model: str, key: TaskKey) -> bool:
    """Whether no model is better on a task, at the printed decimals."""
    scores = {name: round(by_task[key], DECIMALS) for name, by_task in ranking.scores.items() if key in by_task}
    return model in scores and scores[model] == min(scores.values())


def ranking_records(ranking: Ranking) -> ResultTable:
    """The same for programs: a row a model and task."""
    columns = [Column("model", False), Column("dataset", False), Column("lookback"), Column("horizon")]
    columns += [Column(ranking.metric), Column("place"), Column("mark", False)]
    table = ResultTable(columns, [])
    for model, scores in ranking.scores.items():
        for key, score in scores.items():
            mark = ranking.marks.get((model, key), "")
            table.cells.append([model, *key, score, _rank(ranking.scores, model, key), mark])
    return table
