"""The command's entry: what holds for all commands, and errors as one-line messages."""

import logging
import warnings
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from olinear import __version__
from olinear.cli import STOPPED
from olinear.cli.backtest import backtest
from olinear.cli.bench import bench
from olinear.cli.common import print_message
from olinear.cli.data import data
from olinear.cli.demo import demo
from olinear.cli.errors import in_options, report_error
from olinear.cli.export import export
from olinear.cli.fit import fit
from olinear.cli.inspect import inspect
from olinear.cli.models import models
from olinear.cli.paper import paper
from olinear.cli.predict import predict
from olinear.cli.pretrain import pretrain
from olinear.cli.settings import settings
from olinear.core.settings import with_present_options

HELP = """Forecast related time series with OLinear.

From a table to a forecast in two lines: olinear fit data.csv --horizon 24, then olinear predict model --plot f.png

Exit codes: 0 done, 2 something to correct, 1 a fault or a failed check, 130 stopped by Ctrl-C.
"""


class Commands(TyperGroup):
    """Our commands, of which each ends with one line when it is stopped."""

    def invoke(self, ctx: Any) -> Any:
        """Run what was asked for."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            print_message("\nstopped")
            raise typer.Exit(STOPPED) from None


app = typer.Typer(cls=Commands, help=HELP, no_args_is_help=True, pretty_exceptions_enable=False)
for command in (fit, predict, backtest, pretrain, inspect, export, models, settings, demo):
    app.command()(command)
app.add_typer(data, name="data")
app.add_typer(bench, name="bench")
app.add_typer(paper, name="paper")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"olinear {__version__}")
        raise typer.Exit


@app.callback(help=HELP)
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log every epoch.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")] = False,
) -> None:
    if verbose:
        logging.basicConfig(level=logging.INFO, format="%(message)s")


def _take_old_names(arguments: list[str]) -> list[str]:
    """Options of the version before by their present names, with a line for each."""
    with warnings.catch_warnings(record=True) as renamed:
        warnings.simplefilter("always")
        present = with_present_options(arguments)
    for each in renamed:
        print_message(f"note: {in_options(str(each.message))}")
    return present


def run(arguments: list[str]) -> int:
    """Run the command and give its exit code: 2 for a user's mistake, with a one-line message; --debug shows where.

    --debug may stand anywhere. With --json an error is an object on standard output, too, also one of usage.
    """
    debug, as_json = "--debug" in arguments, "--json" in arguments
    arguments = _take_old_names([each for each in arguments if each != "--debug"])
    try:
        code = app(arguments, standalone_mode=not as_json)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except Exception as error:
        if debug:
            raise
        return report_error(error, as_json=as_json)
    return code if isinstance(code, int) else 0
