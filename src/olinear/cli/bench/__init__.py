"""`olinear bench`: the paper's evaluation, or your own tasks, from raw files to a table and a page."""

import typer

from olinear.cli.bench.costs import costs
from olinear.cli.bench.curves import curves
from olinear.cli.bench.rank import rank
from olinear.cli.bench.report import report
from olinear.cli.bench.run import run
from olinear.cli.bench.study import study
from olinear.cli.bench.table import table

bench = typer.Typer(
    help="Rerun the paper's 140 tasks, or run your own, and read the results next to the published ones.",
    no_args_is_help=True,
)
for command in (run, table, rank, curves, report, study, costs):
    bench.command()(command)
