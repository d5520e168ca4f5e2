"""What each variant changes in a task's recipe, and which variants are refused before anything is trained."""

from dataclasses import replace

import pytest
import torch
from bench_parts import varied

from olinear.bench.spec.identity import JobKey, TaskKey, Variant
from olinear.bench.spec.jobs import expand, recipe
from olinear.bench.spec.model_settings import Setting
from olinear.bench.spec.recipes import Bases, Recipe, Source
from olinear.bench.spec.task import CORRELATION, tasks
from olinear.bench.spec.variants import LOOKBACKS, VARIANTS, find_variant
from olinear.core.errors import ConfigError
from olinear.data.datasets import find_dataset
from olinear.models import MAIN, MODELS

KEY = TaskKey("ETTh2", 96, 192)
H1, H2, POWER = (Source(find_dataset(name)) for name in ("ETTh1", "ETTh2", "Power"))


def own(key: TaskKey, name: str = MAIN) -> dict[str, object]:
    """What a task says of a model, or of a variant that has settings of its own."""
    setting = tasks()[key].settings[name]
    return {"options": setting.options, "training": setting.config}


PLAIN = Recipe(KEY, MAIN, scored=H2, trained=H2, **own(KEY))
CHANGES = {
    "main": {},
    "OLinear-C": {**own(KEY, CORRELATION), "correlation": True},
    "lookback-search": {},
    "few-shot=first": {"train_share": 0.1, "train_end": "first"},
    "few-shot=last": {"train_share": 0.1, "train_end": "last"},
    "zero-shot=ETTh1": {**own(KEY._replace(dataset="ETTh1")), "trained": H1},
    "q-ratio=0.2": {"bases": Bases(H2, share=0.2)},
    "q-ratio=1": {"bases": Bases(H2, share=1.0)},
    "swapped-q=Power": {"bases": Bases(POWER)},
    "embed=8": {"options": {**PLAIN.options, "embed_dim": 8}},
    "rank=7": {"options": {**PLAIN.options, "rank": 7}},
    "share=0.2": {"train_share": 0.2, "train_end": "last"},
    "blocks=7": {"options": {**PLAIN.options, "blocks": 7}},
    "width=100": {"options": {**PLAIN.options, "model_dim": 100, "ff_dim": 100}},
    "lr=0.007": {"training": PLAIN.training.model_copy(update={"learning_rate": 7e-3})},
    "schedule=stairs": {"training": PLAIN.training.model_copy(update={"schedule": "stairs"})},
    "normlin-rate=10": {"normlin_rate": 10.0},
    "epochs=77": {"training": PLAIN.training.model_copy(update={"max_epochs": 77})},
    "precision=bfloat16": {"training": PLAIN.training.model_copy(update={"precision": "bfloat16"})},
}


@pytest.mark.parametrize(("variant", "changes"), CHANGES.items(), ids=CHANGES)
def test_a_variant_changes_one_thing(variant, changes):
    """An ablation that changed something else besides would explain nothing."""
    assert recipe(varied(JobKey(KEY), variant)) == replace(PLAIN, **changes)


def test_every_variant_is_tested():
    assert {name.partition("=")[0] for name in CHANGES} == set(VARIANTS) - {"setting"}  # which is of other models


def test_every_task_has_a_recipe():
    for key, task in tasks().items():
        source = Source(find_dataset(key.dataset), task.split)
        assert recipe(JobKey(key)) == Recipe(key, MAIN, scored=source, trained=source, **own(key))
        assert recipe(JobKey(key, variant=Variant(CORRELATION))).correlation


def test_the_lookback_search_keeps_the_settings_of_lookback_96():
    for job in expand([KEY], "lookback-search", 1):
        assert recipe(job) == replace(PLAIN, key=job.key)


def test_zero_shot_trains_with_the_settings_of_where_it_trains():
    plan = recipe(varied(JobKey(TaskKey("ETTh2", 96, 96)), "zero-shot=ETTm1"))
    assert {"options": plan.options, "training": plan.training} == own(TaskKey("ETTm1", 96, 96))


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
        ("share=1", ["all training rows are the variant main"]),
        ("share=0", ["a share of the training rows"]),
        ("lr=0", ["a number above 0"]),
        ("lr=fast", ["a number above 0"]),
        ("lr=inf", ["a number above 0"]),
        ("schedule=steep", ["type1", "cosine"]),
        ("embed=8,", ["no variant is called ''"]),
        ("main,embed=8", ["leave it out"]),
        ("embed=8,embed=4", ["says twice what embed is to be"]),
        ("few-shot=first,share=0.2", ["says twice what share is to be"]),
        ("bases/Fourier,bases/Legendre", ["says twice what the method is to be"]),
        ("mixers/Flowformer,OLinear-C", ["NormLin's matrix is given in two ways"]),
        ("rank=2,OLinear-C", ["NormLin's matrix is given in two ways"]),
    ],
)
def test_variants_that_are_refused(variant, words):
    with pytest.raises(ConfigError) as caught:
        recipe(varied(JobKey(KEY), variant))
    for word in words:
        assert word in str(caught.value)


