"""NormLin's learnt weights next to the correlation of the series."""

from pathlib import Path

import numpy as np
import torch

from olinear.bench.figures.looking import NORMLIN_TASKS, Show, present, wanted
from olinear.bench.figures.registry import FigureRow, Places, save_small
from olinear.bench.figures.trained import Trained, trained
from olinear.evaluation.analysis import likeness, mixing_matrices, softmax_rows
from olinear.evaluation.plots import MatrixPanel, plot_matrices
from olinear.nn import NormLin, series_correlation


def normlin_and_correlation(folder: Path, places: Places, show: Show) -> list[FigureRow]:
    """How alike both are, off the diagonal, against chance; before training, and what training has changed."""
    keys, rows = present(NORMLIN_TASKS, places)
    lines, names = [], []
    for key in keys:
        found, name = trained(wanted(key), places, show), str(key)
        target = softmax_rows(series_correlation(found.training))
        rows.append(FigureRow(name, "|W - W0| / |W0|", _moved(found)))
        pairs = zip(mixing_matrices(found.model), mixing_matrices(found.start), strict=True)
        for block, (learnt, start) in enumerate(pairs, start=1):
            shown = {"NormLin": learnt, "before training": start, "what training changed": learnt - start}
            alike = {what: likeness(matrix, target) for what, matrix in shown.items()}
            for what, each in alike.items():
                title = f"block {block}, {what}"
                rows += [
                    FigureRow(name, f"{title}: correlation off the diagonal", each.correlation),
                    FigureRow(name, f"{title}: by chance, deviation", each.deviation),
                    FigureRow(name, f"{title}: p", each.p_value),
                    FigureRow(name, f"{title}: correlation with the diagonal", each.with_diagonal),
                ]
            if block == 1:
                panels = [
                    _panel(matrix, what, f"r {alike[what].correlation:.2f}, p {alike[what].p_value:.3f}")
                    for what, matrix in shown.items()
                ]
                lines.append([*panels, _panel(target, "softmax of correlation", "")])
                names.append(name)
    if lines:
        save_small(plot_matrices(lines, names), folder / "normlin-and-correlation.png")
    return rows


def _panel(matrix: np.ndarray, title: str, note: str) -> MatrixPanel:
    """On the scale of what is off the diagonal, which the diagonal would hide."""
    most = float(np.abs(matrix[~np.eye(len(matrix), dtype=bool)]).max())
    signed = bool((matrix < 0).any())
    return MatrixPanel(matrix, title, note, "signed" if signed else "weights", most)


@torch.no_grad()
def _moved(found: Trained) -> float:
    """How far training has brought NormLin's weights, of where they began."""
    both = [
        torch.cat([layer.weight.flatten() for layer in model.modules() if isinstance(layer, NormLin)])
        for model in (found.model, found.start)
    ]
    return float((both[0] - both[1]).norm() / both[1].norm())
