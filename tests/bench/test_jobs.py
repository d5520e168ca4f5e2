"""What each variant changes in a task's recipe, and which variants are refused before anything is trained."""

from dataclasses import replace

import pytest
import torch

from olinear.bench.spec.jobs import LOOKBACKS, VARIANTS, Job, Recipe, expand, recipe, spell
from olinear.bench.spec.model_settings import Setting
from olinear.bench.spec.task import CORRELATION, TaskKey, find_task, tasks
from olinear.core.errors import ConfigError
from olinear.models import MODELS

KEY = TaskKey("ETTh2", 96, 192)
PLAIN = Recipe(find_task(KEY), "ETTh2", "ETTh2")
CHANGES = {
    "main": {},
    "OLinear-C": {"task": find_task(KEY, CORRELATION), "correlation": True},
    "lookback-search": {},
    "few-shot=first": {"train_share": 0.1, "train_end": "first"},
    "few-shot=last": {"train_share": 0.1, "train_end": "last"},
    "zero-shot=ETTh1": {
        "task": find_task(KEY._replace(dataset="ETTh1")),
        "train_on": "ETTh1",
        "basis_from": "ETTh1",
    },
    "q-ratio=0.2": {"basis_share": 0.2},
    "q-ratio=1": {"basis_share": 1.0},
    "swapped-q=Power": {"basis_from": "Power"},
    "embed=8": {"task": replace(PLAIN.task, embed_dim=8)},
    "rank=7": {"rank": 7},
}


@pytest.mark.parametrize(("variant", "changes"), CHANGES.items(), ids=CHANGES)
def test_a_variant_changes_one_thing(variant, changes):
    """An ablation that changed something else besides would explain nothing."""
    assert recipe(Job(KEY, variant=variant)) == replace(PLAIN, **changes)


def test_every_variant_is_tested():
    assert {name.partition("=")[0] for name in CHANGES} == set(VARIANTS) - {"setting"}  # which is of other models


def test_every_task_has_a_recipe():
    for key, task in tasks().items():
        assert recipe(Job(key)) == Recipe(task, key.dataset, key.dataset)
        assert recipe(Job(key, variant=CORRELATION)).correlation


def test_the_lookback_search_keeps_the_settings_of_lookback_96():
    for job in expand([KEY], "lookback-search", 1):
        assert recipe(job).task == replace(PLAIN.task, key=job.key)


def test_zero_shot_trains_with_the_settings_of_where_it_trains():
    plan = recipe(Job(TaskKey("ETTh2", 96, 96), variant="zero-shot=ETTm1"))
    assert plan.task == find_task(TaskKey("ETTm1", 96, 96))


@pytest.mark.parametrize(
    ("variant", "words"),
    [
        ("", ["no variant is called ''", "main, OLinear-C, lookback-search, few-shot"]),
        ("Main", ["no variant is called 'Main'", "main"]),
        ("main=2", ["takes no value", "'main=2'"]),
        ("OLinear-C=x", ["takes no value"]),
        ("lookback-search=96", ["takes no value"]),
        ("few-shot", ["few-shot=first or few-shot=last"]),
        ("few-shot=middle", ["few-shot=first or few-shot=last"]),
        ("zero-shot", ["no dataset is called ''", "ETTh1"]),
        ("zero-shot=ETT", ["no dataset is called 'ETT'", "ETTh1"]),
        ("zero-shot=ETTh2", ["another dataset"]),
        ("zero-shot=Exchange", ["Exchange has 8 series, ETTh2 7", "ETTh2 96->192"]),
        ("zero-shot=ILI", ["ILI 96->192 is not one of the paper's tasks"]),
        ("q-ratio", ["q-ratio=0.2"]),
        ("q-ratio=0", ["q-ratio=0.2"]),
        ("q-ratio=1.1", ["q-ratio=0.2"]),
        ("q-ratio=-0.2", ["q-ratio=0.2"]),
        ("q-ratio=nan", ["q-ratio=0.2"]),
        ("q-ratio=half", ["q-ratio=0.2"]),
        ("swapped-q=Nowhere", ["no dataset is called 'Nowhere'"]),
        ("embed=0", ["whole number of at least 1", "'embed=0'"]),
        ("embed=-8", ["whole number of at least 1"]),
        ("embed=8.5", ["whole number of at least 1"]),
        ("bases/sines", ["Published", "Fourier"]),
        ("rank=0", ["whole number of at least 1"]),
        ("rank=8", ["at most the number of series, 7"]),
    ],
)
def test_variants_that_are_refused(variant, words):
    with pytest.raises(ConfigError) as caught:
        recipe(Job(KEY, variant=variant))
    for word in words:
        assert word in str(caught.value)


