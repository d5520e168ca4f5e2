"""`olinear bench table`: the results next to the published ones."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from olinear.cli.bench.grouping import with_groups
from olinear.cli.bench.options import Data, Model, Results, Wanted, Written, select, select_own
from olinear.cli.bench.output import check_out, deliver, read_rows, rows_of
from olinear.cli.bench.rank import show_ranking
from olinear.cli.common import print_message, refuse_given
from olinear.core import DataError

if TYPE_CHECKING:
    from olinear.bench import Missing, Row, Selection, TaskKey, Variant

View = Literal["task", "dataset", "worse"]
Metrics = Annotated[
    list[str] | None, typer.Option("--metric", help="Only this metric, with its spread; may be repeated.")
]
BOTH = ["mse", "mae"]


@with_groups()
def table(
    context: typer.Context,
    wanted: Wanted,
    written: Written,
    results: Results = Path("results"),
    data: Data = None,
    by: Annotated[Literal["task", "dataset"], typer.Option(help="A row for each; datasets are means.")] = "task",
    worse: Annotated[bool, typer.Option("--worse", help="Only tasks clearly worse than published, and why.")] = False,
    spread: Annotated[
        bool, typer.Option("--spread", help="How far seeds lie apart, of tasks and of means over horizons.")
    ] = False,
    models: Annotated[bool, typer.Option("--models", help="The same as `olinear bench rank`.")] = False,
    metric: Metrics = None,
    variant: Annotated[str, typer.Option(help="A variant next to our main results.")] = "main",
    model: Model = "OLinear",
) -> None:
    """Print our scores, their spread over seeds, the published value, the ratio, and the best published baseline.

    Beneath are the figures over all tasks (for CSV on standard error). Ours is bold where no published baseline is
    better. --worse shows only the tasks whose MSE is more than 5 % above the published one, and the remark on each in
    the results' remarks.toml. --spread shows standard deviations over seeds, and the intervals of means over horizons,
    next to the paper's, and names the tasks with too few seeds. --variant shows a variant's results next to our main
    ones and the paper's of the same variant. --metric shows any metric that the rows have, next to what the paper
    prints of it (mse, mae, r2, pearson, and window_mase, its MASE). --tasks shows your own tasks, of which nothing is
    published.

    Example: olinear bench table --by dataset --format markdown
    """
    check_out(written.out, results)
    if models:
        others = ("by", "worse", "spread", "variant", "model")
        refuse_given(context, others, "is not for --models, which ranks the main results")
        show_ranking(results, wanted, metric, written)
    elif wanted.tasks is not None:
        refuse_given(context, ("by", "worse", "spread", "suite"), "compares with the paper, which is not for --tasks")
        _, keys = select_own(wanted.tasks, wanted)
        _show_measured(_pick(context, read_rows(results), model, variant), keys, metric or BOTH, written)
    elif spread:
        refuse_given(context, ("by", "worse", "metric"), "is not for --spread, which shows MSE and MAE")
        _show_spread(results, select(model, wanted.suite, wanted.dataset, wanted.horizon), variant, written)
    else:
        view: View = "worse" if worse else by
        if worse:
            refuse_given(context, ("by",), "is not for --worse, which shows tasks")
        selection = select(model, wanted.suite, wanted.dataset, wanted.horizon)
        _show_selection(context, results, data, selection, view, variant, metric, written)


def _show_selection(
    context: typer.Context,
    results: Path,
    data: Path | None,
    selection: "Selection",
    view: View,
    variant: str,
    metric: list[str] | None,
    written: Written,
) -> None:
    """Some of the paper's tasks: next to what it printed, or any metrics, or a variant next to the main results."""
    from olinear.bench import find_variant

    chosen = find_variant(variant)
    if metric is None and chosen.is_main:
        _show_main(results, data, selection, view, written)
        return
    rows = rows_of(results, selection.model, str(chosen))
    if metric is not None:
        refuse_given(context, ("by", "worse"), "compares with the paper, which is not for --metric")
        own = [row for row in rows if row.model == selection.model and row.variant == chosen]
        _show_measured(own, [row.key for row in own if selection.has(row.key)], metric, written)
        return
    refuse_given(context, ("by", "worse"), "is not for --variant, which shows tasks next to our main results")
    _show_variant(rows, selection, chosen, written)


