"""Our own scores of any metrics, whether or not anything is published of the tasks."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import NamedTuple

from olinear.bench.read.summary import spread
from olinear.bench.spec.datafiles import data_rows
from olinear.bench.spec.identity import TaskKey, Variant
from olinear.bench.spec.task import in_order, published
from olinear.bench.store.rows import Row
from olinear.core import ConfigError


class Mean(NamedTuple):
    """A metric over the seeds of a task."""

    value: float
    spread: float | None  # standard deviation; None for one seed


@dataclass(frozen=True)
class MeasuredScore:
    """A model's variant on a task; a metric that its rows lack is absent."""

    key: TaskKey
    model: str
    variant: Variant
    seeds: int
    means: Mapping[str, Mean]

    @property
    def paper(self) -> Mapping[str, float]:
        """What the paper prints of the model's main variant, by metric."""
        if not self.variant.is_main:
            return {}
        return published().get(self.key, {}).get(self.model, {}) | more_metrics().get((self.model, self.key), {})


@cache
def more_metrics() -> dict[tuple[str, TaskKey], dict[str, float]]:
    """The paper's scale-free metrics, by model and task."""
    found = {}
    for row in data_rows("more_metrics.csv"):
        model, dataset, lookback, horizon = (row.pop(name) for name in ("model", "dataset", "lookback", "horizon"))
        found[model, TaskKey(dataset, int(lookback), int(horizon))] = {name: float(row[name]) for name in row}
    return found


def measure_rows(rows: Iterable[Row], metrics: Sequence[str], keys: Iterable[TaskKey]) -> list[MeasuredScore]:
    """Each variant of each model on some tasks, task by task; an error if no row has a metric."""
    wanted = set(keys)
    found: dict[TaskKey, dict[tuple[str, Variant], list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.is_result and row.key in wanted:
            found[row.key][row.model, row.variant].append(row)
    groups = [group for by_variant in found.values() for group in by_variant.values()]
    known = dict.fromkeys(name for group in groups for row in group for name in row.scores)
    for name in metrics:
        if known and name not in known:
            raise ConfigError(f"no row of these tasks has the metric {name!r}: there are {', '.join(known)}")
    return [
        MeasuredScore(key, model, variant, len(group), _means(group, metrics))
        for key in in_order(found)
        for (model, variant), group in found[key].items()
    ]


def _means(rows: Sequence[Row], metrics: Sequence[str]) -> dict[str, Mean]:
    columns = {name: [row.scores[name] for row in rows if name in row.scores] for name in metrics}
    return {name: Mean(fmean(values), spread(values)) for name, values in columns.items() if values}
