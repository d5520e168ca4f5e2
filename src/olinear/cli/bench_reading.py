"""`olinear bench table` and `olinear bench report`: the results beside the published ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from olinear.cli.bench_running import Data, Results
from olinear.cli.common import refuse_given, say
from olinear.core import ConfigError, DataError

if TYPE_CHECKING:
    from olinear.bench.read import Missing, Selection
    from olinear.bench.show import ResultTable
    from olinear.bench.store import Row

Model = Annotated[str, typer.Option(help="Whose rows.")]
Dataset = Annotated[list[str] | None, typer.Option(help="Only this dataset; may be repeated.")]
Horizon = Annotated[list[int] | None, typer.Option(help="Only this horizon; may be repeated.")]
Suite = Annotated[Literal["all", "long", "short"], typer.Option(help="long: lookback 96; short: lookbacks 12 and 36.")]
Format = Annotated[Literal["terminal", "markdown", "csv", "latex"], typer.Option(help="How it is written.")]
Out = Annotated[Path | None, typer.Option(metavar="FILE", help="Write it there; else it is printed.")]
View = Literal["task", "dataset", "worse"]
NO_TASK = "no task is like that: `olinear bench run --dry-run` lists all"
AT_ONCE = 6  # tasks beside each other on a narrow terminal
NARROWEST = 80  # characters; a narrower terminal breaks lines itself


def table(
    context: typer.Context,
    results: Results = Path("results"),
    data: Data = None,
    format: Format = "terminal",
    by: Annotated[Literal["task", "dataset"], typer.Option(help="A row for each; datasets are means.")] = "task",
    worse: Annotated[bool, typer.Option("--worse", help="Only tasks clearly worse than published, and why.")] = False,
    models: Annotated[bool, typer.Option("--models", help="All models beside each other, with ranks.")] = False,
    metric: Annotated[Literal["mse", "mae"], typer.Option(help="What --models ranks by.")] = "mse",
    dataset: Dataset = None,
    horizon: Horizon = None,
    variant: Annotated[str, typer.Option(help="A variant beside our main results.")] = "main",
    model: Model = "OLinear",
    suite: Suite = "all",
    out: Out = None,
) -> None:
    """Print our scores, their spread over seeds, the published value, the ratio, and the best published baseline.

    Beneath are the figures over all tasks (for CSV on standard error). Ours is bold where no published baseline is
    better.

    --worse shows only the tasks whose MSE is more than 5 % above the published one, and the remark on each in the
    results' remarks.toml. --variant shows a variant's results beside our main ones and the paper's of the same variant.
    --models shows our own runs of all models: a row a model, a column a task, the mean rank, and whether a difference
    to OLinear is more than chance.

    Example: olinear bench table --by dataset --format markdown
    """
    from olinear.bench.spec import spell

    check_out(out, results)
    selection = select(model, suite, dataset, horizon)
    variant = spell(variant)
    if models:
        ignored = ("by", "worse", "variant", "model")
        refuse_given(context, ignored, "is not for --models, which shows the main results of all")
        _compare_models(results, selection, metric, format, out)
        return
    refuse_given(context, ("metric",), "is for --models: other tables have both")
    if variant != "main":
        refuse_given(context, ("by", "worse"), "is not for --variant, which shows tasks beside our main results")
        _show_variant(_read(results, selection.model, variant), selection, variant, format, out)
        return
    if worse:
        refuse_given(context, ("by",), "is not for --worse, which shows tasks")
    view: View = "worse" if worse else by
    _show_main(results, data, selection, view, format, out)


def _show_main(
    results: Path, data: Path | None, selection: "Selection", view: View, format: Format, out: Path | None
) -> None:
    from olinear.bench.read import average_datasets, find_missing, read_remarks, score_tasks, summarise, worse_table
    from olinear.bench.show import dataset_table, summary_lines, task_table

    rows = _read(results, selection.model)
    scores = score_tasks(rows, selection)
    lines = summary_lines(summarise(scores, selection))
    if view == "worse":
        deliver(worse_table(scores, read_remarks(results, selection.model)), lines, format, out)
    elif view == "dataset":
        deliver(dataset_table(average_datasets(scores, selection)), lines, format, out)
    else:
        deliver(task_table(scores), lines, format, out, [task_table(scores, [name]) for name in ("MSE", "MAE")])
    _say_missing(find_missing(rows, selection, data))


def _show_variant(rows: "list[Row]", selection: "Selection", variant: str, format: Format, out: Path | None) -> None:
    from olinear.bench.read import score_variant, variant_lines, variant_table

    scores = [score for score in score_variant(rows, variant, selection.model) if selection.has(score.key)]
    if not scores:
        raise DataError(f"no task of these has results of {variant}: leave --dataset, --horizon and --suite out")
    lines = variant_lines(scores, variant, selection.model)
    parts = [variant_table(scores, variant, [name]) for name in ("MSE", "MAE")]
    deliver(variant_table(scores, variant), lines, format, out, parts)


def _compare_models(
    results: Path, selection: "Selection", metric: Literal["mse", "mae"], format: Format, out: Path | None
) -> None:
    from olinear.bench.read import rank_models, ranking_lines, ranking_records, ranking_table
    from olinear.bench.spec import own_tasks, tasks
    from olinear.bench.store import read_results

    wanted = [key for key in (*tasks(), *own_tasks()) if selection.has(key)]
    ranking = rank_models(read_results(results), results, wanted=wanted, metric=metric)
    if not ranking.tasks:
        raise DataError(
            f"{results} has no task with results of two models: make some with `olinear bench run --model all`"
        )
    parts = [ranking.tasks[at : at + AT_ONCE] for at in range(0, len(ranking.tasks), AT_ONCE)]
    whole = ranking_records(ranking) if format == "csv" else ranking_table(ranking)
    deliver(whole, ranking_lines(ranking), format, out, [ranking_table(ranking, part) for part in parts])


def report(
    results: Results = Path("results"),
    data: Data = None,
    dataset: Dataset = None,
    model: Model = "OLinear",
    suite: Suite = "all",
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path("report.html"),
) -> None:
    """Write one HTML page that opens from disk: figures, charts, every task, drawn forecasts, what is missing and why.

    Example: olinear bench report --results results --out report.html
    """
    from olinear.bench.show import write_report

    selection = select(model, suite, dataset)
    rows = _read(results, selection.model)
    write_report(results, out, data, selection)
    say(f"{len(selection.pick(rows))} rows of {results} shown in {out}")


def select(model: str, suite: str, datasets: list[str] | None, horizons: list[int] | None = None) -> "Selection":
    """What was asked for, in the one spelling of each name; an error if it is nothing."""
    from olinear.bench.read import Selection
    from olinear.bench.spec import own_tasks, tasks
    from olinear.data.datasets import find_dataset
    from olinear.models import find_model

    names = tuple(find_dataset(name).name for name in datasets or [])
    selection = Selection(find_model(model), suite, names, tuple(horizons or []))
    if not any(selection.has(key) for key in (*tasks(), *own_tasks())):
        raise ConfigError(NO_TASK)
    return selection


def _read(folder: Path, model: str, variant: str = "main") -> "list[Row]":
    """The rows of a folder, or an error if none is of that model and variant."""
    from olinear.bench.store import read_results

    rows = read_results(folder)
    if not rows:
        raise DataError(f"no results are in {folder}: make some with `olinear bench run --results {folder}`")
    if not any((row.model, row.variant) == (model, variant) for row in rows):
        kinds = ", ".join(sorted({f"{row.model} {row.variant}" for row in rows}))
        raise DataError(
            f"{folder} has no results of {model} {variant}, only of {kinds}: make some with "
            f"`olinear bench run --model {model} --variant {variant}`"
        )
    return rows


def check_out(out: Path | None, results: Path) -> None:
    """Refuse a file that would be read as results."""
    if out is not None and out.suffix == ".csv" and out.resolve().parent == results.resolve():
        raise ConfigError(f"{out} would be taken for a file of results: write it to another folder")


def deliver(
    table: "ResultTable", lines: list[str], format: Format, out: Path | None, parts: "Sequence[ResultTable]" = ()
) -> None:
    """A table and the lines beneath it, to a file or printed; in `parts` on a page, or where the terminal is narrow."""
    from olinear.bench.show import FORMATS, write_text

    if out is None and format == "terminal":
        _print(table, parts or [table], lines)
        return
    *before, last = parts if parts and format in ("markdown", "latex") else [table]
    write = FORMATS[format]
    text = "\n".join([*(write(part, ()) for part in before), write(last, lines)])
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_text(text, out)
        say(f"{len(table.cells)} rows written to {out}")
    if format == "csv":  # which has no place for them
        for line in lines:
            say(line)


def _print(whole: "ResultTable", parts: "Sequence[ResultTable]", lines: list[str]) -> None:
    """The table, or its parts one below the other if the terminal is too narrow; the lines beneath."""
    from rich.console import Console
    from rich.measure import Measurement

    from olinear.bench.show import WIDE, rich_table

    terminal = Console()
    console = Console(width=max(terminal.width, NARROWEST) if terminal.is_terminal else WIDE)
    needed = Measurement.get(console, console.options.update_width(10 * WIDE), rich_table(whole)).maximum
    for table in [whole] if needed <= console.width else parts:
        console.print(rich_table(table))
        typer.echo()
    for line in lines:
        typer.echo(line)


def _say_missing(missing: "list[Missing]") -> None:
    """One line on how many tasks are missing for each kind of reason."""
    counts: dict[str, int] = {}
    for item in missing:
        kind = item.reason.split(":")[0]
        counts[kind] = counts.get(kind, 0) + 1
    if missing:
        reasons = ", ".join(f"{count} {kind}" for kind, count in counts.items())
        say(f"note: {len(missing)} tasks have no result ({reasons}); `olinear bench report` says why")
