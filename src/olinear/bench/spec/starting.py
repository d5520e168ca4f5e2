"""What a recipe is before a variant changes it: whose settings of which task, and what is trained on."""

from dataclasses import dataclass, replace
from typing import Self

from olinear.bench.spec.identity import JobKey, TaskKey
from olinear.bench.spec.model_settings import Setting, find_setting, settings
from olinear.bench.spec.recipes import Recipe, Source
from olinear.bench.spec.task import CORRELATION, Task, TaskSet


@dataclass(frozen=True)
class Start:
    """Where the recipe of a job starts.

    Args:
        job, tasks: the job, and the tasks that it is one of.
        like: the task whose settings it takes.
        dataset: what it trains on.
        setting: the name of a setting of the model.
        correlation: whether it is OLinear-C, for which some tasks have settings of their own.
    """

    job: JobKey
    tasks: TaskSet
    like: TaskKey
    dataset: str
    setting: str = "main"
    correlation: bool = False

    @classmethod
    def of(cls, job: JobKey, tasks: TaskSet) -> Self:
        """The main one."""
        return cls(job, tasks, job.key, job.key.dataset)

    def on(self, dataset: str) -> "Start":
        """Trained on another dataset, with the settings of its task."""
        return replace(self, dataset=dataset, like=self.like._replace(dataset=dataset))

    def recipe(self) -> Recipe:
        """The recipe before any further change."""
        key, model = self.job.key, self.job.model
        chosen = setting_of(self.tasks.find(self.like), model, self.setting, self.dataset, correlation=self.correlation)
        return Recipe(
            key,
            model,
            chosen.options,
            chosen.config,
            scored=source_of(key.dataset, key, self.tasks),
            trained=source_of(self.dataset, key, self.tasks),
            correlation=self.correlation,
        )


def source_of(dataset: str, key: TaskKey, tasks: TaskSet) -> Source:
    """A dataset, split as its own task of this lookback and horizon is."""
    found = tasks.find_dataset(dataset)
    return Source(found, tasks.split_of(found.name, key))


def setting_of(task: Task, model: str, name: str = "main", dataset: str = "", *, correlation: bool = False) -> Setting:
    """The task's own setting of a model, if it has one, or one of `models.toml`; defaults for a model without any."""
    own = task.settings.get(model)
    own = task.settings.get(CORRELATION, own) if correlation else own
    if name == "main" and own is not None:
        return own
    if name == "main" and model not in settings():
        return Setting(loss="weighted_l1")
    found = find_setting(model, name, dataset)
    return found.on(own) if found.of_task and own is not None else found
