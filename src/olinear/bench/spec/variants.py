"""The variants of a job besides the studies' methods: what each changes, what it takes, which models it is for."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from olinear.bench.spec.identity import JobKey, Variant
from olinear.bench.spec.model_settings import Setting, find_setting, settings
from olinear.bench.spec.recipes import Bases, Recipe, Source
from olinear.bench.spec.study import find_method
from olinear.bench.spec.task import CORRELATION, Task, TaskSet, paper_tasks
from olinear.core import ConfigError
from olinear.models import MODELS

SEARCH = "lookback-search"
LOOKBACKS = (96, 192, 336, 512, 720)
FEW = 0.1  # share of the training rows in the few-shot protocol
Change = Callable[[JobKey, str, TaskSet], Recipe]


@dataclass(frozen=True)
class Variation:
    """A kind of variant.

    Args:
        change: the recipe of a job with a value.
        value: gives a value its one spelling, or raises a ValueError; None takes no value.
        options: what the model must have.
        orthogonal: whether the model must have orthogonal bases.
    """

    change: Change
    value: Callable[[str, TaskSet], str] | None = None
    options: tuple[str, ...] = ()
    orthogonal: bool = False

    def suits(self, model: str) -> bool:
        """Whether a model has what is changed."""
        card = MODELS.find(model)
        if self.orthogonal and not card.traits.orthogonal:
            return False
        return not self.options or set(self.options) <= set(card.options())


def find_variant(text: str, tasks: TaskSet | None = None) -> Variant:
    """A variant as results name it: `zero-shot=etth1` is `zero-shot=ETTh1`, `q-ratio=.20` is `q-ratio=0.2`,
    `bases/fourier` is `bases/Fourier`."""
    variant = Variant.parse(text)
    if variant.method:
        study, method = find_method(variant)
        return Variant(study.name, method=method)
    if variant.name not in VARIANTS:
        raise ConfigError(
            f"no variant is called {variant.name!r}: there are {', '.join(VARIANTS)}, and STUDY/METHOD "
            "(`olinear bench study`)"
        )
    normalise_value = VARIANTS[variant.name].value
    if normalise_value is None:
        if variant.value:
            raise ConfigError(f"the variant {variant.name} takes no value, found {text!r}")
        return variant
    try:
        return Variant(variant.name, normalise_value(variant.value, tasks or paper_tasks()))
    except ValueError as error:
        raise ConfigError(f"variant {text!r} is not possible: {error}") from error


# Recipes


def plain_recipe(
    job: JobKey, tasks: TaskSet, *, setting: str = "main", like: Task | None = None, dataset: str = ""
) -> Recipe:
    """The main recipe of a job's task; with another setting, with the settings of a task like it, or trained on another
    dataset."""
    dataset = dataset or job.key.dataset
    like = like or tasks.find(job.key._replace(dataset=dataset))
    chosen = setting_of(like, job.model, setting, dataset)
    return Recipe(
        job.key,
        job.model,
        chosen.options,
        chosen.config,
        scored=source_of(job.key.dataset, job, tasks),
        trained=source_of(dataset, job, tasks),
    )


def source_of(dataset: str, job: JobKey, tasks: TaskSet) -> Source:
    """A dataset, split as its own task of the job's lookback and horizon is."""
    found = tasks.find_dataset(dataset)
    return Source(found, tasks.split_of(found.name, job.key))


def setting_of(task: Task, model: str, name: str = "main", dataset: str = "") -> Setting:
    """The task's own setting of a model, if it has one, or one of `models.toml`; defaults for a model without any."""
    own = task.settings.get(model)
    if name == "main" and own is not None:
        return own
    if name == "main" and model not in settings():
        return Setting(loss="weighted_l1")
    found = find_setting(model, name, dataset)
    return found.on(own) if found.of_task and own is not None else found


def _main(job: JobKey, value: str, tasks: TaskSet) -> Recipe:
    return plain_recipe(job, tasks)


def _setting(job: JobKey, value: str, tasks: TaskSet) -> Recipe:
    return plain_recipe(job, tasks, setting=value)


def _correlation(job: JobKey, value: str, tasks: TaskSet) -> Recipe:
    return with_correlation(plain_recipe(job, tasks), job, tasks)


