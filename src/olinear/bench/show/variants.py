"""A variant's results as a table and in words."""

from collections.abc import Sequence
from statistics import fmean

from olinear.bench.read.variants import ALL_HORIZONS, Measure, VariantScore, paper_scores
from olinear.bench.show.scores import Metric
from olinear.bench.show.tables import Cell, Column, ResultTable
from olinear.bench.spec.identity import Variant
from olinear.bench.spec.variants import SEARCH
from olinear.models import MAIN


def variant_table(
    scores: Sequence[VariantScore], variant: Variant, metrics: Sequence[Metric] = ("MSE", "MAE")
) -> ResultTable:
    """A row a task: ours, its spread over seeds, our main result, the ratio to it, the paper's of the same variant."""
    columns = [Column("dataset", False), Column("lookback"), Column("horizon"), Column("seeds")]
    if variant.has(SEARCH):
        columns.append(Column("chosen lookback", False))
    for metric in metrics:
        columns += [Column(metric), Column(f"{metric} spread", decimals=4), Column(f"main {metric}")]
        columns += [Column(f"{metric} ratio"), Column(f"paper {metric}")]
    table = ResultTable(columns, [])
    for score in scores:
        chosen = [" ".join(map(str, score.lookbacks))] if variant.has(SEARCH) else []
        cells: list[Cell] = [*score.key, score.seeds, *chosen]
        for one in (_measure(score, metric) for metric in metrics):
            cells += [one.ours, one.spread, one.main, one.ratio, one.paper]
        table.cells.append(cells)
    return table


def variant_lines(scores: Sequence[VariantScore], variant: Variant, model: str = MAIN) -> list[str]:
    """The figures over all tasks, in words, and what the paper has only as a mean over horizons."""
    compared = [score for score in scores if score.mse.ratio is not None]
    lines = [f"{len(scores)} {'task has' if len(scores) == 1 else 'tasks have'} a result of {variant}."]
    if compared:
        mse, mae = (fmean(_measure(score, metric).ratio or 0.0 for score in compared) for metric in ("MSE", "MAE"))
        lines.append(f"Ratio to our main results, mean over {len(compared)} of them: MSE {mse:.3f}, MAE {mae:.3f}.")
    both = [(score, score.mse.paper, score.mae.paper) for score in scores]
    printed_too = [(s.mse.ours / mse, s.mae.ours / mae) for s, mse, mae in both if mse is not None and mae is not None]
    if printed_too:
        mse, mae = map(fmean, zip(*printed_too, strict=True))
        lines.append(
            f"Ratio to the paper's {variant}, mean over {len(printed_too)} of them: MSE {mse:.3f}, MAE {mae:.3f}."
        )
    for place in dict.fromkeys((score.key.dataset, score.key.lookback) for score in scores):
        paper = paper_scores(variant, model).get((*place, ALL_HORIZONS))
        if paper is not None and None not in paper:
            of = [score for score in scores if score.key[:2] == place]
            mse, mae = fmean(score.mse.ours for score in of), fmean(score.mae.ours for score in of)
            lines.append(
                f"{place[0]}, mean over horizons: the paper's MSE {paper[0]:.3f}, MAE {paper[1]:.3f}; ours over "
                f"{', '.join(str(score.key.horizon) for score in of)}: MSE {mse:.3f}, MAE {mae:.3f}."
            )
    return lines


def _measure(score: VariantScore, metric: Metric) -> Measure:
    return score.mse if metric == "MSE" else score.mae
