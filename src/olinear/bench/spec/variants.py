"""The variants of a job besides the studies' methods: what each changes, what it takes, which models it is for."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, get_args

from olinear.bench.spec.identity import Variant
from olinear.bench.spec.recipes import Bases, Recipe
from olinear.bench.spec.starting import Start, source_of
from olinear.bench.spec.study import find_method
from olinear.bench.spec.task import CORRELATION, TaskSet, paper_tasks
from olinear.core import ConfigError
from olinear.core.settings import TrainingConfig
from olinear.models import MODELS

SEARCH = "lookback-search"
LOOKBACKS = (96, 192, 336, 512, 720)
FEW = 0.1  # share of the training rows in the few-shot protocol


def _same_start(start: Start, value: str) -> Start:
    return start


def _same_recipe(recipe: Recipe, value: str, tasks: TaskSet) -> Recipe:
    return recipe


@dataclass(frozen=True)
class Variation:
    """A kind of variant.

    Args:
        start: where its recipe starts.
        change: what it changes in a recipe.
        value: gives a value its one spelling, or raises a ValueError; None takes no value.
        options: what the model must have.
        orthogonal: whether the model must have orthogonal bases.
        trained: whether the model must be trained and not solved.
        sweeps: whether it sets what every recipe has, so that one of its values is the main one's.
        group: what it is about, if another is about the same, so that only one of them can be had.
    """

    start: Callable[[Start, str], Start] = _same_start
    change: Callable[[Recipe, str, TaskSet], Recipe] = _same_recipe
    value: Callable[[str, TaskSet], str] | None = None
    options: tuple[str, ...] = ()
    orthogonal: bool = False
    trained: bool = False
    sweeps: bool = False
    group: str = ""

    def suits(self, model: str) -> bool:
        """Whether a model has what is changed."""
        card = MODELS.find(model)
        if (self.orthogonal and not card.traits.orthogonal) or (self.trained and card.traits.closed_form):
            return False
        return not self.options or set(self.options) <= set(card.options())


def find_variant(text: str, tasks: TaskSet | None = None) -> Variant:
    """A variant as results name it: `zero-shot=etth1` is `zero-shot=ETTh1`, `q-ratio=.20` is `q-ratio=0.2`,
    `bases/fourier` is `bases/Fourier`, `lookback-search,OLinear-C` is `OLinear-C,lookback-search`."""
    parts = [_find_one(part, tasks or paper_tasks()) for part in Variant.parse(text).parts]
    if len(parts) == 1:
        return parts[0]
    groups = [_group(part) for part in parts]
    for group, part in zip(groups, parts, strict=True):
        if part.is_main:
            raise ConfigError(f"the variant {text!r} is not possible: main is what the others change, so leave it out")
        if groups.count(group) > 1:
            raise ConfigError(f"the variant {text!r} is not possible: it says twice what {group} is to be")
    order = ["", *VARIANTS]
    return Variant.join(sorted(parts, key=lambda part: order.index("" if part.method else part.name)))


def _group(part: Variant) -> str:
    return "the method" if part.method else VARIANTS[part.name].group or part.name


def _find_one(variant: Variant, tasks: TaskSet) -> Variant:
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
            raise ConfigError(f"the variant {variant.name} takes no value, found {str(variant)!r}")
        return variant
    try:
        found = Variant(variant.name, normalise_value(variant.value, tasks))
    except ValueError as error:
        raise ConfigError(f"variant {str(variant)!r} is not possible: {error}") from error
    return SAME.get(found, found)


# Where a recipe starts


def _correlation(start: Start, value: str) -> Start:
    """OLinear-C: NormLin's matrix is made of the series' correlation; with the settings that the task has for it."""
    return replace(start, correlation=True)


def _setting(start: Start, value: str) -> Start:
    return replace(start, setting=value)


def _search(start: Start, value: str) -> Start:
    """Every lookback with the settings of the first."""
    return replace(start, like=start.like._replace(lookback=LOOKBACKS[0]))


def _zero_shot(start: Start, value: str) -> Start:
    own, other = (start.tasks.find_dataset(name) for name in (start.like.dataset, value))
    start.tasks.find(start.like)
    if other == own:
        raise ValueError("it trains on another dataset than it is scored on")
    if other.series != own.series:
        raise ValueError(f"{other.name} has {other.series} series, {own.name} {own.series}")
    return start.on(other.name)


# Changes of it


def _few_shot(recipe: Recipe, value: str, tasks: TaskSet) -> Recipe:
    return replace(recipe, train_share=FEW, train_end="first" if value == "first" else "last")


def _less_data(recipe: Recipe, value: str, tasks: TaskSet) -> Recipe:
    return replace(recipe, train_share=float(value), train_end="last")


def bases_of(recipe: Recipe) -> Bases:
    """The bases that it has, or that its model would make of its training rows by itself."""
    return recipe.bases or Bases(recipe.trained, recipe.options.get("basis", "pearson"))


def _q_ratio(recipe: Recipe, value: str, tasks: TaskSet) -> Recipe:
    return replace(recipe, bases=replace(bases_of(recipe), share=float(value)))


def _swapped_q(recipe: Recipe, value: str, tasks: TaskSet) -> Recipe:
    return replace(recipe, bases=replace(bases_of(recipe), rows_of=source_of(value, recipe.key, tasks)))


def _with_options(recipe: Recipe, **options: Any) -> Recipe:
    return replace(recipe, options={**recipe.options, **options})


def _embedding(recipe: Recipe, value: str, tasks: TaskSet) -> Recipe:
    return _with_options(recipe, embed_dim=int(value))


def _blocks(recipe: Recipe, value: str, tasks: TaskSet) -> Recipe:
    return _with_options(recipe, blocks=int(value))


def _width(recipe: Recipe, value: str, tasks: TaskSet) -> Recipe:
    """The paper's D: the width of the model, and that of its feed-forward layers where they have one."""
    names = {"model_dim", "ff_dim"} & set(MODELS.find(recipe.model).options())
    return _with_options(recipe, **dict.fromkeys(sorted(names), int(value)))


