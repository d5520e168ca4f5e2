"""Calibrating: how wrong a model was on rows it did not learn from, with every series known and with stale ones."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from olinear.core import Batch
from olinear.core.runtime import memory_budget, on_same_device
from olinear.data.windows import Windows
from olinear.forecaster.known import NEVER
from olinear.forecaster.quantiles import conformal, normal
from olinear.models import answer, windows_at_once

Scores = NDArray[np.floating]
PREDICTED = 1  # windows that `predict` has at a time, where that matters
# A lookback without movement still has a scale: a tenth of the series' training deviation.
LEAST_DEVIATION = 0.1
# Scores kept at a time, but those of so many windows in any case; more windows than that are thinned evenly.
MOST_SCORES, ENOUGH = 2**26, 100
COPIES = 4  # of them, with what finding their quantiles takes
ANCHORS = (80, 95)  # the levels at which the scores of stale series are kept
MOST_STALE = 1024  # windows for each age
BUCKETS = 4  # neighbouring steps share the scores of stale series
HIDDEN = 0.25  # share of the series that go stale together
FEW = 20  # windows of a series: with fewer, all series share one distribution


def lookback_scale(x: Tensor, stale: Tensor | None = None) -> Tensor:
    """The deviation of each series over its lookback on the standardised scale, `b t n -> b n`, never near 0.

    Of a series whose last value is `stale` rows old, `b n`, the rows carried forward hold no news: its deviation is
    that of the rows before, drawn to that of training (1) as they become fewer.
    """
    if stale is None or not bool((stale > 0).any()):
        return x.std(1, correction=0).clamp(min=LEAST_DEVIATION)
    rows = x.shape[1]
    known = (rows - stale).clamp(min=0)  # b n
    seen = (torch.arange(rows, device=x.device)[:, None] < known[:, None]).to(x)  # b t n
    mean = (x * seen).sum(1) / known.clamp(min=1)
    spread = ((x - mean[:, None]) * seen).square().sum(1)
    partly = ((spread + rows - known) / rows).sqrt()
    return torch.where(stale > 0, partly, x.std(1, correction=0)).clamp(min=LEAST_DEVIATION)


@torch.no_grad()
def fresh_scores(model: nn.Module, windows: Windows, batch_size: int) -> Scores:
    """(actual - forecast) / scale of every window, `w h n`; NaN where there is no target."""
    chosen = evenly(len(windows), scored_windows(windows))
    windows = on_same_device(model.eval(), windows)
    scores = np.empty((len(chosen), windows.horizon, windows.n_series), dtype=np.float32)
    first = 0
    for batch in windows.batches(windows_at_once(model, batch_size, PREDICTED, windows.values_of_one), chosen):
        found = _scores(model, batch.past, batch.targets, None)
        scores[first : first + len(batch)] = found
        first += len(batch)
    return scores


def scored_windows(windows: Windows) -> int:
    """How many windows are scored: all, or as many as have room, in the memory given and in no more than is of use."""
    cells = windows.horizon * windows.n_series
    room = memory_budget() // (4 * COPIES * cells)
    return min(len(windows), max(min(max(MOST_SCORES // cells, ENOUGH), room), FEW))


def evenly(count: int, most: int) -> Tensor:
    """At most so many of the numbers 0 … count - 1, spread evenly."""
    return torch.arange(count) if count <= most else torch.linspace(0, count - 1, most).round().long()


def _scores(model: nn.Module, past: Tensor, targets: Tensor, stale: Tensor | None) -> Scores:  # b h n
    error = targets - answer(model, Batch(past)).point
    return (error / lookback_scale(past, stale)[:, None]).cpu().numpy()


@dataclass(frozen=True)
class StaleScores:
    """How wrong forecasts are of series whose last value is some rows old.

    Args:
        ages: rows since the last value, rising.
        quantiles: `a q s n`, at the levels of `ANCHORS`, for neighbouring steps together.
        spread: `q n`, the same of |value - mean| in training: for a series of which nothing is known.
    """

    ages: tuple[int, ...]
    quantiles: Scores
    spread: Scores

    def at(self, stale: NDArray[np.int64], series: NDArray[np.intp], fresh: NDArray[np.float64]) -> Scores:
        """Quantiles `q p h` of pairs `p` of an age and a series, whose quantiles when fresh are `fresh [q p h]`."""
        horizon, buckets = fresh.shape[-1], self.quantiles.shape[2]
        steps = _steps_to_buckets(horizon, buckets)  # s h
        known = np.einsum("aqsp,sh->aqph", self.quantiles[..., series].astype(np.float64), steps)
        known = np.concatenate([fresh[None], known])
        ages = np.array([0, *self.ages], dtype=np.float64)
        above = np.clip(np.searchsorted(ages, stale), 1, len(ages) - 1)  # p
        share = np.clip((stale - ages[above - 1]) / (ages[above] - ages[above - 1]), 0, 1)[:, None]
        pairs = np.arange(len(stale))
        low, high = (known[index, :, pairs].swapaxes(0, 1) for index in (above - 1, above))  # q p h
        found = low + (high - low) * share
        spread = self.spread[:, series, None]
        found = np.where((stale > ages[-1])[:, None], np.maximum(found, spread), found)
        return np.where((stale >= NEVER)[:, None], spread, found)


def _steps_to_buckets(horizon: int, buckets: int) -> NDArray[np.float64]:
    """Weights `s h` that draw the line between the middles of the buckets."""
    middles = np.array([part.mean() for part in np.array_split(np.arange(horizon), buckets)])
    return np.stack([np.interp(np.arange(horizon), middles, row) for row in np.eye(buckets)])


def ages_for(lookback: int, first: int, last: int) -> list[int]:
    """The ages at which stale series are calibrated: parts of the lookback and twice it, as far as there are rows.

    The origins lie between the rows `first` and `last`; half of them at the least must have a value so old.
    """
    wanted = {-(-lookback // part) for part in (8, 4, 2, 1)} | {2 * lookback}
    return sorted(age for age in wanted if age < first or age < (first + last) // 2)


@torch.no_grad()
def stale_scores(
    model: nn.Module, windows: Windows, fresh: Scores, training: Scores, most: int, batch_size: int
) -> StaleScores:
    """Scores of series that are hidden at the end of their lookbacks, a random part of the series in each window.

    Windows overlap; what counts is how many stretches of age and horizon lie side by side, and the conformal rule adds
    one to them.

    Args:
        fresh: quantiles `q h n` at `ANCHORS` with nothing hidden.
        training: standardised rows, whose distribution is all that is known of a series never seen.
        most: windows for each age.
    """
    model.eval()
    windows = on_same_device(model, windows)
    chosen = evenly(len(windows), min(most, MOST_STALE, scored_windows(windows)))
    first, last = (windows.starts[end] + windows.lookback for end in (0, -1))
    ages = ages_for(windows.lookback, first, last)
    buckets = min(windows.horizon, BUCKETS)
    floor = _in_buckets(fresh, buckets)
    size = windows_at_once(model, batch_size, PREDICTED, windows.values_of_one)
    typical = _typical(batch.past for batch in windows.batches(size, chosen))
    found = []
    for age in ages:
        old_enough = _first_rows(windows, chosen) + windows.lookback > age
        scores, scale = _hidden(model, windows, chosen[old_enough], age, size)
        stretches = (windows.starts[-1] - windows.starts[0]) // (age + windows.horizon) + 1
        levels = [min(level * (stretches + 1) / stretches, 99.0) for level in ANCHORS]
        quantiles = _of_buckets(scores, buckets, floor, levels)  # q s n
        # Never narrower than with a younger last value: in units of the data, for the scale changes with the age.
        floor = np.maximum(quantiles, floor * (typical / scale))
        floor[1] = np.maximum(floor[1], floor[0])
        typical = scale
        found.append(floor)
    return StaleScores(tuple(ages), np.stack(found).astype(np.float16), _spread(training))


def _spread(training: Scores) -> Scores:
    """Quantiles `q n` of |value - mean|; a series without rows is taken for a normal one."""
    known = ~np.isnan(training)
    mean = np.where(known, training, 0).sum(0) / np.maximum(known.sum(0), 1)
    found = conformal(np.abs(training - mean), ANCHORS)
    usual = np.array([normal(level) for level in ANCHORS], dtype=np.float32)[:, None]
    return np.where(np.isnan(found), usual, found).astype(np.float16)


def _typical(lookbacks: Iterable[Tensor]) -> Scores:
    """The root mean square of the scales of whole lookbacks, `1 1 n`."""
    squares = torch.cat([lookback_scale(past).square() for past in lookbacks])
    return squares.mean(0).sqrt().cpu().numpy()[None, None]


def _in_buckets(quantiles: Scores, buckets: int) -> Scores:
    """`q h n -> q s n`"""
    return np.stack([part.mean(1) for part in np.array_split(quantiles, buckets, axis=1)], axis=1)


def _of_buckets(scores: Scores, buckets: int, fresh: Scores, levels: Sequence[float]) -> Scores:
    """Quantiles of scores `w h n`, `q s n`: series by series, or where windows are few of all together."""
    parts = np.array_split(scores, buckets, axis=1)
    count = (~np.isnan(scores).all(1)).sum(0)  # n
    own = np.stack([conformal(part.reshape(-1, part.shape[-1]), levels) for part in parts], axis=1)
    if (count >= FEW).all():
        return own
    shared = []
    for index, part in enumerate(parts):
        size = np.where(fresh[0, index] > 0, fresh[0, index], 1.0)
        relative = (part / size).reshape(-1)
        relative = relative[~np.isnan(relative)]
        ratio = conformal(relative, levels) if len(relative) else np.ones(len(levels), dtype=np.float32)
        shared.append(ratio[:, None] * size)
    return np.where(count >= FEW, own, np.stack(shared, axis=1))


def _hidden(model: nn.Module, windows: Windows, chosen: Tensor, age: int, size: int) -> tuple[Scores, Scores]:
    """The scores of hidden series, NaN for all others, and the mean scale of each series."""
    parts, scales = [], []
    for past, targets, hidden in _hide(windows, chosen, age, size):
        stale = hidden * age  # b n
        scores = np.abs(_scores(model, past, targets, stale))
        parts.append(np.where(hidden.cpu().numpy()[:, None], scores, np.nan).astype(np.float32))
        scales.append(lookback_scale(past, stale).where(hidden, torch.nan).cpu().numpy())
    with np.errstate(all="ignore"):
        together = np.concatenate(scales)
        scale = np.sqrt(np.nansum(together**2, axis=0) / np.maximum((~np.isnan(together)).sum(0), 1))
    return np.concatenate(parts), np.where(scale > 0, scale, 1.0)[None, None]


def _first_rows(windows: Windows, chosen: Tensor) -> Tensor:
    return windows.starts.start + windows.starts.step * chosen


def _hide(windows: Windows, chosen: Tensor, age: int, size: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Lookbacks whose hidden series carry the value of `age` rows before forward, targets, and what is hidden `b n`."""
    generator = torch.Generator().manual_seed(age)
    share = max(HIDDEN, 1 / windows.n_series)
    starts = _first_rows(windows, chosen)
    batches = windows.batches(size, chosen)
    for batch, first in zip(batches, starts.split(size), strict=True):
        hidden = torch.rand(len(batch), windows.n_series, generator=generator) < share
        hidden = hidden.to(batch.past.device)
        last = (first + windows.lookback - 1 - age).to(batch.past.device)
        carried = windows.values[last]  # b n
        late = torch.arange(windows.lookback, device=batch.past.device) >= windows.lookback - age  # t
        covered = hidden[:, None] & late[:, None]
        yield torch.where(covered, carried[:, None], batch.past), batch.targets, hidden
