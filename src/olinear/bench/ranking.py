"""Many models on the same tasks: their scores, their ranks, and which differences are more than chance."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal

from olinear.bench.jobs import FIRST_SEED, Job
from olinear.bench.results import Row, read_errors
from olinear.bench.summary import DECIMALS, is_result
from olinear.bench.table import Cell, Column, ResultTable
from olinear.bench.tasks import TaskKey, own_tasks, published
from olinear.evaluation import holm, least_p, sign_flip_test
from olinear.zoo import MAIN

LEVEL = 0.05
Metric = Literal["mse", "mae"]


@dataclass(frozen=True)
class Ranking:
    """The main results of several models on the tasks that at least two of them have."""

    metric: Metric
    tasks: tuple[TaskKey, ...]
    scores: dict[str, dict[TaskKey, float]]  # model -> task -> mean over seeds
    ranks: dict[str, float]  # model -> mean over the tasks that all models have; empty without such a task
    ranked: int  # how many tasks those are
    marks: dict[tuple[str, TaskKey], str]  # "+" better than OLinear, "-" worse, "" not shown to differ, "?" not tested


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
    common = [key for key in tasks if all(key in by_task for by_task in scores.values())]
    ranks = {model: fmean(_rank(scores, model, key) for key in common) for model in scores} if common else {}
    return Ranking(metric, tasks, scores, ranks, len(common), _marks(scores, tasks, folder))


def _rank(scores: dict[str, dict[TaskKey, float]], model: str, key: TaskKey) -> float:
    """The place of a model on a task at the printed decimals; equals share the mean of their places."""
    own = round(scores[model][key], DECIMALS)
    values = [round(by_task[key], DECIMALS) for by_task in scores.values() if key in by_task]
    return 1 + sum(value < own for value in values) + (values.count(own) - 1) / 2


def _marks(
    scores: dict[str, dict[TaskKey, float]], tasks: Sequence[TaskKey], folder: Path
) -> dict[tuple[str, TaskKey], str]:
    """Each model against OLinear, task by task, by the errors of their first seeds on every test window."""
    marks: dict[tuple[str, TaskKey], str] = {}
    for key in tasks:
        models = [model for model in scores if model != MAIN and key in scores[model]]
        marks |= dict.fromkeys(((model, key) for model in models), "?")
        main = read_errors(folder, Job(key, seed=FIRST_SEED))
        kept = {model: read_errors(folder, Job(key, model, seed=FIRST_SEED)) for model in models}
        errors = {model: theirs for model, theirs in kept.items() if theirs is not None}
        if main is None or len(errors) * least_p(len(main), key.horizon) >= LEVEL:
            continue
        p_values = holm({model: sign_flip_test(theirs, main, key.horizon) for model, theirs in errors.items()})
        for model, p in p_values.items():
            worse = errors[model].mean() > main.mean()
            marks[model, key] = "" if p >= LEVEL else "-" if worse else "+"
    return marks


def ranking_table(ranking: Ranking, tasks: Sequence[TaskKey] | None = None) -> ResultTable:
    """A row a model, best mean rank first; a column a task (all of them, or some), the best bold, with the marks."""
    tasks = ranking.tasks if tasks is None else tasks
    models = sorted(ranking.scores, key=lambda model: (ranking.ranks.get(model, 0.0), model))
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
    name = ranking.metric.upper()
    tasks = "1 task" if ranking.ranked == 1 else f"{ranking.ranked} tasks"
    ranked = f"Mean rank over the {tasks} that all models have."
    if not ranking.ranked:
        ranked = "No mean rank: no task has results of all models."
    lines = [f"{name}, mean over seeds, and its place in brackets. {ranked}"]
    if MAIN in ranking.scores:
        best = [key for key in ranking.tasks if is_best(ranking, MAIN, key)]
        place = sorted(ranking.ranks.values()).index(ranking.ranks[MAIN]) + 1 if ranking.ranks else None
        of = f"; its mean rank is number {place} of {len(ranking.ranks)}" if place else ""
        lines.append(f"{MAIN} is best on {len(best)} of {len(ranking.tasks)} tasks{of}.")
    lines.append(
        f"+ better and - worse than {MAIN} at a level of {LEVEL:g}: sign-flip test of the MSE of the first seeds, "
        "paired over test windows, in blocks of two horizons since neighbouring windows overlap; Holm's correction "
        "within a task."
    )
    if "?" in ranking.marks.values():
        lines.append("? not tested: no window errors were kept, or too few test windows to show a difference.")
    return lines


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