def _pick(context: typer.Context, rows: "list[Row]", model: str, variant: str) -> "list[Row]":
    """The rows of what was asked for by name; all, if nothing was."""
    from olinear.bench import Variant
    from olinear.models import MODELS

    def given(name: str) -> bool:
        source = context.get_parameter_source(name)
        return source is not None and source.name == "COMMANDLINE"

    if given("model"):
        name = MODELS.find(model).name
        rows = [row for row in rows if row.model == name]
    return [row for row in rows if row.variant == Variant.parse(variant)] if given("variant") else rows


def _show_measured(rows: "list[Row]", keys: "list[TaskKey]", metrics: list[str], written: Written) -> None:
    from olinear.bench import measure_rows, measured_lines, measured_table, published

    names = list(dict.fromkeys(metrics))
    scores = measure_rows(rows, names, keys)
    if not scores:
        raise DataError("none of these tasks has a result: make some with `olinear bench run`, with the same --tasks")
    lines = measured_lines(scores, len(set(keys)))
    deliver(measured_table(scores, names), lines if not set(keys) & set(published()) else lines[:1], written)


def _show_main(results: Path, data: Path | None, selection: "Selection", view: View, written: Written) -> None:
    from olinear import bench

    rows = rows_of(results, selection.model)
    scores = bench.score_tasks(rows, selection)
    lines = bench.summary_lines(bench.summarise(scores, selection))
    if view == "worse":
        remarks = bench.read_remarks(results, selection.model)
        deliver(bench.worse_table(scores, remarks), lines, written)
    elif view == "dataset":
        deliver(bench.dataset_table(bench.average_datasets(scores, selection)), lines, written)
    else:
        parts = [bench.task_table(scores, [name]) for name in ("MSE", "MAE")]
        deliver(bench.task_table(scores), lines, written, parts)
    _name_missing(bench.find_missing(rows, selection, data))


def _show_variant(rows: "list[Row]", selection: "Selection", variant: "Variant", written: Written) -> None:
    from olinear.bench import score_variant, variant_lines, variant_table

    scores = [score for score in score_variant(rows, variant, selection.model) if selection.has(score.key)]
    if not scores:
        raise DataError(f"no task of these has results of {variant}: leave --dataset, --horizon and --suite out")
    lines = variant_lines(scores, variant, selection.model)
    parts = [variant_table(scores, variant, [name]) for name in ("MSE", "MAE")]
    deliver(variant_table(scores, variant), lines, written, parts)


def _show_spread(results: Path, selection: "Selection", variant: str, written: Written) -> None:
    from olinear.bench import find_variant, measure_spread, spread_lines, spread_table

    chosen = find_variant(variant)
    scores, few = measure_spread(rows_of(results, selection.model, str(chosen)), selection, chosen)
    if not scores:
        raise DataError("no task of these has several seeds: make some with `olinear bench run --seeds 7`")
    lines = spread_lines(scores, few, f"--model {selection.model} --variant {chosen}")
    parts = [spread_table(scores, [name]) for name in ("MSE", "MAE")]
    deliver(spread_table(scores), lines, written, parts)


def _name_missing(missing: "list[Missing]") -> None:
    """One line on how many tasks are missing for each kind of reason."""
    counts: dict[str, int] = {}
    for item in missing:
        kind = item.reason.split(":")[0]
        counts[kind] = counts.get(kind, 0) + 1
    if missing:
        reasons = ", ".join(f"{count} {kind}" for kind, count in counts.items())
        print_message(f"note: {len(missing)} tasks have no result ({reasons}); `olinear bench report` says why")