def test_a_task_that_is_none_is_refused():
    with pytest.raises(ConfigError, match="ETTh2 48->192 is not one of the paper's tasks"):
        recipe(Job(KEY._replace(lookback=48)))


@pytest.mark.parametrize(
    ("given", "spelt"),
    [
        ("main=", "main"),
        ("zero-shot=etth1", "zero-shot=ETTh1"),
        ("swapped-q=POWER", "swapped-q=Power"),
        ("q-ratio=.20", "q-ratio=0.2"),
        ("q-ratio=1.0", "q-ratio=1"),
        ("embed=08", "embed=8"),
        *((name, name) for name in CHANGES),
    ],
)
def test_a_variant_has_one_spelling(given, spelt):
    """Two spellings would be two jobs, and what is finished would be done again."""
    assert spell(given) == spelt
    assert {job.variant for job in expand([KEY], given, 2)} == {spelt}


def test_expand():
    keys = [KEY, TaskKey("ILI", 36, 24)]
    jobs = expand(keys, "main", 3)
    assert jobs == [Job(key, seed=seed) for key in keys for seed in (2023, 2024, 2025)]
    assert {job.model for job in jobs} == {"OLinear"}


def test_the_lookback_search_has_a_job_for_each_lookback_of_the_long_suite():
    jobs = expand([KEY, TaskKey("ILI", 36, 24)], "lookback-search", 1)
    assert [job.key for job in jobs] == [KEY._replace(lookback=lookback) for lookback in LOOKBACKS]
    assert (min(LOOKBACKS), max(LOOKBACKS)) == (96, 720)


def test_names_of_files_are_as_many_as_the_jobs():
    """Two jobs of one name would share a lock and a checkpoint."""
    jobs = [job for variant in CHANGES for job in expand(list(tasks()), variant, 2)]
    assert len({job.name for job in jobs}) == len(set(jobs)) == len(jobs)
    assert all("/" not in job.name and " " not in job.name for job in jobs)


def test_a_job_in_words():
    assert str(Job(KEY)) == "ETTh2 96->192 OLinear seed 2023"
    assert str(Job(KEY, variant="embed=8", seed=2024)) == "ETTh2 96->192 OLinear embed=8 seed 2024"


def test_another_model_is_trained_as_its_own_paper_says():
    """Its data and split are the task's, its optimisation is not."""
    key = TaskKey("ETTh1", 96, 96)
    plan = recipe(Job(key, "Leddam"))
    assert (plan.model, plan.loss, plan.options["model_dim"]) == ("Leddam", "l2", 256)
    assert (plan.task.batch_size, plan.task.schedule, plan.task.key) == (128, "constant", key)
    other = recipe(Job(key, "DLinear", "setting=tsl"))
    assert (other.options, other.task.learning_rate) == ({"init": "mean"}, 1e-4)


@pytest.mark.parametrize("job", [("DLinear", "bases/Fourier"), ("DLinear", "OLinear-C"), ("DLinear", "rank=2")])
def test_a_variant_of_another_model_is_refused(job):
    with pytest.raises(ConfigError, match="has no variant"):
        recipe(Job(TaskKey("ETTh1", 96, 96), *job))


def test_another_setting_of_olinear_changes_its_training_alone(monkeypatch):
    slow = Setting(training={"learning_rate": 1e-5, "patience": 20})
    monkeypatch.setattr("olinear.bench.spec.model_settings.settings", lambda: {"OLinear": {"slow": slow}})
    plain, plan = (recipe(Job(TaskKey("ILI", 36, 24), variant=name)) for name in ("main", "setting=slow"))
    assert (plan.task.learning_rate, plan.task.patience) == (1e-5, 20)
    assert replace(plan, task=plain.task) == plain


def test_main_has_one_name():
    with pytest.raises(ConfigError, match="the main setting is the variant main"):
        spell("setting=main")


def test_an_unknown_setting_is_refused():
    with pytest.raises(ConfigError, match="OLinear has no setting 'tsl'"):
        recipe(Job(TaskKey("ETTh1", 96, 96), "OLinear", "setting=tsl"))
    with pytest.raises(ConfigError, match="no setting 'mine': it has main, ILI, tsl"):
        recipe(Job(TaskKey("ETTh1", 96, 96), "DLinear", "setting=mine"))


def test_every_model_of_the_zoo_has_a_setting_that_builds():
    for model in MODELS:
        if model != "OLinear":
            plan = recipe(Job(TaskKey("ETTh1", 96, 96), model))
            with torch.device("meta"):
                assert MODELS.find(model).load()(7, 96, 96, **plan.options)
