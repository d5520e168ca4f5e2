"""Steps and features of the datasets themselves: nothing here is trained."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from olinear.bench.figures.registry import FigureRow, Places, save_small
from olinear.data.datasets import Dataset, catalogue, find_dataset, load_values, locate
from olinear.evaluation.analysis import Spectrum, compaction, decorrelation, repeating_lag, window_views
from olinear.evaluation.plots import (
    DomainPicture,
    MatrixPanel,
    plot_compaction,
    plot_domains,
    plot_matrices,
)
from olinear.nn import lag_correlation

Show = Callable[[str], None]
SIX = ("ETTh1", "ETTm1", "Weather", "Exchange", "PEMS08", "NASDAQ")
FEW = ("ETTh1", "ETTm1", "Weather", "Exchange", "PEMS08", "ILI", "NASDAQ", "Power")
BASES = ("pearson", "chebyshev", "fourier", "haar", "identity")
IN_A_LINE = 6  # matrices
FIRST = 5  # features


def time_and_transform(folder: Path, places: Places, show: Show) -> list[FigureRow]:
    """Six datasets: windows, features, Q, and the correlation of steps and features that the basis had not seen."""
    rows, pictures = _left_out(SIX, places), []
    for dataset, values, known in _datasets(SIX, places, show):
        size = _lookback(dataset)
        found = decorrelation(values, size, known)
        views = window_views(values[:, 0], found.basis)
        pictures.append(DomainPicture(dataset.name, views, found))
        rows += [
            FigureRow(dataset.name, "mean |correlation| of steps", found.of_steps),
            FigureRow(dataset.name, "mean |correlation| of features, pearson", found.of_features),
        ]
        for basis in BASES:
            behind = decorrelation(values, size, known, basis, normalised=True)
            what = "steps" if basis == "identity" else f"features, {basis}"
            rows.append(FigureRow(dataset.name, f"mean |correlation| of {what}, behind RevIN", behind.of_features))
        rows += [
            FigureRow(dataset.name, "neighbouring windows' correlation", views.likeness_of_steps),
            FigureRow(dataset.name, "neighbouring |features|' correlation, pearson", views.likeness_of_features),
        ]
    if pictures:
        save_small(plot_domains(pictures), folder / "time-and-transform.png")
    return rows


def correlation_matrices(folder: Path, places: Places, show: Show) -> list[FigureRow]:
    """Every dataset that is here: its temporal correlation matrix, and the period that shows in it."""
    names = list(catalogue())
    rows, panels = _left_out(names, places), []
    for dataset, values, known in _datasets(names, places, show):
        size = _lookback(dataset)
        matrix = lag_correlation(values[: round(known * len(values))], size)
        found = repeating_lag(matrix)
        rows.append(FigureRow(dataset.name, f"mean correlation of {size} steps", float(matrix.mean())))
        note = "no period within"
        if found is not None:
            rows.append(FigureRow(dataset.name, "period (steps)", found[0]))
            rows.append(FigureRow(dataset.name, "correlation a period apart", found[1]))
            note = f"period {found[0]} steps"
        panels.append(MatrixPanel(matrix, f"{dataset.name} ({dataset.step})", note, "correlation"))
    lines = [panels[place : place + IN_A_LINE] for place in range(0, len(panels), IN_A_LINE)]
    if lines:
        save_small(plot_matrices(lines), folder / "correlation-matrices.png")
    return rows


def compaction_curves(folder: Path, places: Places, show: Show) -> list[FigureRow]:
    """Shares of the variance in the first features: of the rows as they are, and of windows behind RevIN."""
    rows = _left_out(FEW, places)
    raw: dict[str, dict[str, Spectrum]] = {}
    behind: dict[str, dict[str, Spectrum]] = {}
    for dataset, values, known in _datasets(FEW, places, show):
        size = _lookback(dataset)
        for kind, found in (("", raw), (", behind RevIN", behind)):
            spectra = compaction(values, size, BASES, known, normalised=bool(kind))
            found[f"{dataset.name}, {size} steps"] = spectra
            for basis, spectrum in spectra.items():
                share = float(spectrum.shares[min(FIRST, size) - 1])
                rows.append(FigureRow(dataset.name, f"share of the first {FIRST} features, {basis}{kind}", share))
                rows.append(FigureRow(dataset.name, f"features for 90 %, {basis}{kind}", spectrum.features_for(0.9)))
    for name, spectra_of in (("compaction", raw), ("compaction-revin", behind)):
        if spectra_of:
            save_small(plot_compaction(spectra_of), folder / f"{name}.png")
    return rows


def _datasets(names: Sequence[str], places: Places, show: Show) -> Iterator[tuple[Dataset, NDArray[np.float64], float]]:
    """Those that are here: all rows up to the end of the test rows, and which share of them is for training."""
    for name in names:
        dataset = find_dataset(name)
        path = locate(dataset, places.data)
        if path is not None:
            show(name)
            values = load_values(dataset, path)
            split = dataset.split_rows(len(values))
            values = values[: split.test.stop]
            yield dataset, values, (len(split.train) + 0.5) / len(values)


def _left_out(names: Sequence[str], places: Places) -> list[FigureRow]:
    missing = [name for name in names if locate(find_dataset(name), places.data) is None]
    return [FigureRow(name, "left out", "its file is not here") for name in missing]


def _lookback(dataset: Dataset) -> int:
    """The paper's longest for it."""
    return max(dataset.horizons)
