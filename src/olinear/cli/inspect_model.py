"""`olinear inspect MODEL`: what a model is, and what it has learnt."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import typer
from numpy.typing import NDArray

from olinear.cli.common import draw, print_json, print_message, print_notes, print_table
from olinear.cli.worth import print_worth

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from olinear.data.frames import Panel
    from olinear.evaluation.analysis import MixingLayer
    from olinear.forecaster import Fitted, Forecaster

MOST_WINDOWS = 8  # that attention is looked at in: it says as much of more
IN_A_LINE = 4  # matrices of a picture
COLUMNS = ("mixing layer", "kind", "tokens", "rank", "effective rank", "entropy", "likeness", "by chance")


@dataclass(frozen=True)
class ModelPictures:
    """The files to draw to: spectrum and NormLin, and every layer that mixes."""

    model: str | None
    mixing: str | None


def inspect_model(folder: Path, data: str | None, pictures: ModelPictures, *, as_json: bool) -> None:
    """Say what it is, print its layers that mix, and draw what is asked for."""
    from olinear.core.runtime import Waiting
    from olinear.evaluation.analysis import Spectrum
    from olinear.forecaster import Forecaster

    with Waiting(f"reading {folder}") as waiting:
        forecaster = Forecaster.load(folder)
        report, fitted = forecaster.report(), forecaster.fitted
        spectrum, notes = Spectrum(report.pop("spectrum", [])), report.pop("notes")
        if spectrum:
            report["features_for_90_percent"] = spectrum.features_for(0.9)
        waiting.show("looking at the layers")
        layers = _layers(forecaster, data)
    varying = [name for name, varies in zip(fitted.panel.series, fitted.active, strict=True) if varies]
    _draw(pictures, layers, varying, spectrum.variances)
    print_notes(notes)
    if as_json:
        found = [_as_record(layer) for layer in layers]
        names = {"names": fitted.panel.series, "spectrum": spectrum.variances, "notes": notes}
        print_json(report | {"mixing": found} | names)
        return
    worth = report.pop("worth", None)
    print_summary(report)
    if layers:
        typer.echo()
        print_table(COLUMNS, [_cells(layer) for layer in layers])
    if worth is not None:
        typer.echo()
        print_worth(worth, f"On the newest {worth['rows']} rows of the fit, which no choice saw")


def print_summary(summary: dict[str, Any]) -> None:
    """Names and what they are."""
    print_table(("", ""), [(name.replace("_", " "), _short(cell)) for name, cell in summary.items()])


def _layers(forecaster: "Forecaster", data: str | None) -> "list[MixingLayer]":
    from olinear.evaluation.analysis import mixing_layers

    fitted = forecaster.fitted
    panel = fitted.panel if data is None else forecaster.read(data)
    if fitted.model is None or not len(panel):
        return mixing_layers(fitted.model)
    rows = _scaled(fitted, panel)
    return mixing_layers(fitted.model, _windows(rows, fitted.settings.lookback), rows)


def _scaled(fitted: "Fitted", panel: "Panel") -> NDArray[np.floating]:
    """The rows as the model sees them: gaps bridged, standardised, without what never varied."""
    from olinear.data.frames import bridge_gaps

    return np.asarray(fitted.scaler.transform(bridge_gaps(panel.values))[:, fitted.active])


def _windows(rows: NDArray[np.floating], lookback: int) -> NDArray[np.floating] | None:
    """Some, evenly spread, the newest among them; none of too few rows."""
    last = len(rows) - lookback
    if last < 0:
        return None
    starts = np.unique(np.linspace(0, last, MOST_WINDOWS).round().astype(int))
    return np.stack([rows[start : start + lookback] for start in starts])


def _draw(pictures: ModelPictures, layers: "list[MixingLayer]", series: list[str], variances: Sequence[float]) -> None:
    own = [layer.matrix for layer in layers if layer.kind == "matrix"]
    if pictures.model is not None and not (own or len(variances)):
        print_message("note: nothing to draw: the model has neither a spectrum nor a NormLin")
    elif pictures.model is not None:
        from olinear.evaluation.plots import plot_model

        named = series if all(len(matrix) == len(series) for matrix in own) else []  # patches of a series have no names
        draw(lambda: plot_model(own, named, variances), pictures.model)
    if pictures.mixing is not None and not layers:
        print_message(
            f"note: nothing to draw to {pictures.mixing}: no layer mixes by a matrix, or attention has no rows to look "
            "at (--data names some)"
        )
    elif pictures.mixing is not None:
        draw(lambda: _plot_layers(layers, series), pictures.mixing)


def _plot_layers(layers: "list[MixingLayer]", series: list[str]) -> "Figure":
    from olinear.evaluation.plots import MatrixPanel, plot_matrices

    panels = []
    for layer in layers:
        found = layer.summary
        note = f"rank {found.rank:.3g} of {found.size}, effective {found.effective_rank:.3g}"
        if layer.likeness is not None:
            note += f"\nlike the correlation {layer.likeness.correlation:.2f}, p {layer.likeness.p_value:.3f}"
        title = layer.name if layer.kind == "matrix" else f"{layer.name}\nattention, mean of its heads"
        panels.append(MatrixPanel(layer.matrix, title, note))
    lines = [panels[place : place + IN_A_LINE] for place in range(0, len(panels), IN_A_LINE)]
    return plot_matrices(lines, title="row takes from column", labels=series)


def _cells(layer: "MixingLayer") -> list[Any]:
    found, alike = layer.summary, layer.likeness
    nan = float("nan")
    likeness = (nan, nan) if alike is None else (alike.correlation, alike.p_value)
    return [layer.name, layer.kind, found.size, found.rank, found.effective_rank, found.entropy, *likeness]


def _as_record(layer: "MixingLayer") -> dict[str, Any]:
    found, alike = layer.summary, layer.likeness
    record = {"layer": layer.name, "kind": layer.kind, "tokens": found.size, "matrices": found.matrices}
    record |= {"rank": found.rank, "effective_rank": found.effective_rank, "entropy": found.entropy}
    both = {} if alike is None else {"likeness": alike.correlation, "likeness_p": alike.p_value}
    return record | both


def _short(cell: Any) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
