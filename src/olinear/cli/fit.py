"""`olinear fit`: from a data file to a model folder."""

from pathlib import Path
from typing import Annotated, Any

import typer

from olinear.cli import STOPPED
from olinear.cli.common import Json, Memory, NotesOnce, print_json, print_message, print_table
from olinear.cli.options import Config, with_settings
from olinear.cli.worth import print_by_series, print_worth
from olinear.core import ConfigError

SHOWN = (
    "series",
    "frequency",
    "rows",
    "lookback",
    "horizon",
    "model",
    "model_dim",
    "blocks",
    "batch_size",
    "parameters",
)
MOST_SERIES = 20  # that are listed
SCORES = ("best_epoch", "epochs", "validation_loss", "seconds")


@with_settings("task", "reading", "model", "training", "validation")
def fit(
    data: Annotated[
        str | None, typer.Argument(metavar="FILE", help="CSV, Parquet, Feather or Excel, wide or long; - reads CSV.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to save the model.")] = Path("model"),
    config: Config = None,
    write_config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the settings to a file, as chosen for FILE if given; fit nothing."),
    ] = None,
    context: Annotated[bool, typer.Option(help="Keep the last rows, so that predict needs no data.")] = True,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a fit that was stopped.")] = False,
    progress: Annotated[bool, typer.Option(help="Draw a live line while training.")] = True,
    memory: Memory = None,
    as_json: Json = False,
    **settings: Any,
) -> None:
    """Fit a model to related series and save it.

    The table is wide (a time column and one column a series) or long (unique_id, ds, y). Everything but the file and
    the horizon has a default from the data. The newest fifth of the rows validates; the newest of those are seen by no
    choice, and show how much better the fit is than naive forecasts. `olinear settings` explains each setting.

    Example: olinear fit data.csv --horizon 24 --out model
    """
    from olinear.forecaster.service import FitRequest

    note = NotesOnce()
    request = FitRequest(
        data,
        out,
        settings,
        config=config,
        context=context,
        resume=resume,
        progress=progress and not as_json,
        memory=memory,
        notify=note,
    )
    if write_config is not None:
        _write_config(request, write_config)
        return
    if data is None:
        raise ConfigError("no data: give a file, such as olinear fit data.csv --horizon 24, or - for a pipe")
    _fit(request, note, as_json)


def _fit(request: Any, note: NotesOnce, as_json: bool) -> None:
    from olinear.forecaster.service import fit as fit_and_save

    try:
        result = fit_and_save(request)
    except KeyboardInterrupt:
        print_message("\nstopped; the same command with --resume goes on from the last checkpoint")
        raise typer.Exit(STOPPED) from None
    report = result.report
    note.rest(report["notes"])
    if as_json:
        print_json(report | {"forecaster": report["model"], "model": str(result.out)})
        return
    print_table(("", ""), [(name.replace("_", " "), report[name]) for name in (*SHOWN, *SCORES) if name in report])
    if "worth" in report:
        _print_worth(report["worth"], report["refit"])
    print_message(f"saved to {result.out}; next: olinear predict {result.out} --plot forecast.png")


def _print_worth(worth: dict[str, Any], refit: bool) -> None:
    """The score of the held-out rows, series by series where they are few."""
    typer.echo()
    print_worth(worth, f"On the newest {worth['rows']} rows, which no choice saw")
    if 1 < worth["series_scored"] <= MOST_SERIES:
        typer.echo()
        print_by_series(worth, "Series by series, the worst first")
    if refit:
        print_message("then trained once more on all rows, those of the score too")


def _write_config(request: Any, path: Path) -> None:
    from olinear.core.settings import write_settings
    from olinear.forecaster.service import choose

    write_settings(path, choose(request))
    print_message(f"settings written to {path}; next: olinear fit {request.data or 'data.csv'} --config {path}")
