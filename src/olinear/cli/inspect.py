"""`olinear inspect`: what is in a data file or a model folder."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from olinear.cli.common import Json, Plot, check_picture, draw, print_json, print_message, print_notes, print_table
from olinear.cli.inspect_model import ModelPictures, inspect_model, print_summary
from olinear.cli.options import with_settings
from olinear.core import ConfigError

if TYPE_CHECKING:
    from olinear.data.frames import Panel
    from olinear.evaluation.analysis import Decorrelation

MOST_ROWS = 20

PlotCorrelation = Annotated[
    str | None, typer.Option(metavar="FILE", help="Data: draw the correlation of steps, before and after OrthoTrans.")
]
PlotDecorrelation = Annotated[
    str | None, typer.Option(metavar="FILE", help="Data: draw windows, their features, Q, and both correlations.")
]
PlotMixing = Annotated[
    str | None, typer.Option(metavar="FILE", help="Model: draw what each series or token takes from each.")
]
RowsToLookAt = Annotated[
    str | None,
    typer.Option(
        "--data",
        metavar="FILE",
        help="Model: rows to look at its mixing on.",
        show_default="the last ones it was fitted on",
    ),
]


@dataclass(frozen=True)
class DataPictures:
    """The files to draw to: the series, the correlation of steps, and steps and features side by side."""

    series: str | None
    correlation: str | None
    decorrelation: str | None


@with_settings("reading", without=("missing",))
def inspect(
    path: Annotated[str, typer.Argument(metavar="FILE_OR_MODEL", help="A data file (- for a pipe) or a model folder.")],
    lookback: Annotated[int | None, typer.Option(min=2, help="Data: size of the correlation matrix.")] = None,
    plot: Plot = None,
    plot_correlation: PlotCorrelation = None,
    plot_decorrelation: PlotDecorrelation = None,
    plot_mixing: PlotMixing = None,
    data: RowsToLookAt = None,
    as_json: Json = False,
    **reading: Any,
) -> None:
    """Look at a data file before you fit, or at a model after.

    For data: rows, span, step, and each series' mean, range, gaps, outliers, and whether it stopped or never moves.
    --plot draws the series (twelve at the most, or those of --series) with gaps shaded and outliers marked.
    --plot-correlation draws how far OrthoTrans decorrelates the steps (basis from the first 70 % of the rows, judged on
    the rest), --plot-decorrelation the same with the basis, and windows of the first series next to their features.

    For a model: its configuration and parameters, and each layer that mixes series or tokens: its rank, the entropy of
    its rows (1: they look everywhere alike), how alike it is to the correlation of the series (off the diagonal, after
    softmax), and how often chance is as much. Attention depends on what it sees: --data names rows. --plot draws the
    spectrum of its basis and what each series takes from each, --plot-mixing every such layer with its numbers.

    Example: olinear inspect data.csv --plot series.png
    """
    if not path:
        raise ConfigError("no data: give a file or a model folder, such as olinear inspect data.csv")
    _check_pictures(plot=plot, plot_correlation=plot_correlation, plot_decorrelation=plot_decorrelation,
                    plot_mixing=plot_mixing)  # fmt: skip
    if path != "-" and Path(path).is_dir():
        if any(value is not None for value in (plot_correlation, plot_decorrelation, lookback, *reading.values())):
            raise ConfigError(
                "--lookback, --plot-correlation, --plot-decorrelation and how to read are for data: leave them out for "
                "a model"
            )
        inspect_model(Path(path), data, ModelPictures(plot, plot_mixing), as_json=as_json)
        return
    if plot_mixing is not None or data is not None:
        raise ConfigError(f"--plot-mixing and --data are for a model, and {path} is no folder: leave them out for data")
    _inspect_data(path, lookback, reading, DataPictures(plot, plot_correlation, plot_decorrelation), as_json)


def _check_pictures(**pictures: str | None) -> None:
    """Each can be drawn, and each to a file of its own."""
    taken: dict[Path, str] = {}
    for name, picture in pictures.items():
        check_picture(picture)
        if picture is None:
            continue
        option, place = f"--{name.replace('_', '-')}", Path(picture).resolve()
        if place in taken:
            raise ConfigError(f"{taken[place]} and {option} are two pictures, both to {picture}: give two files")
        taken[place] = option


def _inspect_data(
    path: str, lookback: int | None, reading: dict[str, Any], pictures: DataPictures, as_json: bool
) -> None:
    from olinear.core.runtime import Waiting
    from olinear.data.frames import read_panel
    from olinear.evaluation.analysis import Spectrum, describe_series
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
                "features_for_90_percent": Spectrum(found.variances).features_for(0.9),
            }
        details = [asdict(one) for one in describe_series(panel.values, panel.series)]
    print_notes(panel.notes)
    _draw_data(panel, found, pictures, len(panel.series) if reading["series"] else None)
    if as_json:
        print_json(summary | {"details": details, "notes": panel.notes})
        return
    print_summary(summary)
    typer.echo()
    print_table(list(details[0]), [[_yes(cell) for cell in row.values()] for row in details[:MOST_ROWS]])
    if len(details) > MOST_ROWS:
        typer.echo(f"... and {len(details) - MOST_ROWS} more series")


def _draw_data(panel: "Panel", found: "Decorrelation | None", pictures: DataPictures, most: int | None) -> None:
    """The series, and the correlation of their steps, to the files that are asked for."""
    if pictures.series is not None:
        from olinear.evaluation.plots import plot_series

        draw(lambda: plot_series(panel, most=most), pictures.series)
    if found is None:
        for wanted in (pictures.correlation, pictures.decorrelation):
            if wanted is not None:
                print_message(f"note: nothing to draw to {wanted}: no series varies enough, or there are too few rows")
        return
    if pictures.correlation is not None:
        from olinear.evaluation.plots import plot_correlation

        draw(lambda: plot_correlation(found.steps, found.features), pictures.correlation)
    if pictures.decorrelation is not None:
        _draw_domains(panel, found, pictures.decorrelation)


def _draw_domains(panel: "Panel", found: "Decorrelation", path: str) -> None:
    from olinear.data.frames import bridge_gaps
    from olinear.evaluation.analysis import window_views
    from olinear.evaluation.plots import DomainPicture, plot_domains

    values = bridge_gaps(panel.values)
    place = _first_varying(values.std(0))
    views = window_views(values[:, place], found.basis)
    draw(lambda: plot_domains([DomainPicture(panel.series[place], views, found)]), path)


def _first_varying(deviations: Sequence[float]) -> int:
    return next((place for place, deviation in enumerate(deviations) if deviation > 0), 0)


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


def _yes(cell: Any) -> Any:
    """True and false as a person says them."""
    return ("no", "yes")[cell] if isinstance(cell, bool) else cell
