"""Scores of tasks and datasets as tables, and their figures in words."""

from collections.abc import Mapping, Sequence
from typing import Literal

from olinear.bench.read.measured import MeasuredScore
from olinear.bench.read.summary import WORSE, DatasetScore, Summary, TaskScore, is_worse
from olinear.bench.show.tables import Cell, Column, ResultTable
from olinear.bench.spec.identity import TaskKey

Metric = Literal["MSE", "MAE"]


def task_table(scores: Sequence[TaskScore], metrics: Sequence[Metric] = ("MSE", "MAE")) -> ResultTable:
    """A row a task: ours, its spread over seeds, the published value, their ratio, the best published baseline.

    Ours is bold where no published baseline is better.
    """
    columns = [Column("dataset", False), Column("lookback"), Column("horizon"), Column("seeds")]
    table = ResultTable(columns, [[*score.key, score.seeds] for score in scores])
    for metric in metrics:
        for index, score in enumerate(scores):
            one = score.mse if metric == "MSE" else score.mae
            table.cells[index] += [one.ours, one.spread, one.published, one.ratio, one.baseline_value, one.baseline]
            if one.best:
                table.bold.add((index, len(columns)))
        columns += [Column(metric), Column(f"{metric} spread", decimals=4), Column(f"paper {metric}")]
        columns += [Column(f"{metric} ratio"), Column(f"best other {metric}"), Column(f"best other in {metric}", False)]
    return table


def dataset_table(scores: Sequence[DatasetScore]) -> ResultTable:
    """A row a dataset: means over its tasks."""
    names = ("tasks", "of", "MSE", "paper MSE", "MSE ratio", "MAE", "paper MAE", "MAE ratio")
    cells: list[list[Cell]] = [
        [s.dataset, s.tasks, s.of, s.mse.ours, s.mse.published, s.mse.ratio, s.mae.ours, s.mae.published, s.mae.ratio]
        for s in scores
    ]
    return ResultTable([Column("dataset", False), *map(Column, names)], cells)


def measured_table(scores: Sequence[MeasuredScore], metrics: Sequence[str]) -> ResultTable:
    """A row a task, model and variant: each metric's mean over the seeds, its spread, the paper's if it has some."""
    columns = [Column("dataset", False), Column("lookback"), Column("horizon")]
    columns += [Column("model", False), Column("variant", False), Column("seeds")]
    printed = {name for score in scores for name in score.paper}
    for name in metrics:
        columns += [Column(name), Column(f"{name} spread", decimals=4)]
        columns += [Column(f"paper {name}")] * (name in printed)
    table = ResultTable(columns, [])
    for score in scores:
        cells: list[Cell] = [*score.key, score.model, str(score.variant), score.seeds]
        for name in metrics:
            cells += score.means.get(name, (None, None))
            cells += [score.paper.get(name)] * (name in printed)
        table.cells.append(cells)
    return table


def measured_lines(scores: Sequence[MeasuredScore], of: int) -> list[str]:
    """How many tasks have results, and why nothing stands next to them."""
    done = len({score.key for score in scores})
    seeds = [score.seeds for score in scores]
    return [
        f"{done} of {of} {'task' if of == 1 else 'tasks'}, mean over {seeds_in_words(min(seeds), max(seeds))} each.",
        "These are your own tasks: nothing is published to stand next to them.",
    ]


def seeds_in_words(fewest: int, most: int) -> str:
    """How many seeds something is the mean of."""
    count = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    return f"{count} {'seed' if most == 1 else 'seeds'}"


def summary_lines(summary: Summary) -> list[str]:
    """The figures over all tasks, in words."""
    if summary.mse_ratio is None or summary.mae_ratio is None:
        return [f"0 of {summary.of} tasks have a result."]
    return [
        f"{summary.tasks} of {summary.of} tasks, mean over {seeds_in_words(*summary.seeds)} each.",
        f"Ours / published {summary.reference}, mean over tasks: MSE {summary.mse_ratio:.3f}, "
        f"MAE {summary.mae_ratio:.3f}; above {WORSE} in MSE: {len(summary.worse)} "
        f"{'task' if len(summary.worse) == 1 else 'tasks'}.",
        f"Best MSE among itself and the eleven other published models: ours on {summary.best_mse} of {summary.tasks} "
        f"tasks, published {summary.reference} on {summary.published_best_mse}.",
        f"Best MAE among itself and the eleven other published models: ours on {summary.best_mae} of {summary.tasks} "
        f"tasks, published {summary.reference} on {summary.published_best_mae}.",
    ]


def worse_table(scores: Sequence[TaskScore], remarks: Mapping[TaskKey, str]) -> ResultTable:
    """The tasks whose MSE is worse than published, the worst first, and why."""
    columns = [Column("dataset", False), Column("lookback"), Column("horizon"), Column("seeds"), Column("MSE")]
    columns += [Column("MSE spread", decimals=4), Column("paper MSE"), Column("MSE ratio"), Column("why", False)]
    worse = sorted((score for score in scores if is_worse(score.mse.ratio)), key=lambda score: -score.mse.ratio)
    table = ResultTable(columns, [])
    for score in worse:
        mse, why = score.mse, remarks.get(score.key, "not looked into yet")
        table.cells.append([*score.key, score.seeds, mse.ours, mse.spread, mse.published, mse.ratio, why])
    return table
