"""From tasks and studies to jobs, and from a job to its recipe."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from olinear.bench.spec.identity import FIRST_SEED, JobKey, TaskKey, Variant
from olinear.bench.spec.recipes import Recipe
from olinear.bench.spec.starting import Start
from olinear.bench.spec.study import Method, Study, find_method
from olinear.bench.spec.task import TaskSet, paper_tasks
from olinear.bench.spec.variants import LOOKBACKS, SEARCH, VARIANTS, Variation, bases_of, find_variant
from olinear.core import ConfigError
from olinear.models import MAIN, MODELS

LOOKBACK = "lookback"  # `lookback=48` asks for one row of the search, or one more than it looks at


def recipe(job: JobKey, tasks: TaskSet | None = None) -> Recipe:
    """The recipe of a job: its task's settings, changed by its variant. The paper's tasks, unless others are given."""
    tasks = tasks or paper_tasks()
    variant = find_variant(str(job.variant), tasks)
    job = replace(job, variant=variant)
    changes = [(_variation(part, job.model), part.value) for part in variant.parts]
    try:
        start = Start.of(job, tasks)
        for variation, value in changes:
            start = variation.start(start, value)
        found = start.recipe()
        for variation, value in changes:
            found = variation.change(found, value, tasks)
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(f"variant {str(variant)!r} of {job.key} is not possible: {error}") from error
    _check_mixer(found, variant)
    return found


def _variation(part: Variant, model: str) -> Variation:
    """What one part of a variant does with a model; refused if the model has no such thing."""
    if not part.method:
        if not VARIANTS[part.name].suits(model):
            raise ConfigError(f"{model} has no variant {str(part)!r}: leave out --model, or that variant")
        return VARIANTS[part.name]
    study, name = find_method(part)
    if MODELS.find(model).traits.orthogonal != study.orthogonal:
        raise ConfigError(f"{model} has no variant {str(part)!r}, which is of {', '.join(study.models)}")
    method = study.methods[name]
    if model not in (method.models or [model]):
        raise ConfigError(f"{model} has no variant {str(part)!r}, which is of {', '.join(method.models)}")
    _check_options(model, method.parts)
    return Variation(partial(_start_of, method), partial(_with_method, method))


def _start_of(method: Method, start: Start, value: str) -> Start:
    return replace(start, correlation=start.correlation or method.correlation)


def _with_method(method: Method, plain: Recipe, value: str, tasks: TaskSet) -> Recipe:
    """A method of a study: the task's settings with other parts."""
    own = bases_of(plain)
    bases = replace(own, kind=method.basis or own.kind, output=method.output_basis)
    return replace(
        plain,
        options={**plain.options, **method.parts},
        bases=bases if method.basis or method.output_basis else plain.bases,
        normlin=method.normlin,
        orthotrans=method.orthotrans,
        skip=method.skip or "",
    )


def _check_options(model: str, options: dict[str, object]) -> None:
    from olinear.models import check_options  # which imports the model

    if options:
        check_options(model, options)


def _check_mixer(found: Recipe, variant: Variant) -> None:
    """Refuse what would mix series in two ways, of which only one would be heard."""
    given = [name for name in ("mixer", "rank") if name in found.options]
    if given and (found.correlation or found.normlin):
        raise ConfigError(f"variant {str(variant)!r} is not possible: NormLin's matrix is given in two ways")


def expand(
    keys: Sequence[TaskKey],
    variant: str = "main",
    seeds: int = 1,
    model: str = MAIN,
    tasks: TaskSet | None = None,
) -> list[JobKey]:
    """The jobs of some tasks; `lookback-search` has one for each lookback (long suite), `lookback=48` that one alone.

    What sets a size or rate to the task's own is left out: such a job is the one without it.
    """
    text, lookbacks = _named_lookbacks(variant)
    found = find_variant(text, tasks)
    if found.has(SEARCH):
        keys = [key._replace(lookback=each) for key in keys if key.lookback == LOOKBACKS[0] for each in lookbacks]
    plain = [_without_own(JobKey(key, model, found), tasks) for key in keys]
    return [replace(job, seed=FIRST_SEED + index) for job in plain for index in range(seeds)]


def _named_lookbacks(text: str) -> tuple[str, Sequence[int]]:
    """A variant as the rows have it, and which lookbacks are searched."""
    parts = Variant.parse(text).parts
    named = [part for part in parts if part.name == LOOKBACK]
    if not named:
        return text, LOOKBACKS
    value = named[0].value
    if len(named) > 1 or not value.isdecimal() or not int(value):
        raise ConfigError(f"variant {text!r} is not possible: a lookback is a whole number, such as lookback=48")
    others = [part for part in parts if part.name != LOOKBACK]
    return str(Variant.join([*others, Variant(SEARCH)])), (int(value),)


def _without_own(job: JobKey, tasks: TaskSet | None) -> JobKey:
    """The same job without those parts of its variant that its task has anyway."""
    parts = list(job.variant.parts)
    for part in job.variant.parts:
        if not part.method and VARIANTS[part.name].sweeps:
            less = replace(job, variant=Variant.join([other for other in parts if other != part]))
            if recipe(less, tasks) == recipe(replace(job, variant=Variant.join(parts)), tasks):
                parts = [other for other in parts if other != part]
    return replace(job, variant=Variant.join(parts))


def study_jobs(study: Study, seeds: int) -> list[JobKey]:
    """The jobs of a study: each of its methods, for each of its models, on each of its tasks."""
    keys = [key for place in study.on for key in place.tasks]
    variants = [(model, str(study.variant(method))) for model in study.models for method in study.methods_of(model)]
    return [job for model, variant in variants for job in expand(keys, variant, seeds, model)]
