"""`olinear inspect`: what is in a data file or a model folder."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from olinear.cli.common import Freq, Id, Json, Plot, Time, Value, check_picture, print_json, print_table, say, say_notes

MOST_ROWS = 20


def inspect(
    path: Annotated[str, typer.Argument(metavar="FILE_OR_MODEL", help="A data file (- for a pipe) or a model folder.")],
    lookback: Annotated[int | None, typer.Option(help="Data: size of the correlation matrix.")] = None,
    freq: Freq = None,
    time: Time = None,
    id: Id = None,
    value: Value = None,
    plot: Plot = None,
    as_json: Json = False,
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
        _inspect_data(path, lookback, {"freq": freq, "time": time, "id": id, "value": value}, plot, as_json)


def _inspect_data(path: str, lookback: int | None, columns: dict[str, Any], plot: str | None, as_json: bool) -> None:
    from olinear.data.frames import read_file, read_panel
    from olinear.forecaster import default_lookback

    panel = read_panel(read_file(path), **columns)
    size = lookback or default_lookback(1, len(panel), panel.frequency.season)
    summary: dict[str, Any] = {
        "rows": len(panel),
        "first": str(panel.times[0]),
        "last": str(panel.times[-1]),
        "frequency": str(panel.frequency),
        "season": panel.frequency.season,
        "series": len(panel.series),
        "missing": panel.missing,
    }
    matrices = _decorrelation(panel.values, size)
    if matrices is not None:
        before, after = (float(np.abs(matrix[~np.eye(size, dtype=bool)]).mean()) for matrix in matrices)
        summary |= {"lookback": size, "correlation_of_steps": before, "correlation_of_features": after}
    with np.errstate(all="ignore"):
        details = [
            {
                "series": name,
                "missing": int(np.isnan(column).sum()),
                "mean": float(np.nanmean(column)),
                "deviation": float(np.nanstd(column)),
                "least": float(np.nanmin(column)),
                "most": float(np.nanmax(column)),
            }
            for name, column in zip(panel.series, panel.values.T, strict=True)
        ]
    say_notes(panel.notes)
    if plot is not None:
        if matrices is None:
            say("note: nothing to draw: no series varies enough, or there are too few rows")
        else:
            from olinear.evaluation.plots import plot_correlation, save_figure

            save_figure(plot_correlation(*matrices), plot)
            say(f"drawn to {plot}")
    if as_json:
        print_json(summary | {"details": details, "notes": panel.notes})
        return
    print_table(("", ""), [(name.replace("_", " "), _short(cell)) for name, cell in summary.items()])
    typer.echo()
    print_table(list(details[0]), [list(row.values()) for row in details[:MOST_ROWS]])
    if len(details) > MOST_ROWS:
        typer.echo(f"... and {len(details) - MOST_ROWS} more series")


def _decorrelation(values: Any, size: int) -> tuple[Any, Any] | None:
    """Correlations of the newest rows between time steps, and between features of the older rows' basis."""
    from olinear.core import DataError
    from olinear.data.frames import bridge_gaps
    from olinear.nn import lag_correlation, orthogonal_basis

    if size < 2:
        return None
    older = int(0.7 * len(values))
    try:
        basis = orthogonal_basis(lag_correlation(bridge_gaps(values[:older]), size))
        steps = lag_correlation(bridge_gaps(values[older:]), size)
    except DataError:
        return None
    features = basis @ steps @ basis.T
    scale = np.sqrt(np.maximum(np.diag(features), 1e-12))
    return steps, features / np.outer(scale, scale)


def _inspect_model(folder: Path, plot: str | None, as_json: bool) -> None:
    from olinear.forecaster import Forecaster
    from olinear.nn import SeriesMixer

    forecaster = Forecaster.load(folder)
    report, fitted = forecaster.report(), forecaster.fitted
    spectrum = report.pop("spectrum", [])
    if spectrum:
        share = np.cumsum(spectrum) / np.sum(spectrum)
        report["features_for_90_percent"] = int(np.searchsorted(share, 0.9)) + 1
    notes = report.pop("notes")
    modules = fitted.model.modules() if fitted.model is not None else []
    mixing = [module.matrix().detach().cpu().numpy() for module in modules if isinstance(module, SeriesMixer)]
    say_notes(notes)
    if plot is not None and not (mixing or spectrum):
        say("note: nothing to draw: the model has neither a spectrum nor a NormLin")
    elif plot is not None:
        from olinear.evaluation.plots import plot_model, save_figure

        varying = [name for name, varies in zip(fitted.panel.series, fitted.active, strict=True) if varies]
        save_figure(plot_model(mixing, varying, spectrum), plot)
        say(f"drawn to {plot}")
    if as_json:
        names = {"names": fitted.panel.series, "spectrum": spectrum, "notes": notes}
        print_json(report | names)
        return
    print_table(("", ""), [(name.replace("_", " "), _short(cell)) for name, cell in report.items()])


def _short(cell: Any) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
