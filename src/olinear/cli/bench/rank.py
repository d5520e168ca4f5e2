"""`olinear bench rank`: all models on the same tasks."""

from pathlib import Path
from typing import Annotated

import typer

from olinear.cli.bench.grouping import with_groups
from olinear.cli.bench.options import Results, Wanted, Written, select, select_own
from olinear.cli.bench.output import check_out, deliver
from olinear.cli.common import refuse_given
from olinear.core import ConfigError, DataError

AT_ONCE = 6  # tasks side by side on a narrow terminal


@with_groups()
def rank(
    context: typer.Context,
    wanted: Wanted,
    written: Written,
    metric: Annotated[str, typer.Option(help="What is ranked by: mse, mae, or another metric of the rows.")] = "mse",
    results: Results = Path("results"),
) -> None:
    """Rank models by our own main results: a row a model, a column a task, the mean rank.

    Whether a difference to OLinear is more than chance is tested on every test window.

    Example: olinear bench rank --dataset ETTh1 --dataset ILI
    """
    check_out(written.out, results)
    if wanted.tasks is not None:
        refuse_given(context, ("suite",), "is of the paper's tasks, not for --tasks")
    show_ranking(results, wanted, [metric], written)


def show_ranking(results: Path, wanted: Wanted, metric: list[str] | None, written: Written) -> None:
    """Print the ranking of all models on some tasks."""
    from olinear.bench import paper_tasks, rank_models, ranking_lines, ranking_records, ranking_table, read_results

    if metric is not None and len(metric) != 1:
        raise ConfigError("models are ranked by one metric: give --metric once")
    if wanted.tasks is not None:
        _, keys = select_own(wanted.tasks, wanted)
    else:
        selection = select("OLinear", wanted.suite, wanted.dataset, wanted.horizon)
        keys = [key for key in paper_tasks().tasks if selection.has(key)]
    ranking = rank_models(read_results(results), results, wanted=keys, metric=metric[0] if metric else "mse")
    if not ranking.tasks:
        raise DataError(
            f"{results} has no task with results of two models: make some with `olinear bench run --model all`"
        )
    parts = [ranking.tasks[at : at + AT_ONCE] for at in range(0, len(ranking.tasks), AT_ONCE)]
    whole = ranking_records(ranking) if written.format == "csv" else ranking_table(ranking)
    deliver(whole, ranking_lines(ranking), written, [ranking_table(ranking, part) for part in parts])