def test_an_unknown_task_is_refused():
    with pytest.raises(ConfigError, match="ETTh2 48->192 is not one of the paper's tasks"):
        recipe(JobKey(KEY._replace(lookback=48)))


@pytest.mark.parametrize(
    ("given", "spelt"),
    [
        ("main=", "main"),
        ("zero-shot=etth1", "zero-shot=ETTh1"),
        ("swapped-q=POWER", "swapped-q=Power"),
        ("q-ratio=.20", "q-ratio=0.2"),
        ("q-ratio=1.0", "q-ratio=1"),
        ("embed=08", "embed=8"),
        ("share=.1", "few-shot=last"),
        ("lr=7e-3", "lr=0.007"),
        ("width=100,OLinear-C", "OLinear-C,width=100"),
        ("embed=8,BASES/fourier", "bases/Fourier,embed=8"),
        *((name, name) for name in CHANGES),
    ],
)
def test_a_variant_has_one_spelling(given, spelt):
    """Two spellings would be two jobs, and what is finished would be done again."""
    assert str(find_variant(given)) == spelt
    assert {str(job.variant) for job in expand([KEY], given, 2)} == {spelt}


def test_expand():
    keys = [KEY, TaskKey("ILI", 36, 24)]
    jobs = expand(keys, "main", 3)
    assert jobs == [JobKey(key, seed=seed) for key in keys for seed in (2023, 2024, 2025)]
    assert {job.model for job in jobs} == {"OLinear"}


def test_the_lookback_search_has_a_job_for_each_lookback_of_the_long_suite():
    jobs = expand([KEY, TaskKey("ILI", 36, 24)], "lookback-search", 1)
    assert [job.key for job in jobs] == [KEY._replace(lookback=lookback) for lookback in LOOKBACKS]
    assert (min(LOOKBACKS), max(LOOKBACKS)) == (96, 720)


def test_a_lookback_by_itself_is_a_row_of_the_search():
    """The figure of increasing lookbacks has what the table of the best lookback has, and one more."""
    (job,) = expand([KEY, TaskKey("ILI", 36, 24)], "lookback=48", 1)
    assert job == varied(JobKey(KEY._replace(lookback=48)), "lookback-search")
    assert recipe(job) == replace(PLAIN, key=job.key)
    assert expand([KEY], "lookback=336", 1)[0] in expand([KEY], "lookback-search", 1)
    (correlated,) = expand([KEY], "lookback=48,OLinear-C", 1)
    assert str(correlated.variant) == "OLinear-C,lookback-search"
    for text in ("lookback=", "lookback=short", "lookback=48,lookback=96", "lookback=48,lookback-search"):
        with pytest.raises(ConfigError):
            expand([KEY], text, 1)


def test_what_is_combined_changes_both():
    searched = recipe(varied(JobKey(KEY._replace(lookback=336)), "OLinear-C,lookback-search"))
    assert searched == replace(PLAIN, key=KEY._replace(lookback=336), **CHANGES["OLinear-C"])
    method = recipe(varied(JobKey(KEY), "mixers/Flowformer,width=64,lr=0.007"))
    options = {**PLAIN.options, "mixer": "flowformer", "model_dim": 64, "ff_dim": 64}
    assert method == replace(PLAIN, options=options, **CHANGES["lr=0.007"])
    host = JobKey(TaskKey("ETTh1", 96, 96), "PatchTST")
    plugged = recipe(varied(host, "ortho-plugin/+OrthoTrans,setting=tsl"))
    assert plugged == replace(recipe(varied(host, "setting=tsl")), orthotrans="around")
    both = recipe(varied(JobKey(KEY), "q-ratio=0.2,swapped-q=Power"))
    assert both.bases == Bases(POWER, share=0.2)


def test_a_size_that_a_task_has_anyway_is_left_out():
    """The paper's curves pass through the main result, which must not be trained twice."""
    blocks = PLAIN.options["blocks"]
    assert expand([KEY], f"blocks={blocks},lr={PLAIN.training.learning_rate}", 2) == expand([KEY], "main", 2)
    assert expand([KEY], f"few-shot=last,blocks={blocks}", 1) == expand([KEY], "few-shot=last", 1)


