"""A job is one row of the results: a task, a model, a variant, a seed. Its recipe says how it is trained."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from olinear.bench.spec.model_settings import find_setting
from olinear.bench.spec.study import Study, find_study, find_variant
from olinear.bench.spec.task import CORRELATION, Task, TaskKey, find_task
from olinear.core import ConfigError
from olinear.data.datasets import find_dataset
from olinear.models import MAIN, check_options

SEARCH = "lookback-search"
LOOKBACKS = (96, 192, 336, 512, 720)
FIRST_SEED = 2023
FEW = 0.1  # share of the training rows in the few-shot protocol
End = Literal["first", "last"]


@dataclass(frozen=True)
class Job:
    """One row to be."""

    key: TaskKey
    model: str = MAIN
    variant: str = "main"
    seed: int = FIRST_SEED

    @property
    def name(self) -> str:
        """A name for its files."""
        parts = (self.key.dataset, self.key.lookback, self.key.horizon, self.model, self.variant, self.seed)
        return "_".join(map(str, parts)).replace("/", "-")

    def __str__(self) -> str:
        variant = "" if self.variant == "main" else f" {self.variant}"
        return f"{self.key} {self.model}{variant} seed {self.seed}"


@dataclass(frozen=True)
class Recipe:
    """How a job is trained and on what; the defaults are the paper's main results."""

    task: Task  # with the job's lookback
    train_on: str  # dataset
    basis_from: str  # dataset
    basis: str = "pearson"
    output_basis: str | None = None  # Q_o's, if it is another
    basis_share: float = 1.0  # of the training rows, the newest
    train_share: float = 1.0
    train_end: End = "first"
    correlation: bool = False  # OLinear-C: NormLin's matrix is the softmax of the series' correlation
    matrix: Mapping[str, str] = field(default_factory=dict)  # NormLin's transform and norm
    parts: Mapping[str, Any] = field(default_factory=dict)  # OLinear's mixer and layers
    rank: int | None = None
    model: str = MAIN
    options: Mapping[str, Any] = field(default_factory=dict)  # of a model other than OLinear
    orthotrans: bool = False  # around a model other than OLinear
    loss: str = "weighted_l1"


def recipe(job: Job) -> Recipe:
    """The recipe of a job: its task's settings, changed by its variant `name` or `name=value`."""
    if "/" in job.variant:
        return _of_study(job)
    name, _, value = spell(job.variant).partition("=")
    searches = name == SEARCH
    key = job.key._replace(lookback=96) if searches else job.key
    task = find_task(key, CORRELATION if name == CORRELATION else MAIN)
    plain = Recipe(replace(task, key=job.key), key.dataset, key.dataset)
    try:
        plan = VARIANTS[name](plain, value)
    except ValueError as error:
        raise ConfigError(f"variant {job.variant!r} of {job.key} is not possible: {error}") from error
    if job.model != MAIN and name not in FOR_ALL:
        raise ConfigError(f"{job.model} has no variant {job.variant!r}: leave out --model, or that variant")
    if job.model == MAIN and name != "setting":
        return plan
    return _of_setting(plan, job.model, value if name == "setting" else "main")


def _of_study(job: Job) -> Recipe:
    """A method of a study: the task's settings with other parts."""
    variant, method = find_variant(job.variant)
    task = find_task(job.key, CORRELATION if method.correlation else MAIN)
    plan = Recipe(task, job.key.dataset, job.key.dataset)
    own = method.orthotrans or method.options
    if bool(own) == (job.model == MAIN):
        models = ", ".join(find_study(variant.partition("/")[0]).models)
        raise ConfigError(f"{job.model} has no variant {variant!r}, which is of {models}")
    if job.model != MAIN:
        plan = _of_setting(plan, job.model, "main")
        check_options(job.model, method.options)
        return replace(plan, options={**plan.options, **method.options}, orthotrans=method.orthotrans)
    return replace(
        plan,
        basis=method.basis or plan.basis,
        output_basis=method.output_basis,
        correlation=method.correlation,
        matrix=method.matrix,
        parts=method.parts,
    )


def _of_setting(plan: Recipe, model: str, name: str) -> Recipe:
    """The same data for another forecaster, trained as its own paper says; or for OLinear, trained otherwise."""
    setting = find_setting(model, name, plan.train_on)
    task = replace(plan.task, **setting.training)
    if model == MAIN:
        return replace(plan, task=task)
    return replace(plan, task=task, model=model, options=setting.options, loss=setting.loss)


