"""`olinear inspect`: what is in a data file or a model folder."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olinear.cli.common import (
    Json,
    Plot,
    check_picture,
    draw,
    print_json,
    print_message,
    print_notes,
    print_table,
)
from olinear.cli.options import with_settings
from olinear.cli.worth import print_worth
from olinear.core import ConfigError

if TYPE_CHECKING:
    from olinear.data.frames import Panel
    from olinear.evaluation.analysis import Decorrelation

MOST_ROWS = 20


@with_settings("reading", without=("missing",))
def inspect(
    path: Annotated[str, typer.Argument(metavar="FILE_OR_MODEL", help="A data file (- for a pipe) or a model folder.")],
    lookback: Annotated[int | None, typer.Option(min=2, help="Data: size of the correlation matrix.")] = None,
    plot: Plot = None,
    plot_correlation: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Data: draw the correlation of steps, before and after OrthoTrans."),
    ] = None,
    as_json: Json = False,
    **reading: Any,
) -> None:
    """Look at a data file before you fit, or at a model after.

    For data: rows, span, step, and each series' mean, range, gaps, outliers, and whether it stopped or never moves.
    --plot draws the series (twelve at the most, or those of --series) with gaps shaded and outliers marked.
    --plot-correlation draws how far OrthoTrans decorrelates the steps (basis from the first 70 % of the rows, judged on
    the rest). For a model: its configuration and parameters; --plot draws the spectrum of its basis and what each
    series takes from each.

    Example: olinear inspect data.csv --plot series.png
    """
    for picture in (plot, plot_correlation):
        check_picture(picture)
    if not path:
        raise ConfigError("no data: give a file or a model folder, such as olinear inspect data.csv")
    if plot is not None and plot_correlation is not None and Path(plot).resolve() == Path(plot_correlation).resolve():
        raise ConfigError(f"--plot and --plot-correlation are two pictures, both to {plot}: give two files")
    if path != "-" and Path(path).is_dir():
        if any(value is not None for value in (plot_correlation, lookback, *reading.values())):
            raise ConfigError("--lookback, --plot-correlation and how to read are for data: leave them out for a model")
        _inspect_model(Path(path), plot, as_json)
    else:
        _inspect_data(path, lookback, reading, (plot, plot_correlation), as_json)


def _inspect_data(
    path: str,
    lookback: int | None,
    reading: dict[str, Any],
    pictures: tuple[str | None, str | None],
    as_json: bool,
) -> None:
    from olinear.core.runtime import Waiting
    from olinear.data.frames import read_panel
    from olinear.evaluation.analysis import describe_series
    from olinear.forecaster import default_lookback

    with Waiting(f"reading {path}") as waiting:
        panel = read_panel(path, **reading)
        size = lookback or default_lookback(1, len(panel), panel.frequency.season)
        waiting.show("correlating the steps")
        summary, found = _summary(panel), _decorrelation(panel, size)
        if found is not None:
            summary |= {
                "lookback": size,
                "correlation_of_steps": found.of_steps,
                "correlation_of_features": found.of_features,
            }
        details = [asdict(one) for one in describe_series(panel.values, panel.series)]
    print_notes(panel.notes)
    _draw_data(panel, found, pictures, len(panel.series) if reading["series"] else None)
    if as_json:
        print_json(summary | {"details": details, "notes": panel.notes})
        return
    _print_summary(summary)
    typer.echo()
    print_table(list(details[0]), [[_yes(cell) for cell in row.values()] for row in details[:MOST_ROWS]])
    if len(details) > MOST_ROWS:
        typer.echo(f"... and {len(details) - MOST_ROWS} more series")


def _draw_data(
    panel: "Panel", found: "Decorrelation | None", pictures: tuple[str | None, str | None], most: int | None
) -> None:
    """The series, and the correlation of their steps, to the files that are asked for."""
    of_series, of_steps = pictures
    if of_series is not None:
        from olinear.evaluation.plots import plot_series

        draw(lambda: plot_series(panel, most=most), of_series)
    if of_steps is not None and found is None:
        print_message(f"note: nothing to draw to {of_steps}: no series varies enough, or there are too few rows")
    elif of_steps is not None and found is not None:
        from olinear.evaluation.plots import plot_correlation

        draw(lambda: plot_correlation(found.steps, found.features), of_steps)


def _summary(panel: "Panel") -> dict[str, Any]:
    return {
        "rows": len(panel),
        "first": str(panel.times[0]),
        "last": str(panel.times[-1]),
        "frequency": str(panel.frequency),
        "season": panel.frequency.season,
        "series": len(panel.series),
        "missing": panel.missing,
    }


def _decorrelation(panel: "Panel", size: int) -> "Decorrelation | None":
    """None where there is nothing to correlate."""
    from olinear.core import DataError
    from olinear.evaluation.analysis import decorrelation

    try:
        return decorrelation(panel.values, size)
    except (ConfigError, DataError):
        return None


def _inspect_model(folder: Path, plot: str | None, as_json: bool) -> None:
    from olinear.evaluation.analysis import Spectrum, mixing_matrices
    from olinear.forecaster import Forecaster

    forecaster = Forecaster.load(folder)
    report, fitted = forecaster.report(), forecaster.fitted
    spectrum, notes = Spectrum(report.pop("spectrum", [])), report.pop("notes")
    if spectrum:
        report["features_for_90_percent"] = spectrum.features_for(0.9)
    mixing = mixing_matrices(fitted.model)
    if plot is not None and not (mixing or spectrum):
        print_message("note: nothing to draw: the model has neither a spectrum nor a NormLin")
    elif plot is not None:
        from olinear.evaluation.plots import plot_model

        varying = [name for name, varies in zip(fitted.panel.series, fitted.active, strict=True) if varies]
        if any(len(matrix) != len(varying) for matrix in mixing):  # it mixes patches of a series, which have no names
            varying = []
        draw(lambda: plot_model(mixing, varying, spectrum.variances), plot)
    print_notes(notes)
    if as_json:
        print_json(report | {"names": fitted.panel.series, "spectrum": spectrum.variances, "notes": notes})
        return
    worth = report.pop("worth", None)
    _print_summary(report)
    if worth is not None:
        typer.echo()
        print_worth(worth, f"On the newest {worth['rows']} rows of the fit, which no choice saw")


def _print_summary(summary: dict[str, Any]) -> None:
    print_table(("", ""), [(name.replace("_", " "), _short(cell)) for name, cell in summary.items()])


def _short(cell: Any) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def _yes(cell: Any) -> Any:
    """True and false as a person says them."""
    return ("no", "yes")[cell] if isinstance(cell, bool) else cell
