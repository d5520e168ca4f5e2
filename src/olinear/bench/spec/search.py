"""A learning rate and a schedule for each arm of a study: what is tried, before validation chooses."""

from collections.abc import Iterator
from typing import NamedTuple

from olinear.bench.spec.identity import JobKey, TaskKey, Variant
from olinear.bench.spec.jobs import recipe
from olinear.bench.spec.study import Study
from olinear.bench.spec.variants import find_variant

RATES = (1e-4, 3e-4, 1e-3, 3e-3)  # and the arm's own
SCHEDULES = ("type1", "cosine")
PART = 4  # a trial has this part of the epochs
SEARCHES = "searches"  # of the results; a trial is a row as any other


class Arm(NamedTuple):
    """What is compared: a method of a study for a model on a task."""

    model: str
    key: TaskKey
    method: str

    def __str__(self) -> str:
        return f"{self.model} {self.method} on {self.key}"


class Trial(NamedTuple):
    """One rate and schedule of an arm: the job that tries it, and the variant of the arm with it."""

    job: JobKey
    variant: Variant


def find_arms(study: Study) -> list[Arm]:
    """All arms of a study."""
    return [
        Arm(model, key, method)
        for model in study.models
        for place in study.on
        for key in place.tasks
        for method in study.methods_of(model)
    ]


def make_trials(study: Study, arm: Arm) -> list[Trial]:
    """What is tried for an arm, by its first seed alone."""
    plain = study.variant(arm.method)
    training = recipe(JobKey(arm.key, arm.model, plain)).training
    epochs = Variant("epochs", str(-(-training.max_epochs // PART)))
    return [
        Trial(JobKey(arm.key, arm.model, _join(plain, *parts, epochs)), _join(plain, *parts))
        for parts in _rates_and_schedules(training.learning_rate)
    ]


def _rates_and_schedules(own: float) -> Iterator[tuple[Variant, Variant]]:
    for rate in sorted({*RATES, own}):
        for schedule in SCHEDULES:
            yield Variant("lr", f"{rate:g}"), Variant("schedule", schedule)


def _join(plain: Variant, *further: Variant) -> Variant:
    parts = () if plain.is_main else plain.parts
    return find_variant(str(Variant.join([*parts, *further])))
