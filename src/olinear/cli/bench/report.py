"""`olinear bench report`: the results as a page."""

from pathlib import Path
from typing import Annotated

import typer

from olinear.cli.bench.options import Data, Dataset, Model, Results, Suite, Tasks, Wanted, select, select_own
from olinear.cli.bench.output import read_rows, rows_of
from olinear.cli.common import print_message, refuse_given


def report(
    context: typer.Context,
    results: Results = Path("results"),
    data: Data = None,
    dataset: Dataset = None,
    model: Model = "OLinear",
    suite: Suite = "all",
    tasks: Tasks = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path("report.html"),
) -> None:
    """Write one HTML page that opens from disk: figures, charts, every task, drawn forecasts, what is missing and why.

    Example: olinear bench report --results results --out report.html
    """
    from olinear.bench import write_own_report, write_report

    if tasks is not None:
        refuse_given(context, ("model", "suite"), "compares with the paper, which is not for --tasks")
        _, keys = select_own(tasks, Wanted(dataset=dataset))
        rows = [row for row in read_rows(results) if row.key in keys]
        write_own_report(rows, results, out, tasks, keys)
        print_message(f"{len(rows)} rows of {results} shown in {out}")
        return
    selection = select(model, suite, dataset)
    rows = rows_of(results, selection.model)
    write_report(results, out, data, selection)
    print_message(f"{len(selection.pick(rows))} rows of {results} shown in {out}")
