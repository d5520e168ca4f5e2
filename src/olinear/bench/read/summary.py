"""What the results say: each task next to its published scores, the figures over all tasks, what is missing."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from olinear.bench.spec.identity import TaskKey
from olinear.bench.spec.task import published
from olinear.bench.store.rows import Row
from olinear.data.datasets import find_dataset, locate
from olinear.models import MAIN

WORSE = 1.05  # a ratio to the published MSE above this counts as worse
DECIMALS = 3  # of the published tables: who is best is decided at these


@dataclass(frozen=True)
class Selection:
    """Which main results are read, next to which of the paper's tasks."""

    model: str = MAIN
    suite: str = "all"  # or "long" or "short"
    datasets: tuple[str, ...] = ()  # all, if none is named
    horizons: tuple[int, ...] = ()  # likewise

    @property
    def reference(self) -> str:
        """Whose published results stand next to ours: the model's own, or OLinear's where the paper has none of it."""
        return self.model if any(self.model in models for models in published().values()) else MAIN

    @property
    def tasks(self) -> list[TaskKey]:
        """The paper's tasks that the rows can answer, in the order of its tables."""
        return [key for key, models in published().items() if self.has(key) and self.reference in models]

    def has(self, key: TaskKey) -> bool:
        """Whether a task, of the paper or of our own, is of this suite, these datasets and these horizons."""
        return (
            self.suite in ("all", key.suite)
            and (not self.datasets or key.dataset in self.datasets)
            and (not self.horizons or key.horizon in self.horizons)
        )

    def pick(self, rows: Iterable[Row]) -> list[Row]:
        """The main rows of this model."""
        return [row for row in rows if row.model == self.model and row.variant.is_main]


MAIN_RESULTS = Selection()


@dataclass(frozen=True)
class Score:
    """One metric of one task, ours and the paper's."""

    ours: float  # mean over seeds
    spread: float | None  # standard deviation over seeds; None for one seed
    published: float  # of the same model, or of OLinear
    baseline: str  # the best of the others
    baseline_value: float

    @property
    def ratio(self) -> float:
        return self.ours / self.published

    @property
    def best(self) -> bool:
        """Whether ours is not above the best baseline, at the decimals of the published tables."""
        return round(self.ours, DECIMALS) <= self.baseline_value

    @property
    def published_best(self) -> bool:
        return self.published <= self.baseline_value


@dataclass(frozen=True)
class TaskScore:
    """One task with at least one result."""

    key: TaskKey
    seeds: int
    mse: Score
    mae: Score


@dataclass(frozen=True)
class Average:
    """One metric over some tasks: the means of ours, of the published, and of their ratios."""

    ours: float
    published: float
    ratio: float


@dataclass(frozen=True)
class DatasetScore:
    """One dataset over those of its tasks that have a result."""

    dataset: str
    tasks: int
    of: int
    mse: Average
    mae: Average


@dataclass(frozen=True)
class Summary:
    """The figures over all tasks that have a result; the means are None if none has."""

    tasks: int
    of: int
    seeds: tuple[int, int]  # fewest and most of a task
    mse_ratio: float | None
    mae_ratio: float | None
    worse: tuple[TaskKey, ...]  # above `WORSE` in MSE
    best_mse: int
    best_mae: int
    published_best_mse: int
    published_best_mae: int
    reference: str  # whose published results these are


@dataclass(frozen=True)
class Missing:
    """A task without a result."""

    key: TaskKey
    reason: str


def score_tasks(rows: Iterable[Row], selection: Selection = MAIN_RESULTS) -> list[TaskScore]:
    """Each task that has a result, mean over its seeds, in the order of the published tables."""
    found = list({row.job: row for row in selection.pick(rows) if row.is_result}.values())
    by_task: dict[TaskKey, list[Row]] = defaultdict(list)
    for row in found:
        by_task[row.key].append(row)
    reference = selection.reference
    return [_score_task(key, by_task[key], reference) for key in selection.tasks if key in by_task]


def _score_task(key: TaskKey, rows: Sequence[Row], reference: str) -> TaskScore:
    return TaskScore(key, len(rows), _score(key, rows, "mse", reference), _score(key, rows, "mae", reference))


def _score(key: TaskKey, rows: Sequence[Row], metric: str, reference: str) -> Score:
    values = [row.scores[metric] for row in rows]
    paper = {model: cells[metric] for model, cells in published()[key].items()}
    ours = paper.pop(reference)
    baseline = min(paper, key=paper.__getitem__)
    return Score(fmean(values), spread(values), ours, baseline, paper[baseline])


def spread(values: Sequence[float]) -> float | None:
    """The standard deviation over seeds; None for a single one."""
    return stdev(values) if len(values) > 1 else None


def summarise(scores: Sequence[TaskScore], selection: Selection = MAIN_RESULTS) -> Summary:
    """The figures over all tasks at once."""
    counts = [score.seeds for score in scores]
    return Summary(
        tasks=len(scores),
        of=len(selection.tasks),
        seeds=(min(counts, default=0), max(counts, default=0)),
        mse_ratio=fmean(score.mse.ratio for score in scores) if scores else None,
        mae_ratio=fmean(score.mae.ratio for score in scores) if scores else None,
        worse=tuple(score.key for score in scores if is_worse(score.mse.ratio)),
        best_mse=sum(score.mse.best for score in scores),
        best_mae=sum(score.mae.best for score in scores),
        published_best_mse=sum(score.mse.published_best for score in scores),
        published_best_mae=sum(score.mae.published_best for score in scores),
        reference=selection.reference,
    )


def is_worse(ratio: float) -> bool:
    """Above `WORSE`, at the six digits that results are kept with."""
    return round(ratio, 6) > WORSE


def average_datasets(scores: Sequence[TaskScore], selection: Selection = MAIN_RESULTS) -> list[DatasetScore]:
    """Each dataset's mean over its tasks, in the order of the published tables."""
    wanted = [key.dataset for key in selection.tasks]
    groups: dict[str, list[TaskScore]] = defaultdict(list)
    for score in scores:
        groups[score.key.dataset].append(score)
    return [
        DatasetScore(
            name, len(group), wanted.count(name), _average(group, lambda s: s.mse), _average(group, lambda s: s.mae)
        )
        for name, group in groups.items()
    ]


def _average(scores: Sequence[TaskScore], metric: Callable[[TaskScore], Score]) -> Average:
    cells = [metric(score) for score in scores]
    return Average(
        fmean(cell.ours for cell in cells), fmean(cell.published for cell in cells), fmean(cell.ratio for cell in cells)
    )


def find_missing(
    rows: Iterable[Row], selection: Selection = MAIN_RESULTS, data_folder: str | Path | None = None
) -> list[Missing]:
    """The tasks without a result, each with what is known of why: it failed, its data is not here, it was not run."""
    chosen = selection.pick(rows)
    done = {row.key for row in chosen if row.is_result}
    failed = [row for row in chosen if not row.is_result]
    errors = {row.key: row.error or "its scores are not numbers" for row in failed}
    return [
        Missing(key, f"failed: {errors[key]}" if key in errors else _why_not_run(key.dataset, data_folder))
        for key in selection.tasks
        if key not in done
    ]


def _why_not_run(name: str, data_folder: str | Path | None) -> str:
    dataset = find_dataset(name)
    if locate(dataset, data_folder) is None:
        return f"no data: {' or '.join(dataset.files)} is not here"
    return "not run yet"
