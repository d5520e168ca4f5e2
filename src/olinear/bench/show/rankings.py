"""Many models on the same tasks as a table, in words, and for programs."""

import math
from collections.abc import Sequence

from olinear.bench.read.ranking import FEW, LEVEL, UNKNOWN, Ranking
from olinear.bench.show.scores import seeds_in_words
from olinear.bench.show.tables import Cell, Column, ResultTable
from olinear.bench.spec.identity import TaskKey
from olinear.evaluation import find_metric
from olinear.models import MAIN


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
            if ranking.is_best(model, key):
                table.bold.add((row, column))
        table.cells.append(cells)
    return table


def _cell(ranking: Ranking, model: str, key: TaskKey) -> str:
    """A score, its place, and its mark."""
    place = ranking.place(model, key)
    return f"{ranking.scores[model][key]:.3f} ({place:g}){ranking.marks.get((model, key), '')}"


def ranking_lines(ranking: Ranking) -> list[str]:
    """What the table means, in words."""
    over = seeds_in_words(*ranking.seeds)
    lines = [
        f"{find_metric(ranking.metric).label}, mean over {over}, and its place in brackets. {_ranked_in_words(ranking)}"
    ]
    if MAIN in ranking.scores:
        best = [key for key in ranking.tasks if ranking.is_best(MAIN, key)]
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


def _ranked_in_words(ranking: Ranking) -> str:
    if not ranking.ranks:
        return "No mean rank: no two models have the tasks that most have."
    tasks = ", ".join(map(str, ranking.ranked)) if len(ranking.ranked) <= 4 else f"{len(ranking.ranked)} tasks"
    without = [model for model in ranking.scores if model not in ranking.ranks]
    return f"Mean rank over {tasks}" + (f"; {', '.join(without)} lack some of them." if without else ".")


def ranking_records(ranking: Ranking) -> ResultTable:
    """The same for programs: a row a model and task."""
    columns = [Column("model", False), Column("dataset", False), Column("lookback"), Column("horizon")]
    columns += [Column(ranking.metric), Column("place"), Column("mark", False)]
    table = ResultTable(columns, [])
    for model, scores in ranking.scores.items():
        for key, score in scores.items():
            mark = ranking.marks.get((model, key), "")
            table.cells.append([model, *key, score, ranking.place(model, key), mark])
    return table
