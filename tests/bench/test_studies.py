"""A study's methods change what their names say and nothing else; the paper's tables are carried over whole."""

import csv
from dataclasses import replace
from functools import partial
from typing import get_args

import numpy as np
import pytest
import torch
from bench_parts import varied, walk
from pydantic import ValidationError

from olinear.bench.run.preparing import Series, build_model
from olinear.bench.spec import study as study_module
from olinear.bench.spec.identity import JobKey, TaskKey, Variant
from olinear.bench.spec.jobs import expand, recipe, study_jobs
from olinear.bench.spec.model_settings import settings
from olinear.bench.spec.recipes import Bases
from olinear.bench.spec.study import Method, find_study, printed, studies
from olinear.bench.spec.task import CORRELATION, own_tasks, published, tasks
from olinear.bench.spec.variants import find_variant
from olinear.core.errors import ConfigError
from olinear.data.datasets import catalogue, find_dataset
from olinear.data.windows import Split
from olinear.models.plugins import OrthoForecaster
from olinear.models.zoo.blocks.attention import SelfAttention
from olinear.models.zoo.blocks.mamba import Mamba
from olinear.models.zoo.blocks.mixers import MIXERS
from olinear.models.zoo.skip_olinear import BASES as FIXED
from olinear.nn import BASES, Norm, NormLin, Transform
from olinear.nn.learners import IntraSeriesLearner
from olinear.nn.normlin import SeriesLinear

ILI = TaskKey("ILI", 36, 24)
PLAIN = recipe(JobKey(ILI))
CORRELATED = tasks()[ILI].settings[CORRELATION]


def with_options(**options: object) -> dict[str, object]:
    return {"options": {**PLAIN.options, **options}}


CHANGES = {
    "bases/Fourier": {"bases": Bases(PLAIN.trained, "fourier")},
    "bases/Wavelet2": {"bases": Bases(PLAIN.trained, "dmey")},
    "csl-isl/w/o + Linear": with_options(mixer=None),
    "csl-isl/Linear + w/o": with_options(mixer="linear", temporal=None, pre_linear=False, post_linear=False),
    "csl-isl/NormLin + NormLin": with_options(temporal="normlin"),
    "mixers/Flowformer": with_options(mixer="flowformer"),
    "pre-post/pre": with_options(post_linear=False),
    "pre-post/neither": with_options(pre_linear=False, post_linear=False),
    "bases-experiment/Fourier": {"skip": "fourier"},
    "bases-experiment/Identity": {**with_options(offsets=False), "bases": Bases(PLAIN.trained, "identity")},
    "mixers/Mamba alone": with_options(encoder="wide-mamba"),
    "q-matrices/Q_i": {"bases": Bases(PLAIN.trained, output="identity")},
    "q-matrices/Q_o": {"bases": Bases(PLAIN.trained, "identity", "pearson")},
    "normlin-design/Softmax + L2": {"normlin": {"transform": "softmax", "norm": "l2"}},
    "corr-transform/ReLU": {
        "options": CORRELATED.options,
        "training": CORRELATED.config,
        "correlation": True,
        "normlin": {"transform": "relu"},
    },
}
PLUGINS = [("iTransformer", "ortho-plugin/+OrthoTrans"), ("Leddam", "normlin-plugin/+NormLin")]


def build(job: JobKey) -> torch.nn.Module:
    values = walk(200, find_dataset(job.key.dataset).series)
    series = Series(values, values.astype(np.float32), Split.by_ratio(200, 0.7, 0.2))
    return build_model(recipe(job), series, range(140), None)


@pytest.mark.parametrize(("variant", "changes"), CHANGES.items(), ids=CHANGES)
def test_a_method_changes_what_it_names(variant, changes):
    assert recipe(varied(JobKey(ILI), variant)) == replace(PLAIN, **changes)


@pytest.mark.parametrize("study", studies())
def test_every_job_has_a_recipe_of_its_own(study):
    """Two methods with one recipe would be one, trained twice."""
    jobs = study_jobs(find_study(study), 1)
    assert len(jobs) == len(set(jobs))
    recipes = [(job.key, job.model, repr(recipe(job))) for job in jobs]
    assert len(recipes) == len(set(recipes))


