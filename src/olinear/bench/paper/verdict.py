"""A verdict on an item of the paper, and what it rests on."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Literal

from olinear.bench.store.rows import Row

Word = Literal["same", "different", "not to be had", "open"]
WITHIN = 0.02  # so far may a mean ratio to the printed cells lie from 1


@dataclass(frozen=True)
class Evidence:
    """What there is to judge by: rows of results, and the folders of numbers and pictures."""

    rows: Sequence[Row]
    results: Path
    pictures: Path
    tests: Path | None = None  # where our own tests are, to see that those that are named exist


@dataclass(frozen=True)
class Verdict:
    """A word, what it rests on, and of how many printed cells: with a result, whose data can be had, printed."""

    word: Word
    how: str
    done: int = 0
    here: int = 0
    printed: int = 0


def by_ratio(ratios: Sequence[tuple[float, float | None]], here: int, printed: int) -> Verdict:
    """Of MSE and, where it is printed, MAE, ours over the printed, over all cells that have a result."""
    if not ratios:
        return nothing_of(here, printed)
    means = {"MSE": fmean(mse for mse, _ in ratios)}
    if absolute := [mae for _, mae in ratios if mae is not None]:
        means["MAE"] = fmean(absolute)
    word: Word = "same" if all(abs(mean - 1) <= WITHIN for mean in means.values()) else "different"
    said = ", ".join(f"{name} {mean:.3f}" for name, mean in means.items())
    how = f"mean ratio to the printed cells: {said}, over {len(ratios)} of {here} at hand"
    return Verdict(word, how, len(ratios), here, printed)


def nothing_of(here: int, printed: int, wanted: str = "a result") -> Verdict:
    """Why there is no verdict: nothing was run, or no data of it can be had."""
    if not printed:
        return Verdict("open", "what the paper prints of it is not among our tables yet")
    if not here:
        return Verdict("not to be had", f"none of its {printed} cells is of a dataset that can be had", 0, 0, printed)
    return Verdict("open", f"none of {here} cells at hand has {wanted}", 0, here, printed)
