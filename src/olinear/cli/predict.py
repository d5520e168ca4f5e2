"""`olinear predict`: a forecast from a model folder."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from olinear.cli.common import (
    Json,
    Names,
    Plot,
    check_picture,
    draw,
    parse_levels,
    print_json,
    print_message,
    print_notes,
)

if TYPE_CHECKING:
    from olinear.forecaster import Prediction


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A folder made by olinear fit.")],
    data: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="New rows to forecast from; - for a pipe.")
    ] = None,
    out: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="Where to write: CSV, Parquet, Feather or Excel by the ending; - prints CSV."
        ),
    ] = "-",
    levels: Annotated[
        str | None,
        typer.Option(
            help="Per cent of the intervals; empty for none.", show_default="80,95 where the data support them"
        ),
    ] = None,
    series: Names = None,
    horizon: Annotated[int | None, typer.Option(help="Fewer steps than trained, or with --recursive more.")] = None,
    recursive: Annotated[bool, typer.Option("--recursive", help="Let forecasts feed on forecasts.")] = False,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Forecast what follows, in original units, with real dates and intervals.

    Without a file it goes on from the last rows the model was fitted on. With one, from the file's last rows: the same
    series, at least as many rows as the model looks back on. No refit is needed. All series are forecast together;
    --series chooses which are in the answer and in the picture, which otherwise shows the first six.

    Example: olinear predict model --out forecast.csv --plot forecast.png --levels 80,95
    """
    from olinear.data.frames import check_writable
    from olinear.forecaster.service import PredictRequest
    from olinear.forecaster.service import predict as forecast

    wanted = None if levels is None else parse_levels(levels)
    check_writable(out, table=True)
    check_picture(plot)
    result = forecast(PredictRequest(model, data, wanted, horizon, recursive, series or None, progress=True))
    print_notes(result.notes)
    if plot is not None:
        shown = result.prediction.forecast.series if series else None
        draw(lambda: result.prediction.plot(series=shown), plot)
    _write(result.prediction, out, as_json)


def _write(prediction: "Prediction", out: str, as_json: bool) -> None:
    """The answer as a table; JSON takes the place of a table on standard output."""
    from olinear.core.runtime import Waiting
    from olinear.data.frames import write_file

    style = prediction.forecast.style
    frame = prediction.to_frame(replace(style, backend="pandas", indexed=False))
    if as_json:
        print_json(frame.astype({style.time: str}).to_dict("records"))
        if out == "-":
            return
    with Waiting(f"writing {out}", out != "-"):
        write_file(frame, out)
    if out != "-":
        print_message(f"{len(prediction.forecast)} steps of {len(prediction.forecast.series)} series written to {out}")
