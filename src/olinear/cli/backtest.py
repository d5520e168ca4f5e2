"""`olinear backtest`: how good the forecasts would have been."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from olinear.cli.common import Json, parse_levels, print_json, print_message, print_notes, print_table

if TYPE_CHECKING:
    import pandas as pd

ALL = "(all)"
ERRORS = ("mse", "mae", "standardised_mse", "standardised_mae")


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
            help="Per cent of intervals whose coverage is wanted.", show_default="80,95 where they can be told"
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write all forecasts next to the actual values.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Forecast from past origins and compare with the actual values, and with two naive forecasts.

    Errors are in original units and on the standardised scale (each series divided by its standard deviation in
    training), on which series can be compared. Coverage is the share of values inside the interval; docs/forecasting.md
    says what the other scores are.

    Example: olinear backtest model data.csv --windows 20
    """
    from olinear.data.frames import check_writable, write_file
    from olinear.forecaster.service import BacktestRequest
    from olinear.forecaster.service import backtest as run

    wanted = None if levels is None else parse_levels(levels)
    if out is not None:
        check_writable(out, table=True)
    done = run(BacktestRequest(model, data, windows, stride, wanted))
    result = done.backtest
    print_notes(done.notes)
    if out is not None:
        write_file(result.forecasts, out)
        print_message(f"{result.windows} windows written to {out}")
    if as_json:
        print_json(
            {"windows": result.windows, "in_sample": result.in_sample, "metrics": result.metrics.to_dict("records")}
        )
        return
    _print_scores(result.metrics, result.windows)


def _print_scores(metrics: "pd.DataFrame", windows: int) -> None:
    """All series together: errors and coverage, then every other score; then series by series, the standardised MAE."""
    from olinear.evaluation import find_metric

    together = metrics[metrics["series"] == ALL].set_index("forecaster").drop(columns="series")
    first = [name for name in together if name in ERRORS or name.startswith("coverage_")]
    names = [name.replace("standardised", "std").replace("_", " ") for name in first]
    rows = together[first].reset_index().to_numpy().tolist()
    print_table(["forecaster", *names], rows, f"{windows} windows, all series")
    typer.echo()
    others = together.drop(columns=first)
    rows = [[find_metric(name).label, *scores] for name, scores in others.items()]
    print_table(["", *others.index], rows, "Other scores, all series")
    by_series = metrics[metrics["series"] != ALL]
    table = by_series.pivot_table("standardised_mae", "series", "forecaster", sort=False)
    typer.echo()
    print_table(["std mae", *table.columns], table.reset_index().to_numpy().tolist(), "Series by series")