def _rank(recipe: Recipe, value: str, tasks: TaskSet) -> Recipe:
    series = recipe.trained.dataset.series
    if int(value) > series:
        raise ValueError(f"the rank is at most the number of series, {series}")
    return _with_options(recipe, rank=int(value))


def _normlin_rate(recipe: Recipe, value: str, tasks: TaskSet) -> Recipe:
    return replace(recipe, normlin_rate=float(value))


def _training(name: str, kind: Callable[[str], Any] = str) -> Callable[[Recipe, str, TaskSet], Recipe]:
    """Sets one field of the training."""

    def change(recipe: Recipe, value: str, tasks: TaskSet) -> Recipe:
        return replace(recipe, training=recipe.training.model_copy(update={name: kind(value)}))

    return change


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


def _schedule(value: str, tasks: TaskSet) -> str:
    known = get_args(TrainingConfig.model_fields["schedule"].annotation)
    if value not in known:
        raise ValueError(f"the schedules are {', '.join(known)}")
    return value


def _share(value: str, tasks: TaskSet) -> str:
    share = float(value) if value.replace(".", "", 1).isdecimal() else 0.0
    if not 0 < share <= 1:
        raise ValueError("its value is a share of the training rows, such as q-ratio=0.2")
    return f"{share:g}"


def _part(value: str, tasks: TaskSet) -> str:
    share = _share(value, tasks)
    if share == "1":
        raise ValueError("all training rows are the variant main")
    return share


def _rate(value: str, tasks: TaskSet) -> str:
    try:
        rate = float(value)
    except ValueError:
        rate = 0.0
    if not 0 < rate < float("inf"):
        raise ValueError("its value is a number above 0, such as 1e-3")
    return f"{rate:g}"


def _count(value: str, tasks: TaskSet) -> str:
    if not value.isdecimal() or not int(value):
        raise ValueError("its value is a whole number of at least 1")
    return str(int(value))


VARIANTS: dict[str, Variation] = {
    "main": Variation(),
    CORRELATION: Variation(_correlation, options=("mixer",), orthogonal=True),
    SEARCH: Variation(_search),
    "few-shot": Variation(change=_few_shot, value=_end, group="share"),
    "share": Variation(change=_less_data, value=_part),
    "zero-shot": Variation(_zero_shot, value=_dataset),
    "q-ratio": Variation(change=_q_ratio, value=_share, orthogonal=True),
    "swapped-q": Variation(change=_swapped_q, value=_dataset, orthogonal=True),
    "embed": Variation(change=_embedding, value=_count, options=("embed_dim",), sweeps=True),
    "blocks": Variation(change=_blocks, value=_count, options=("blocks",), sweeps=True),
    "width": Variation(change=_width, value=_count, options=("model_dim",), sweeps=True),
    "rank": Variation(change=_rank, value=_count, options=("rank",)),
    "setting": Variation(_setting, value=_name),
    "lr": Variation(change=_training("learning_rate", float), value=_rate, trained=True, sweeps=True),
    "schedule": Variation(change=_training("schedule"), value=_schedule, trained=True, sweeps=True),
    "epochs": Variation(change=_training("max_epochs", int), value=_count, trained=True, sweeps=True),
    "normlin-rate": Variation(change=_normlin_rate, value=_rate, trained=True, sweeps=True),
    "precision": Variation(change=_training("precision"), value=_other_precision),
}
# A tenth of the training rows has a name of its own, of before: one computation, one name.
SAME = {Variant("share", f"{FEW:g}"): Variant("few-shot", "last")}