@pytest.mark.parametrize("study", studies())
def test_methods_differ_in_their_models_too(study):
    """On the first task, each method builds, and no two have the same parts."""
    found = find_study(study)
    key = found.on[0].tasks[0]
    for model in found.models:
        built = [build(JobKey(key, model, found.variant(method))) for method in found.methods_of(model)]
        described = [f"{module}{_bases(module)}" for module in built]
        assert len(described) == len(set(described))


def _bases(module: torch.nn.Module) -> str:
    return str([buffer.tolist() for name, buffer in module.named_buffers() if "basis" in name])


def test_no_variant_is_reached_by_two_names():
    """A study that trained what another has would make two rows of one thing."""
    by_recipe: dict[str, set[Variant]] = {}
    for study in studies().values():
        for method in study.methods:
            variant = study.variant(method)
            models = [model for model in study.models if method in study.methods_of(model)]
            described = str([recipe(JobKey(ILI, model, variant)) for model in models])
            by_recipe.setdefault(described, set()).add(variant)
    assert [names for names in by_recipe.values() if len(names) > 1] == []


def test_the_parts_are_those_named():
    model = build(varied(JobKey(ILI), "mixers/Transformer"))
    assert isinstance(model.blocks[0].csl.mixer, SelfAttention)
    assert isinstance(model.blocks[0].csl.pre, torch.nn.Identity)
    assert isinstance(build(varied(JobKey(ILI), "mixers/Mamba")).blocks[0].csl.mixer, Mamba)
    assert isinstance(build(varied(JobKey(ILI), "csl-isl/Linear + Linear")).blocks[0].csl.mixer, SeriesLinear)
    without = build(varied(JobKey(ILI), "csl-isl/w/o + Linear")).blocks[0]
    assert [type(part) for part in without] == [IntraSeriesLearner]
    mixer = build(varied(JobKey(ILI), "normlin-design/Sigmoid + L2")).blocks[0].csl.mixer
    assert (type(mixer), mixer.transform, mixer.norm) == (NormLin, "sigmoid", "l2")
    fixed = build(varied(JobKey(ILI), "corr-transform/Softplus")).blocks[0].csl.mixer
    assert list(fixed.parameters()) == []
    assert fixed.transform == "softplus"


def test_one_side_in_the_time_domain():
    eye = partial(torch.eye, dtype=torch.float32)
    only_in, only_out = (build(varied(JobKey(ILI), f"q-matrices/{side}")) for side in ("Q_i", "Q_o"))
    assert torch.equal(only_in.output_transform.basis, eye(24))
    assert not torch.equal(only_in.input_transform.basis, eye(36))
    assert torch.equal(only_out.input_transform.basis, eye(36))
    assert not torch.equal(only_out.output_transform.basis, eye(24))


def test_plug_ins_keep_the_hosts_setting():
    key = TaskKey("ETTh1", 96, 96)
    for model, variant in PLUGINS:
        plain, plugged = recipe(JobKey(key, model)), recipe(varied(JobKey(key, model), variant))
        changed = {"orthotrans": "around"} if "ortho" in variant else {"options": {**plain.options, "mixer": "normlin"}}
        assert plugged == replace(plain, **changed)
    assert isinstance(build(varied(JobKey(key, PLUGINS[0][0]), PLUGINS[0][1])), OrthoForecaster)
    assert any(isinstance(part, NormLin) for part in build(varied(JobKey(key, PLUGINS[1][0]), PLUGINS[1][1])).modules())


@pytest.mark.parametrize(
    ("variant", "model", "reason"),
    [
        ("bases/Walsh", "OLinear", "has no method 'Walsh': there are Ours, Published"),
        ("colours/red", "OLinear", "no study is called 'colours': there are bases, csl-isl"),
        ("mixers/NormLin", "OLinear", "is main: ask for that"),
        ("mixers/Mamba", "DLinear", "DLinear has no variant 'mixers/Mamba'"),
        ("ortho-plugin/+OrthoTrans", "OLinear", "OLinear has no variant"),
        ("normlin-plugin/+NormLin", "OLinear", "OLinear has no variant .*, which is of iTransformer"),
        ("normlin-plugin/+NormLin", "RLinear", "RLinear has no option 'mixer'"),
        ("ortho-plugin/in patches", "RLinear", "RLinear has no variant .*, which is of PatchTST"),
    ],
)
def test_what_is_refused(variant, model, reason):
    with pytest.raises(ConfigError, match=reason):
        recipe(varied(JobKey(ILI, model), variant))


