"""The paper's evaluation by one command: tasks as data, a resumable runner, results beside the published ones."""

from olinear.bench.jobs import VARIANTS, Job, expand, recipe
from olinear.bench.planning import Plan, make_plan, matrix_speed
from olinear.bench.pool import Pool
from olinear.bench.results import Row, read_results
from olinear.bench.tasks import Task, TaskKey, find_task, published, tasks

__all__ = [
    "VARIANTS",
    "Job",
    "Plan",
    "Pool",
    "Row",
    "Task",
    "TaskKey",
    "expand",
    "find_task",
    "make_plan",
    "matrix_speed",
    "published",
    "read_results",
    "recipe",
    "tasks",
]
