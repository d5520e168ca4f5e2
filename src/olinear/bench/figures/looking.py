"""What the figures of attention have in common: which jobs they train, and what they call their numbers."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from olinear.bench.figures.registry import FigureRow, Places
from olinear.bench.figures.trained import Trained, Wanted, trained
from olinear.bench.spec.identity import JobKey, TaskKey, Variant
from olinear.data.datasets import find_dataset, locate
from olinear.evaluation.analysis import AttentionMaps, MixingSummary, attention_of, summarise_mixing
from olinear.models import MAIN

Show = Callable[[str], None]
Values = NDArray[np.floating]
ATTENTION = Variant("mixers", method="Transformer")  # attention in NormLin's place, as the study of mixers has it
# Tasks whose recipes take a few minutes: 7, 8, 53 and 170 series; for NormLin alone, which is quicker, 55 besides.
TASKS = (
    TaskKey("ILI", 36, 24),
    TaskKey("Exchange", 96, 96),
    TaskKey("Unemp", 36, 24),
    TaskKey("PEMS08_tail", 96, 12),
)
NORMLIN_TASKS = (*TASKS, TaskKey("COVID-19", 12, 3))


def wanted(key: TaskKey, model: str = MAIN, variant: Variant | None = None, **others: object) -> Wanted:
    """A job with its first seed."""
    job = JobKey(key, model) if variant is None else JobKey(key, model, variant)
    return Wanted(job, **others)  # type: ignore[arg-type]


def present(keys: Sequence[TaskKey], places: Places) -> tuple[list[TaskKey], list[FigureRow]]:
    """The tasks whose data are here, and a row for each of the others."""
    here = [key for key in keys if locate(find_dataset(key.dataset), places.data) is not None]
    absent = [FigureRow(str(key), "left out", "its file is not here") for key in keys if key not in here]
    return here, absent


def attention_in(key: TaskKey, places: Places, show: Show) -> tuple[Trained, list[AttentionMaps]]:
    """OLinear trained with attention in NormLin's place, and its matrices at some test windows."""
    found = trained(wanted(key, variant=ATTENTION), places, show)
    return found, attention_of(found.model, found.windows)


def summary_rows(name: str, what: str, summary: MixingSummary) -> list[FigureRow]:
    """Ranks as shares of the size, so that matrices of different sizes compare."""
    return [
        FigureRow(name, f"{what}: rank / size", summary.rank / summary.size),
        FigureRow(name, f"{what}: effective rank / size", summary.effective_rank / summary.size),
        FigureRow(name, f"{what}: entropy of rows", summary.entropy),
    ]


def summarise_maps(maps: Sequence[AttentionMaps]) -> MixingSummary:
    """All heads of all layers at all windows."""
    return summarise_mixing(np.concatenate([each.weights.reshape(-1, *each.weights.shape[-2:]) for each in maps]))


def in_words(matrix: Values) -> str:
    """What stands beneath a matrix."""
    summary = summarise_mixing(matrix)
    return f"rank {summary.rank:.0f} of {summary.size}, effective {summary.effective_rank:.1f}"
