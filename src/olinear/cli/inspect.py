"""`olinear inspect`: what is in a data file or a model folder."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olinear.cli.common import Json, Plot, check_picture, print_json, print_message, print_notes, print_table
from olinear.cli.options import with_settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from olinear.data.frames import Panel
    from olinear.evaluation.analysis import Decorrelation

MOST_ROWS = 20


@with_settings("reading", without=("missing",))
def inspect(
    path: Annotated[str, typer.Argument(metavar="FILE_OR_MODEL", help="A data file (- for a pipe) or a model folder.")],
    lookback: Annotated[int | None, typer.Option(help="Data: size of the correlation matrix.")] = None,
    plot: Plot = None,
    as_json: Json = False,
    **reading: Any,
) -> None:
    """Look at a data file before you fit, or at a model after.

    For data: series, gaps, frequency, and how far OrthoTrans decorrelates the steps (basis from the first 70 % of the
    rows, judged on the rest); --plot draws the correlation matrix. For a model: its configuration, parameters and the
    spectrum of its basis; --plot draws the spectrum and what each series takes from each.

    Example: olinear inspect data.csv --plot correlation.png
    """
    check_picture(plot)
    if path != "-" and Path(path).is_dir():
        _inspect_model(Path(path), plot, as_json)
    else:
        _inspect_data(path, lookback, reading, plot, as_json)


def _inspect_data(path: str, lookback: int | None, columns: dict[str, Any], plot: str | None, as_json: bool) -> None:
    from olinear.data.frames import read_panel
    from olinear.evaluation.analysis import describe_series
    from olinear.forecaster import default_lookback

    panel = read_panel(path, **columns)
    size = lookback or default_lookback(1, len(panel), panel.frequency.season)
    summary, found = _summary(panel), _decorrelation(panel, size)
    if found is not None:
        summary |= {
            "lookback": size,
            "correlation_of_steps": found.of_steps,
            "correlation_of_features": found.of_features,
        }
    details = [asdict(one) for one in describe_series(panel.values, panel.series)]
    print_notes(panel.notes)
    if plot is not None and found is None:
        print_message("note: nothing to draw: no series varies enough, or there are too few rows")
    elif plot is not None and found is not None:
        from olinear.evaluation.plots import plot_correlation

        _save(plot_correlation(found.steps, found.features), plot)
    if as_json:
        print_json(summary | {"details": details, "notes": panel.notes})
        return
    _print_summary(summary)
    typer.echo()
    print_table(list(details[0]), [list(row.values()) for row in details[:MOST_ROWS]])
    if len(details) > MOST_ROWS:
        typer.echo(f"... and {len(details) - MOST_ROWS} more series")


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
    from olinear.core import ConfigError, DataError
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
    print_notes(notes)
    if plot is not None and not (mixing or spectrum):
        print_message("note: nothing to draw: the model has neither a spectrum nor a NormLin")
    elif plot is not None:
        from olinear.evaluation.plots import plot_model

        varying = [name for name, varies in zip(fitted.panel.series, fitted.active, strict=True) if varies]
        _save(plot_model(mixing, varying, spectrum.variances), plot)
    if as_json:
        print_json(report | {"names": fitted.panel.series, "spectrum": spectrum.variances, "notes": notes})
        return
    _print_summary(report)


def _save(figure: "Figure", path: str) -> None:
    from olinear.evaluation.plots import save_figure

    save_figure(figure, path)
    print_message(f"drawn to {path}")


def _print_summary(summary: dict[str, Any]) -> None:
    print_table(("", ""), [(name.replace("_", " "), _short(cell)) for name, cell in summary.items()])


def _short(cell: Any) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
