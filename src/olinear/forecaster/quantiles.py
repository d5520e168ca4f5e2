"""Quantiles of scores: the conformal rule, what to do where too few scores were seen, and levels between levels."""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.floating]
CURVE = (10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99)  # the levels at which a series' distribution is kept
CELLS = 2**24  # sorted at a time


def conformal(scores: Numbers, levels: Sequence[float]) -> Numbers:
    """The ⌈(count + 1) · level⌉-th smallest along the first axis, or the largest there is: `w … -> q …`, NaN left out.

    NaN where there is no score at all. Levels in per cent.
    """
    shape = scores.shape[1:]
    flat = scores.reshape(len(scores), -1)
    found = np.empty((len(levels), flat.shape[1]), dtype=scores.dtype)
    for part in _parts(flat.shape[1], max(CELLS // max(len(flat), 1), 1)):
        ordered = np.sort(flat[:, part], axis=0)  # missing ones (NaN) last
        count = len(ordered) - np.isnan(ordered).sum(0)
        share = np.asarray(levels, dtype=np.float64)[:, None] / 100
        rank = np.clip(np.ceil((count + 1) * share - 1e-9).astype(int), 1, np.maximum(count, 1))
        found[:, part] = np.take_along_axis(ordered, rank - 1, axis=0)
    return found.reshape(len(levels), *shape)


def _parts(count: int, size: int) -> list[slice]:
    return [slice(first, first + size) for first in range(0, count, size)]


def has_quantile(count: NDArray[np.integer], level: float) -> NDArray[np.bool_]:
    """Whether so many scores have a quantile of that level: among 4, none is beyond 80 per cent."""
    return np.ceil((count + 1) * level / 100 - 1e-9) <= count


def pooled(scores: Numbers, levels: Sequence[float], freedom: int) -> Numbers:
    """Quantiles where series and steps by themselves have too few scores: `w h n -> q 1 n`.

    Each series has one size, the mean of its scores, and all share one distribution around it. `freedom` counts what
    can be taken for independent; the quantiles are wider by Student's factor for it.
    """
    flat = scores.reshape(-1, scores.shape[-1])
    present = ~np.isnan(flat)
    known = present.any(0)
    size = np.where(present, flat, 0).sum(0) / np.maximum(present.sum(0), 1)
    size = np.where(known, size, size.max(initial=0.0))
    relative = (scores / np.where(size > 0, size, 1.0)).reshape(-1)
    relative = relative[~np.isnan(relative)]
    shared = conformal(relative, levels) if len(relative) else np.zeros(len(levels))
    factor = np.array([student(level, freedom) / normal(level) for level in levels])
    return (shared * factor)[:, None, None] * size


def normal(level: float) -> float:
    """Half the width of a standard normal variable's central interval; the level in per cent."""
    return NormalDist().inv_cdf((1 + level / 100) / 2)


def student(level: float, freedom: int) -> float:
    """The same of Student's t: exact for one and two degrees of freedom, Cornish and Fisher's expansion beyond."""
    share = (1 + level / 100) / 2
    if freedom <= 1:
        return math.tan(math.pi * (share - 0.5))
    if freedom == 2:
        return (2 * share - 1) * math.sqrt(2 / (4 * share * (1 - share)))
    z, v = normal(level), float(freedom)
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / v ** (power + 1) for power, term in enumerate(terms))


def curve_of(quantiles: Numbers, levels: Sequence[int]) -> NDArray[np.float32]:
    """The distribution of each series over its steps, by its quantiles at `CURVE`: `q h n -> c n`."""
    mean = quantiles.mean(1, dtype=np.float64)  # q n
    rows = [levels.index(level) for level in CURVE]
    return mean[rows].astype(np.float32)


def on_curve(curve: Numbers, level: float) -> Numbers:
    """The curve `c n` at any level, `n`; from zero below its first."""
    known = np.array([0, *CURVE], dtype=np.float64)
    values = np.concatenate([np.zeros_like(curve[:1]), curve]).astype(np.float64)
    above = int(np.clip(np.searchsorted(known, level), 1, len(known) - 1))
    share = (level - known[above - 1]) / (known[above] - known[above - 1])
    return values[above - 1] + (values[above] - values[above - 1]) * min(share, 1.0)


def between(values: Numbers, levels: Sequence[int], curve: Numbers, level: float) -> Numbers:
    """Quantiles `q … n` known at some levels, at any level: between two of them by the curve `c n`, rising with it."""
    if level in levels:
        return values[list(levels).index(int(level))].astype(np.float64)
    here, above = on_curve(curve, level), next((i for i, known in enumerate(levels) if known > level), len(levels))
    if above in (0, len(levels)):
        nearest = min(above, len(levels) - 1)
        base = on_curve(curve, levels[nearest])
        return values[nearest] * np.where(base > 0, here / np.where(base > 0, base, 1.0), 1.0)
    low, high = (values[index].astype(np.float64) for index in (above - 1, above))
    first, last = (on_curve(curve, levels[index]) for index in (above - 1, above))
    gap = last - first
    share = np.where(gap > 0, (here - first) / np.where(gap > 0, gap, 1.0), 1.0)
    return low + (high - low) * share
