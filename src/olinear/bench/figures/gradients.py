"""Jacobians of softmax and of NormLin's normalisation at the same inputs."""

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from olinear.bench.figures.looking import TASKS, Show, attention_in, present, wanted
from olinear.bench.figures.registry import FigureRow, Places, save_small
from olinear.bench.figures.trained import trained
from olinear.evaluation.analysis import compare_gradients, normlin_jacobian, softmax_jacobian
from olinear.evaluation.plots import Curve, CurvePanel, MatrixPanel, plot_curves, plot_matrices
from olinear.nn import NormLin

MOST_ENTRIES = 4_000_000  # of Jacobians, of rows that are evenly spread
SIZES = (8, 55, 321)
DEVIATIONS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
DRAWS = 60


def jacobians(folder: Path, places: Places, show: Show) -> list[FigureRow]:
    """At rows of NormLin's weights, at rows of attention's scores, and at Gaussian rows of any deviation."""
    keys, rows = present(TASKS, places)
    lines, names = [], []
    for key in keys:
        name = str(key)
        inputs = {"NormLin's weights": _weights(key, places, show), "attention's scores": _scores(key, places, show)}
        panels = []
        for what, given in inputs.items():
            rows += comparison_rows(name, what, given)
            panels += _pair(given[len(given) // 2], what)
        lines.append(panels)
        names.append(name)
    if lines:
        save_small(plot_matrices(lines, names), folder / "jacobians.png")
    rows += _by_deviation(folder)
    return rows


def comparison_rows(name: str, what: str, given: NDArray[np.floating]) -> list[FigureRow]:
    """The numbers of both maps at the same rows."""
    found = compare_gradients(given)
    rows = [FigureRow(name, f"at {what}: deviation of a row", float(given.std(-1).mean()))]
    for title, each in (("softmax", found.softmax), ("NormLin", found.normlin)):
        rows += [
            FigureRow(name, f"at {what}, {title}: mean diagonal x n", each.mean),
            FigureRow(name, f"at {what}, {title}: median diagonal x n", each.median),
            FigureRow(name, f"at {what}, {title}: share of entries that carry the gradient", each.spread),
            FigureRow(name, f"at {what}, {title}: |diagonal| / sum of |entries|", each.share),
        ]
    return [*rows, FigureRow(name, f"at {what}: NormLin's diagonal entry is the larger, share", found.larger)]


def _weights(key: object, places: Places, show: Show) -> NDArray[np.floating]:
    model = trained(wanted(key), places, show).model  # type: ignore[arg-type]
    with torch.no_grad():
        return torch.cat([layer.weight for layer in model.modules() if isinstance(layer, NormLin)]).numpy()


def _scores(key: object, places: Places, show: Show) -> NDArray[np.floating]:
    _, maps = attention_in(key, places, show)  # type: ignore[arg-type]
    every = np.concatenate([each.scores.reshape(-1, each.scores.shape[-1]) for each in maps if each.scores is not None])
    return every[:: max(len(every) * every.shape[1] ** 2 // MOST_ENTRIES, 1)]


def _pair(row: NDArray[np.floating], what: str) -> list[MatrixPanel]:
    """Both Jacobians on one scale."""
    both = {"softmax": np.abs(softmax_jacobian(row)), "NormLin": np.abs(normlin_jacobian(row))}
    most = max(float(matrix.max()) for matrix in both.values())
    note = f"|entries|, diagonal sums to {{:.2f}}\nat a row of {what}"
    return [
        MatrixPanel(matrix, title, note.format(float(np.trace(matrix))), most=most) for title, matrix in both.items()
    ]


def _by_deviation(folder: Path) -> list[FigureRow]:
    """Where one map passes the other: what decides is how far the entries of a row lie apart."""
    draws, rows, panels = np.random.default_rng(0), list[FigureRow](), []
    for size in SIZES:
        base = draws.standard_normal((DRAWS, size))
        found = [compare_gradients(deviation * base) for deviation in DEVIATIONS]
        for deviation, each in zip(DEVIATIONS, found, strict=True):
            name = f"N(0, {deviation:g}²), n = {size}"
            rows += [
                FigureRow(name, "median diagonal, NormLin / softmax", each.normlin.median / each.softmax.median),
                FigureRow(name, "mean diagonal, NormLin / softmax", each.normlin.mean / each.softmax.mean),
            ]
        curves = [
            Curve(
                f"{title}, {kind}",
                DEVIATIONS,
                [getattr(getattr(each, title.lower()), kind) for each in found],
                "line" if kind == "median" else "dashed",
                like=f"{title}, median",
            )
            for kind in ("median", "mean")
            for title in ("softmax", "NormLin")
        ]
        labels = {"x_label": "deviation of a row's entries", "y_label": "diagonal entry x n"}
        panels.append(CurvePanel(f"n = {size}", curves, **labels, log=(True, True), limits=(1e-3, None)))
    save_small(plot_curves(panels), folder / "jacobians-deviation.png")
    return rows