@pytest.mark.parametrize("model", [model for model in MODELS if model != MAIN])
def test_few_and_zero_shot_are_for_every_model(model):
    job = JobKey(TaskKey("ETTh2", 96, 96), model)
    few, other = recipe(varied(job, "few-shot=last")), recipe(varied(job, "zero-shot=ETTh1"))
    assert few == replace(recipe(job), train_share=0.1, train_end="last")
    there = recipe(JobKey(TaskKey("ETTh1", 96, 96), model))
    assert (other.options, other.training, other.trained) == (there.options, there.training, H1)


def test_names_of_files_are_as_many_as_the_jobs():
    """Two jobs of one name would share a lock and a checkpoint."""
    jobs = [job for variant in CHANGES for job in expand(list(tasks()), variant, 2)]
    assert len({job.name for job in jobs}) == len(set(jobs)) == len(jobs)
    assert all("/" not in job.name and " " not in job.name for job in jobs)


def test_a_job_in_words():
    assert str(JobKey(KEY)) == "ETTh2 96->192 OLinear seed 2023"
    assert str(varied(JobKey(KEY, seed=2024), "embed=8")) == "ETTh2 96->192 OLinear embed=8 seed 2024"


def test_another_model_is_trained_as_its_own_paper_says():
    """Its data and split are the task's, its optimisation is not."""
    key = TaskKey("ETTh1", 96, 96)
    plan = recipe(JobKey(key, "Leddam"))
    assert (plan.model, plan.training.loss, plan.options["model_dim"]) == ("Leddam", "l2", 256)
    assert (plan.training.batch_size, plan.training.schedule, plan.key) == (128, "constant", key)
    other = recipe(varied(JobKey(key, "DLinear"), "setting=tsl"))
    assert (other.options, other.training.learning_rate) == ({"init": "mean"}, 1e-4)


@pytest.mark.parametrize("variant", ["bases/Fourier", "OLinear-C", "rank=2", "embed=8", "q-ratio=0.2"])
def test_a_variant_needs_what_it_changes(variant):
    """An option, or orthogonal bases: DLinear has neither."""
    with pytest.raises(ConfigError, match="DLinear has no variant"):
        recipe(varied(JobKey(TaskKey("ETTh1", 96, 96), "DLinear"), variant))


def test_a_variant_is_for_every_model_that_has_what_it_changes():
    changed = recipe(varied(JobKey(TaskKey("ETTh1", 96, 96), "FreTS"), "embed=8"))
    assert changed.options["embed_dim"] == 8


def test_a_model_without_a_setting_is_taken_with_its_defaults(monkeypatch):
    """One from another package has none in models.toml."""
    monkeypatch.setitem(MODELS._cards, "Newest", replace(MODELS.find("DLinear"), name="Newest"))
    plan = recipe(JobKey(TaskKey("ETTh1", 96, 96), "Newest"))
    assert (plan.options, plan.training) == ({}, Setting(loss="weighted_l1").config)


def test_another_setting_of_olinear_changes_what_it_names_alone():
    plain, slow, dropout = (
        recipe(varied(JobKey(TaskKey("ILI", 36, 24)), name)) for name in ("main", "setting=slow", "setting=dropout")
    )
    assert (slow.training.learning_rate, slow.training.patience) == (2e-5, 10)
    same = {"learning_rate": plain.training.learning_rate, "patience": plain.training.patience}
    assert replace(slow, training=slow.training.model_copy(update=same)) == plain
    assert dropout.options == {**plain.options, "dropout": 0.3}


def test_main_has_one_name():
    with pytest.raises(ConfigError, match="the main setting is the variant main"):
        find_variant("setting=main")


def test_an_unknown_setting_is_refused():
    with pytest.raises(ConfigError, match="OLinear has no setting 'tsl'"):
        recipe(varied(JobKey(TaskKey("ETTh1", 96, 96)), "setting=tsl"))
    with pytest.raises(ConfigError, match="no setting 'mine': it has main, ILI, tsl"):
        recipe(varied(JobKey(TaskKey("ETTh1", 96, 96), "DLinear"), "setting=mine"))


def test_every_model_of_the_zoo_has_a_setting_that_builds():
    for model in MODELS:
        if model != "OLinear":
            plan = recipe(JobKey(TaskKey("ETTh1", 96, 96), model))
            with torch.device("meta"):
                assert MODELS.find(model).load()(7, 96, 96, **plan.options)
