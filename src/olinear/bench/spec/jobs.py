"""From tasks and studies to jobs, and from a job to its recipe."""

from collections.abc import Sequence
from dataclasses import replace

from olinear.bench.spec.identity import FIRST_SEED, JobKey, TaskKey
from olinear.bench.spec.recipes import Recipe
from olinear.bench.spec.study import Study, find_method
from olinear.bench.spec.task import TaskSet, paper_tasks
from olinear.bench.spec.variants import (
    LOOKBACKS,
    SEARCH,
    VARIANTS,
    bases_of,
    find_variant,
    plain_recipe,
    with_correlation,
)
from olinear.core import ConfigError
from olinear.models import MAIN, MODELS


def recipe(job: JobKey, tasks: TaskSet | None = None) -> Recipe:
    """The recipe of a job: its task's settings, changed by its variant. The paper's tasks, unless others are given."""
    tasks = tasks or paper_tasks()
    variant = find_variant(str(job.variant), tasks)
    job = replace(job, variant=variant)
    if variant.method:
        return _of_study(job, tasks)
    variation = VARIANTS[variant.name]
    if not variation.suits(job.model):
        raise ConfigError(f"{job.model} has no variant {str(variant)!r}: leave out --model, or that variant")
    try:
        return variation.change(job, variant.value, tasks)
    except ConfigError:
        raise
    except ValueError as error:
        raise ConfigError(f"variant {str(variant)!r} of {job.key} is not possible: {error}") from error


def _of_study(job: JobKey, tasks: TaskSet) -> Recipe:
    """A method of a study: the task's settings with other parts."""
    study, name = find_method(job.variant)
    if MODELS.find(job.model).traits.orthogonal != study.orthogonal:
        raise ConfigError(f"{job.model} has no variant {str(job.variant)!r}, which is of {', '.join(study.models)}")
    method = study.methods[name]
    plain = plain_recipe(job, tasks)
    if method.correlation:
        plain = with_correlation(plain, job, tasks)
    _check_options(job.model, method.parts)
    own = bases_of(plain)
    bases = replace(own, kind=method.basis or own.kind, output=method.output_basis)
    return replace(
        plain,
        options={**plain.options, **method.parts},
        bases=bases if method.basis or method.output_basis else None,
        normlin=method.normlin,
        orthotrans=method.orthotrans,
    )


def _check_options(model: str, options: dict[str, object]) -> None:
    from olinear.models import check_options  # which imports the model

    if options:
        check_options(model, options)


def expand(
    keys: Sequence[TaskKey],
    variant: str = "main",
    seeds: int = 1,
    model: str = MAIN,
    tasks: TaskSet | None = None,
) -> list[JobKey]:
    """The jobs of some tasks; `lookback-search` has one for each lookback (long suite)."""
    found = find_variant(variant, tasks)
    if found.name == SEARCH:
        keys = [key._replace(lookback=each) for key in keys if key.lookback == LOOKBACKS[0] for each in LOOKBACKS]
    return [JobKey(key, model, found, FIRST_SEED + index) for key in keys for index in range(seeds)]


def study_jobs(study: Study, seeds: int) -> list[JobKey]:
    """The jobs of a study: each of its methods, for each of its models, on each of its tasks."""
    keys = [key for place in study.on for key in place.tasks]
    variants = [str(study.variant(method)) for method in study.methods]
    return [job for model in study.models for variant in variants for job in expand(keys, variant, seeds, model)]
