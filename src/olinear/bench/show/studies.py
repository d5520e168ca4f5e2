"""A study's comparison as a table and in words."""

from collections.abc import Sequence
from itertools import combinations

from olinear.bench.read.comparison import Comparison, MethodScore
from olinear.bench.read.summary import DECIMALS
from olinear.bench.show.tables import Cell, Column, ResultTable


def study_table(comparisons: Sequence[Comparison]) -> ResultTable:
    """A row a method: ours, spread, the paper's, and the places of both; the best of ours is bold.

    `W moved` is |W - W₀| / |W₀| of NormLin's weights, for rows that have it.
    """
    names = ("seeds", "MSE", "MSE spread", "paper MSE", "MAE", "paper MAE", "place", "paper place")
    columns = [Column("model", False), Column("dataset", False), Column("lookback"), Column("horizons", False)]
    columns.append(Column("method", False))
    has_moved = any(score.moved is not None for comparison in comparisons for score in comparison.scores)
    further = [Column("W moved")] * has_moved
    numbers = [Column(name, decimals=4 if "spread" in name else 3) for name in names]
    table = ResultTable([*columns, *numbers, *further], [])
    for comparison in comparisons:
        ours = [score.mse for score in comparison.scores]
        paper = [score.paper.mse for score in comparison.scores]
        place = comparison.place
        for score in comparison.scores:
            cells: list[Cell] = [comparison.model, place.dataset, place.lookback, comparison.over, score.method]
            cells += [score.seeds, score.mse, score.spread, score.paper.mse, score.mae, score.paper.mae]
            places = _rank(score.mse, ours), _rank(score.paper.mse, paper)
            table.cells.append([*cells, *places, *[score.moved] * has_moved])
            if places[0] == 1:
                table.bold.add((len(table.cells) - 1, len(columns) + names.index("MSE")))
    return table


def _rank(value: float | None, among: Sequence[float | None]) -> int | None:
    """1 for the lowest; equals at the printed decimals share a place."""
    if value is None:
        return None
    return 1 + sum(round(other, DECIMALS) < round(value, DECIMALS) for other in among if other is not None)


def order_lines(comparisons: Sequence[Comparison]) -> list[str]:
    """For each dataset, in words: which method is best, and in which pairs our order is the paper's."""
    lines = [f"{comparison.name}: {_order_in_words(comparison)}" for comparison in comparisons]
    compared = [comparison for comparison in comparisons if len(comparison.printed) > 1]
    if len(compared) > 1:
        agree = sum(comparison.has_the_papers_best for comparison in compared)
        lines.append(
            f"The paper's best method is ours too, or tied with it, in {agree} of {len(compared)} comparisons."
        )
    return lines


def _order_in_words(comparison: Comparison) -> str:
    best = comparison.best
    tied = [score.method for score in comparison.known if score is not best and comparison.tied(score, best)]
    how = "equal" if comparison.typical_spread is None else "within seed spread"
    parts = [f"best is {best.method}" + (f" ({how}: {', '.join(tied)})" if tied else "")]
    compared = len(comparison.printed) > 1
    parts.append(_agreement_in_words(comparison) if compared else "the paper prints nothing to compare with")
    if comparison.typical_spread is None:
        parts.append("too few seeds for a spread, so that only equals are tied")
    elif any(comparison.gap(a, b).spread is None for a, b in combinations(comparison.known, 2)):
        parts.append(f"pairs with too few common seeds are tied within {comparison.typical_spread:.2g}")
    return "; ".join(parts) + "."


def _agreement_in_words(comparison: Comparison) -> str:
    """The paper's best, and how the pairs stand."""
    pairs = [(a, b, comparison.verdict(a, b)) for a, b in combinations(comparison.printed, 2)]
    best = f"in the paper {' and '.join(score.method for score in comparison.papers_best)}"
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