def spell(variant: str) -> str:
    """A variant as results name it: `zero-shot=etth1` is `zero-shot=ETTh1`, `q-ratio=.20` is `q-ratio=0.2`,
    `bases/fourier` is `bases/Fourier`."""
    if "/" in variant:
        return find_variant(variant)[0]
    name, _, value = variant.partition("=")
    if name not in VARIANTS:
        raise ConfigError(
            f"no variant is called {name!r}: there are {', '.join(VARIANTS)}, and STUDY/METHOD (`olinear bench study`)"
        )
    if name not in VALUES:
        if value:
            raise ConfigError(f"the variant {name} takes no value, found {variant!r}")
        return name
    try:
        return f"{name}={VALUES[name](value)}"
    except ValueError as error:
        raise ConfigError(f"variant {variant!r} is not possible: {error}") from error


def _end(value: str) -> str:
    if value not in ("first", "last"):
        raise ValueError("write few-shot=first or few-shot=last")
    return value


def _dataset(value: str) -> str:
    return find_dataset(value).name


def _setting(value: str) -> str:
    if value == "main":
        raise ValueError("the main setting is the variant main")
    return value


def _share(value: str) -> str:
    share = float(value) if value.replace(".", "", 1).isdecimal() else 0.0
    if not 0 < share <= 1:
        raise ValueError("its value is a share of the training rows, such as q-ratio=0.2")
    return f"{share:g}"


def _count(value: str) -> str:
    if not value.isdecimal() or not int(value):
        raise ValueError("its value is a whole number of at least 1")
    return str(int(value))


# What comes after `=`, in its one spelling; a variant that is not here takes nothing.
VALUES: dict[str, Callable[[str], str]] = {
    "few-shot": _end,
    "zero-shot": _dataset,
    "q-ratio": _share,
    "swapped-q": _dataset,
    "embed": _count,
    "rank": _count,
    "setting": _setting,
}


def _main(plain: Recipe, value: str) -> Recipe:
    return plain


def _correlation(plain: Recipe, value: str) -> Recipe:
    return replace(plain, correlation=True)


def _few_shot(plain: Recipe, value: str) -> Recipe:
    return replace(plain, train_share=FEW, train_end="first" if value == "first" else "last")


def _zero_shot(plain: Recipe, value: str) -> Recipe:
    other, own = find_dataset(value), find_dataset(plain.train_on)
    if other == own:
        raise ValueError("it trains on another dataset than it is scored on")
    if other.series != own.series:
        raise ValueError(f"{other.name} has {other.series} series, {own.name} {own.series}")
    task = find_task(plain.task.key._replace(dataset=other.name))
    return replace(plain, task=task, train_on=other.name, basis_from=other.name)


def _q_ratio(plain: Recipe, value: str) -> Recipe:
    return replace(plain, basis_share=float(value))


def _swapped_q(plain: Recipe, value: str) -> Recipe:
    return replace(plain, basis_from=value)


def _embedding(plain: Recipe, value: str) -> Recipe:
    return replace(plain, task=replace(plain.task, embed_dim=int(value)))


def _rank(plain: Recipe, value: str) -> Recipe:
    series = find_dataset(plain.train_on).series
    if int(value) > series:
        raise ValueError(f"the rank is at most the number of series, {series}")
    return replace(plain, rank=int(value))


# What a variant changes.
VARIANTS: dict[str, Callable[[Recipe, str], Recipe]] = {
    "main": _main,
    CORRELATION: _correlation,
    SEARCH: _main,
    "few-shot": _few_shot,
    "zero-shot": _zero_shot,
    "q-ratio": _q_ratio,
    "swapped-q": _swapped_q,
    "embed": _embedding,
    "rank": _rank,
    "setting": _main,
}
FOR_ALL = ("main", "setting", SEARCH, "few-shot", "zero-shot")  # the other variants are of OLinear's parts


def expand(keys: list[TaskKey], variant: str, seeds: int, model: str = MAIN) -> list[Job]:
    """The jobs of some tasks; `lookback-search` has one for each lookback (long suite)."""
    variant = spell(variant)
    if variant == SEARCH:
        keys = [key._replace(lookback=lookback) for key in keys if key.lookback == 96 for lookback in LOOKBACKS]
    return [Job(key, model, variant, FIRST_SEED + index) for key in keys for index in range(seeds)]


def study_jobs(study: Study, seeds: int) -> list[Job]:
    """The jobs of a study: each of its methods, for each of its models, on each of its tasks."""
    keys = [key for place in study.on for key in place.tasks]
    variants = [study.variant(method) for method in study.methods]
    return [job for model in study.models for variant in variants for job in expand(keys, variant, seeds, model)]