def with_correlation(recipe: Recipe, job: JobKey, tasks: TaskSet) -> Recipe:
    """OLinear-C: NormLin's matrix is made of the series' correlation; with the settings that the task has for it."""
    own = tasks.find(job.key).settings.get(CORRELATION)
    if own is not None:
        recipe = replace(recipe, options=own.options, training=own.config)
    return replace(recipe, correlation=True)


def _search(job: JobKey, value: str, tasks: TaskSet) -> Recipe:
    """Every lookback with the settings of the first."""
    return plain_recipe(job, tasks, like=tasks.find(job.key._replace(lookback=LOOKBACKS[0])))


def _few_shot(job: JobKey, value: str, tasks: TaskSet) -> Recipe:
    return replace(plain_recipe(job, tasks), train_share=FEW, train_end="first" if value == "first" else "last")


def _zero_shot(job: JobKey, value: str, tasks: TaskSet) -> Recipe:
    own, other = tasks.find_dataset(job.key.dataset), tasks.find_dataset(value)
    tasks.find(job.key)
    if other == own:
        raise ValueError("it trains on another dataset than it is scored on")
    if other.series != own.series:
        raise ValueError(f"{other.name} has {other.series} series, {own.name} {own.series}")
    return plain_recipe(job, tasks, dataset=other.name)


def bases_of(recipe: Recipe) -> Bases:
    """The bases that its model would make of its training rows by itself."""
    return Bases(recipe.trained, recipe.options.get("basis", "pearson"))


def _q_ratio(job: JobKey, value: str, tasks: TaskSet) -> Recipe:
    recipe = plain_recipe(job, tasks)
    return replace(recipe, bases=replace(bases_of(recipe), share=float(value)))


def _swapped_q(job: JobKey, value: str, tasks: TaskSet) -> Recipe:
    recipe = plain_recipe(job, tasks)
    return replace(recipe, bases=replace(bases_of(recipe), rows_of=source_of(value, job, tasks)))


def _embedding(job: JobKey, value: str, tasks: TaskSet) -> Recipe:
    recipe = plain_recipe(job, tasks)
    return replace(recipe, options={**recipe.options, "embed_dim": int(value)})


def _rank(job: JobKey, value: str, tasks: TaskSet) -> Recipe:
    recipe = plain_recipe(job, tasks)
    series = recipe.trained.dataset.series
    if int(value) > series:
        raise ValueError(f"the rank is at most the number of series, {series}")
    return replace(recipe, options={**recipe.options, "rank": int(value)})


def _precision(job: JobKey, value: str, tasks: TaskSet) -> Recipe:
    recipe = plain_recipe(job, tasks)
    return replace(recipe, training=recipe.training.model_copy(update={"precision": value}))


# Values


def _end(value: str, tasks: TaskSet) -> str:
    if value not in ("first", "last"):
        raise ValueError("write few-shot=first or few-shot=last")
    return value


def _dataset(value: str, tasks: TaskSet) -> str:
    return tasks.find_dataset(value).name


def _name(value: str, tasks: TaskSet) -> str:
    if value == "main":
        raise ValueError("the main setting is the variant main")
    return value


def _other_precision(value: str, tasks: TaskSet) -> str:
    if value not in ("bfloat16", "auto"):
        raise ValueError("write precision=bfloat16 or precision=auto; float32 is the variant main")
    return value


def _share(value: str, tasks: TaskSet) -> str:
    share = float(value) if value.replace(".", "", 1).isdecimal() else 0.0
    if not 0 < share <= 1:
        raise ValueError("its value is a share of the training rows, such as q-ratio=0.2")
    return f"{share:g}"


def _count(value: str, tasks: TaskSet) -> str:
    if not value.isdecimal() or not int(value):
        raise ValueError("its value is a whole number of at least 1")
    return str(int(value))


VARIANTS: dict[str, Variation] = {
    "main": Variation(_main),
    CORRELATION: Variation(_correlation, options=("mixer",), orthogonal=True),
    SEARCH: Variation(_search),
    "few-shot": Variation(_few_shot, _end),
    "zero-shot": Variation(_zero_shot, _dataset),
    "q-ratio": Variation(_q_ratio, _share, orthogonal=True),
    "swapped-q": Variation(_swapped_q, _dataset, orthogonal=True),
    "embed": Variation(_embedding, _count, options=("embed_dim",)),
    "rank": Variation(_rank, _count, options=("rank",)),
    "setting": Variation(_setting, _name),
    "precision": Variation(_precision, _other_precision),
}
