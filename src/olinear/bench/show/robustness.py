"""Spread over seeds as a table and in words."""

from collections.abc import Mapping, Sequence

from olinear.bench.read.robustness import SEEDS, TIMES, Around, SpreadScore
from olinear.bench.show.scores import Metric
from olinear.bench.show.tables import Cell, Column, ResultTable
from olinear.bench.spec.identity import TaskKey


def spread_table(scores: Sequence[SpreadScore], metrics: Sequence[Metric] = ("MSE", "MAE")) -> ResultTable:
    """A row a task, then one for each mean over horizons: ours and the paper's means, deviations and intervals."""
    columns = [Column("dataset", False), Column("lookback"), Column("horizon"), Column("seeds")]
    for metric in metrics:
        columns += [Column(metric), Column(f"paper {metric}")]
        names = [f"{of}{metric} {name}" for name in ("spread", "interval") for of in ("", "paper ")]
        columns += [Column(name, decimals=4) for name in names]
    table = ResultTable(columns, [])
    for score in scores:
        cells: list[Cell] = [*score.place, score.seeds]
        for metric in metrics:
            ours, paper = score.ours[metric.lower()], score.paper.get(metric.lower(), NOTHING)
            cells += [ours.mean, paper[0], ours.spread, paper[1], ours.interval, paper[2]]
        table.cells.append(cells)
    return table


NOTHING = (None, None, None)


def spread_lines(scores: Sequence[SpreadScore], few: Mapping[TaskKey, int], what: str) -> list[str]:
    """How ours compares with the paper's, and which of the paper's tasks have too few seeds; `what` names the rows."""
    lines = [
        f"spread: the standard deviation over seeds, of the paper over {SEEDS}. "
        f"interval: {TIMES} times that of the mean over horizons, as the paper's of 99 %."
    ]
    pairs = [(_width(s.ours["mse"]), _width(s.paper["mse"])) for s in scores if s.paper and s.seeds >= SEEDS]
    known = [(ours, paper) for ours, paper in pairs if ours is not None and paper is not None]
    if known:
        wider = sum(ours > paper for ours, paper in known)
        lines.append(f"Of the MSE, ours is wider than the paper's in {wider} of {len(known)} rows with {SEEDS} seeds.")
    if few:
        named = ", ".join(f"{key} ({count})" for key, count in few.items())
        lines.append(
            f"Fewer than {SEEDS} seeds, of what the paper has: {named}: `olinear bench run {what} --seeds {SEEDS}`."
        )
    return lines


def _width(around: Around) -> float | None:
    return around.spread if around.interval is None else around.interval
