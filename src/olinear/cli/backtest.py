"""`olinear backtest`: how good the forecasts would have been."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olinear.cli.common import Json, Memory, NotesOnce, parse_levels, print_json, print_message, print_table
from olinear.cli.worth import print_by_series, print_worth
from olinear.core import ConfigError

if TYPE_CHECKING:
    from olinear.forecaster import Backtest

ALL = "(all)"
FIRST = {"standardised_mae": "std MAE", "standardised_mse": "std MSE", "mase": "MASE"}
IN_UNITS = ("mse", "rmse", "mae", "crps", "width")  # mean over series of different units: for a single one at best


def backtest(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A folder made by olinear fit.")],
    data: Annotated[
        str, typer.Argument(metavar="FILE", help="Rows to test on, preferably unseen in training (- for a pipe).")
    ],
    windows: Annotated[int, typer.Option(help="Number of past origins to forecast from.")] = 20,
    stride: Annotated[int | None, typer.Option(help="Steps between origins; the horizon, if left out.")] = None,
    levels: Annotated[
        str | None,
        typer.Option(
            help="Per cent of intervals whose coverage is wanted.", show_default="80,95 where the data support them"
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write all forecasts next to the actual values.")
    ] = None,
    memory: Memory = None,
    every: Annotated[bool, typer.Option("--all", help="List every series, not only the worst twenty.")] = False,
    as_json: Json = False,
) -> None:
    """Forecast from past origins and compare with the actual values, and with three naive forecasts.

    First come errors in which series of any unit count alike: on the standardised scale (each series divided by its
    standard deviation in training), and MASE. Coverage is the share of values inside the interval.
    docs/forecasting.md explains the other scores. Scores on rows of the fit flatter: use newer ones.

    Example: olinear backtest model newer.csv --windows 20
    """
    from olinear.forecaster.service import BacktestRequest
    from olinear.forecaster.service import backtest as run

    wanted = None if levels is None else parse_levels(levels)
    _check_out(out, as_json)
    note = NotesOnce()
    done = run(BacktestRequest(model, data, windows, stride, wanted, memory, out, note))
    result = done.backtest
    note.rest(done.notes)
    if out is not None:
        print_message(f"{result.windows} windows written to {out}")
    if out == "-":  # nothing else stands in a table on standard output
        return
    worth = result.worth(None) if every else result.worth()
    if as_json:
        found = {"windows": result.windows, "in_sample": result.in_sample, "worth": worth, "notes": done.notes}
        print_json(found | {"metrics": result.metrics.to_dict("records")})
        return
    print_worth(worth, f"{result.windows} windows, all series")
    typer.echo()
    _print_scores(result, worth)


def _check_out(out: str | None, as_json: bool) -> None:
    from olinear.data.frames import check_writable

    if out == "-" and as_json:
        raise ConfigError("--out - and --json both write to standard output: name a file, or leave one out")
    if out is not None:
        check_writable(out, table=True)


def _print_scores(result: "Backtest", worth: dict[str, Any]) -> None:
    """All series together, series by series, then what is in the units of the data, which differ between series."""
    from olinear.evaluation import find_metric

    metrics = result.metrics
    together = metrics[metrics["series"] == ALL].set_index("forecaster").drop(columns="series")
    first = [*FIRST, *(name for name in together if name.startswith("coverage_"))]
    names = [FIRST.get(name) or find_metric(name).label for name in first]
    print_table(["forecaster", *names], together[first].reset_index().to_numpy().tolist(), "All series")
    typer.echo()
    listed, count = len(worth["by_series"]), len(metrics) // len(together) - 1
    print_by_series(worth, "Series by series, the worst first")
    if listed < count:
        typer.echo(f"... and {count - listed} more series: --all lists them")
    typer.echo()
    others = together.drop(columns=first)
    last = [name for name in others if name.partition("_")[0] in IN_UNITS]
    rest = [name for name in others if name not in last]
    for title, part in (("Other scores, all series", rest), ("In original units, whatever those of each series", last)):
        print_table(["", *others.index], [[find_metric(name).label, *others[name]] for name in part], title)
