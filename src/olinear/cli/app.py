"""The command's entry: options that hold for all, and errors told in one line."""

import sys
from typing import Annotated

import typer

from olinear import __version__
from olinear.cli.demo import demo
from olinear.errors import OLinearError

app = typer.Typer(
    help="Forecast related time series with OLinear.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(demo)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"olinear {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    """Forecast related time series with OLinear."""


def main() -> None:
    """Run the command; a user's mistake gives one line and exit code 2."""
    try:
        app()
    except OLinearError as error:
        typer.echo(f"olinear: {error}", err=True)
        sys.exit(2)
