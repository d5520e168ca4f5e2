"""Ranks of what mixes tokens: attention against NormLin, and attention under several bases."""

from pathlib import Path

import numpy as np

from olinear.bench.figures.looking import (
    ATTENTION,
    TASKS,
    Show,
    attention_in,
    in_words,
    present,
    summarise_maps,
    summary_rows,
    wanted,
)
from olinear.bench.figures.registry import FigureRow, Places, save_small
from olinear.bench.figures.trained import trained
from olinear.bench.spec.identity import TaskKey, Variant
from olinear.evaluation.analysis import AttentionMaps, attention_of, mixing_matrices, softmax_rows, summarise_mixing
from olinear.evaluation.plots import MatrixPanel, plot_matrices
from olinear.models import MAIN
from olinear.nn import series_correlation

BASES = ("pearson", "fourier", "haar", "identity")
EPOCHS = 5  # at the most, of the forecasters that OrthoTrans is put around: iTransformer's rate is an eighth by then
HOST_TASKS = (TaskKey("ILI", 36, 24), TaskKey("Exchange", 96, 96), TaskKey("NASDAQ", 36, 24))
HOSTS: tuple[tuple[str, Variant | None, tuple[TaskKey, ...], int | None], ...] = (
    (MAIN, ATTENTION, TASKS[:2], None),
    ("iTransformer", None, HOST_TASKS, EPOCHS),
    ("PatchTST", None, HOST_TASKS, EPOCHS),
)


def ranks_olinear(folder: Path, places: Places, show: Show) -> list[FigureRow]:
    """Attention and NormLin in one place of OLinear, and the correlation of series with and without softmax."""
    keys, rows = present(TASKS, places)
    lines, names = [], []
    for key in keys:
        name, (_, maps) = str(key), attention_in(key, places, show)
        normlin = trained(wanted(key), places, show)
        learnt, start = (np.stack(mixing_matrices(each)) for each in (normlin.model, normlin.start))
        correlation = series_correlation(normlin.training)
        rows += summary_rows(name, "attention", summarise_maps(maps))
        rows += summary_rows(name, "attention, mean of heads", summarise_mixing(_over_heads(maps)))
        rows += summary_rows(name, "NormLin", summarise_mixing(learnt))
        rows += summary_rows(name, "NormLin before training", summarise_mixing(start))
        rows += summary_rows(name, "softmax of correlation", summarise_mixing(softmax_rows(correlation)))
        shown = (
            ("attention, one head", _typical(maps)),
            ("NormLin", learnt[0]),
            ("NormLin before training", start[0]),
            ("softmax of correlation", softmax_rows(correlation)),
        )
        panels = [MatrixPanel(matrix, title, in_words(matrix)) for title, matrix in shown]
        lines.append([*panels, MatrixPanel(correlation, "correlation of series", kind="correlation")])
        names.append(name)
    if lines:
        save_small(plot_matrices(lines, names), folder / "ranks-olinear.png")
    return rows


def ranks_bases(folder: Path, places: Places, show: Show) -> list[FigureRow]:
    """The same windows under each basis, in OLinear with attention and in two forecasters that have it."""
    rows: list[FigureRow] = []
    for model, variant, tasks, epochs in HOSTS:
        keys, absent = present(tasks, places)
        rows += absent
        lines = []
        for key in keys:
            panels = []
            for basis in BASES:
                own = model == MAIN and basis == BASES[0]  # which is OLinear's unless it is told otherwise
                job = wanted(key, model, variant, basis="" if own else basis, epochs=epochs)
                found = trained(job, places, show)
                maps = attention_of(found.model, found.windows)
                summary = summarise_maps(maps)
                rows += summary_rows(str(key), f"{model}, {basis}", summary)
                note = f"mean rank {summary.rank:.1f} of {summary.size}, effective {summary.effective_rank:.1f}"
                panels.append(MatrixPanel(_typical(maps), basis, note))
            lines.append(panels)
        if lines:
            picture = plot_matrices(lines, [str(key) for key in keys], f"attention of {model}")
            save_small(picture, folder / f"ranks-bases-{model.lower()}.png")
    return rows


def _over_heads(maps: list[AttentionMaps]) -> np.ndarray:
    return np.concatenate([each.weights.mean(1) for each in maps])


def _typical(maps: list[AttentionMaps]) -> np.ndarray:
    """Of the first layer, the matrix of the middle effective rank: neither the best case nor the worst."""
    first = maps[0].weights.reshape(-1, *maps[0].weights.shape[-2:])
    ranks = [summarise_mixing(matrix).effective_rank for matrix in first]
    return np.asarray(first[np.argsort(ranks)[len(ranks) // 2]])