def test_a_variant_has_one_spelling():
    assert str(find_variant("BASES/fourier")) == "bases/Fourier"
    assert expand([ILI], "mixers/e.attn.", 2)[1] == varied(JobKey(ILI, seed=2024), "mixers/E.Attn.")


@pytest.mark.parametrize(
    "fields",
    [{"basis": "walsh"}, {"mixer": "blender"}, {"is": "main", "norm": "l2"}, {"colour": "red"}, {"temporal": "rnn"}],
)
def test_a_damaged_file_is_refused(fields):
    with pytest.raises(ValidationError):
        Method(**fields)


def test_the_names_in_the_file_are_those_there_are():
    """They are written out, so that what is run can be read where there is no torch."""
    assert set(get_args(study_module.Basis)) == set(BASES)
    assert set(get_args(study_module.Mixing)) == {*MIXERS, "none"}
    assert set(get_args(study_module.Transform)) == set(get_args(Transform))
    assert set(get_args(study_module.Norm)) == set(get_args(Norm))
    assert set(get_args(study_module.FixedBasis)) == set(FIXED)


def test_every_study_is_on_known_tasks():
    for study in studies().values():
        for place in study.on:
            assert set(place.tasks) <= {*published(), *own_tasks()}


def test_printed_methods_are_ours():
    """A name that is spelt otherwise in the two files would leave a method without the paper's number."""
    for study in studies().values():
        assert {method for _, _, method in printed(study.name)} <= set(study.methods)


def test_the_printed_rows_of_olinear_itself_are_the_published_results():
    """The studies' tables repeat the main results: carried over into the right cells they agree to the last digit."""
    wrong = []
    for study in ("mixers", "pre-post", "q-matrices"):
        method = next(name for name, change in find_study(study).methods.items() if change.same_as == "main")
        cells = {key: scores for (_, key, name), scores in printed(study).items() if name == method}
        assert len(cells) >= 28
        wrong += [(study, key) for key, scores in cells.items() if scores.mse != published()[key]["OLinear"]["mse"]]
    assert {(study, key.dataset) for study, key in wrong} == {("pre-post", "Weather")}  # where the paper disagrees


@pytest.mark.parametrize(
    ("file", "study", "names"),
    [
        ("abl_pre_post_lin", "pre-post", {"nono": "neither", "noyes": "post", "yesno": "pre", "yesyes": "both"}),
        ("abl_qi_qo", "q-matrices", {"nono": "neither", "noyes": "Q_o", "yesno": "Q_i", "yesyes": "both"}),
    ],
)
def test_the_printed_means_are_those_of_the_cells(paper_folder, file, study, names):
    """The paper prints means beside the cells: carried over into the right cells, these agree with their mean."""
    rows = list(csv.reader((paper_folder / "tables" / f"{file}.csv").read_text().splitlines()))
    datasets = [name.removesuffix(" (S1)").removesuffix(" (S2)") for name in rows[0][3::2]]
    for row in rows[2:]:
        if row[2] != "Avg":
            continue
        for index, dataset in enumerate(datasets):
            name = {"Solar": "Solar-Energy"}.get(dataset, dataset)
            method = names[row[0] + row[1]]
            cells = [cell for (_, key, each), cell in printed(study).items() if key[0] == name and each == method]
            assert len(cells) == 4
            assert np.mean([cell.mse for cell in cells]) == pytest.approx(float(row[3 + 2 * index]), abs=2e-3, rel=1e-3)


def test_a_study_may_have_the_table_of_another():
    """The paper prints one table of bases; which network each of its rows is of, it does not say."""
    assert find_study("bases-experiment").printed == find_study("bases").printed != {}


def test_our_own_tasks_are_apart_from_the_papers():
    assert set(own_tasks()).isdisjoint(published())
    assert {key.dataset for key in own_tasks()}.isdisjoint(catalogue())


def test_a_setting_for_a_dataset_is_the_main_one_there():
    tail = TaskKey("PEMS08_tail", 96, 12)
    there = settings()["Leddam"]["PEMS08_tail"].training["max_epochs"]
    assert recipe(JobKey(tail, "Leddam")).training.max_epochs == there
    assert recipe(JobKey(TaskKey("ETTh1", 96, 96), "Leddam")).training.max_epochs == 100
