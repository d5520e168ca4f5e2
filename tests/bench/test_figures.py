"""Each figure draws itself and says its numbers; models are trained once, by the recipe that is asked for."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from bench_parts import write_data

from olinear.bench.costs.plot import find_bubbles, plot_costs
from olinear.bench.costs.rows import read_costs
from olinear.bench.figures import FIGURES, Places, domains, find_figure, gradients, looking, ranks, similarity, trained
from olinear.bench.figures.costs import count_mixer
from olinear.bench.figures.trained import Wanted
from olinear.bench.spec.identity import JobKey, TaskKey
from olinear.bench.spec.jobs import recipe
from olinear.bench.store.results import read_results
from olinear.core import ConfigError
from olinear.evaluation.analysis import normlin_cost

RESULTS = Path(__file__).parent.parent.parent / "results"
TASK = TaskKey("ILI", 12, 3)
OF_RESULTS = ("cost-picture", "forecasts", "cost-formulas")
PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    return Places(folder / "results", write_data(folder / "data"))


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """One task of seven series with small models, and one whose file is not there."""
    monkeypatch.delenv("OLINEAR_DATA", raising=False)
    monkeypatch.setattr("olinear.data.datasets.lookup.cache_folder", lambda: tmp_path)

    def small(job: JobKey):
        found = recipe(job)
        sizes = {"model_dim": 8, "blocks": 1} | ({"heads": 2} if job.model != "OLinear" else {"embed_dim": 2})
        training = found.training.model_copy(update={"max_epochs": 1, "batch_size": 32})
        return replace(found, options={**found.options, "ff_dim": 8, **sizes}, training=training)

    monkeypatch.setattr(trained, "recipe_of", small)
    tasks = (TASK, TaskKey("Weather", 96, 96))
    for module in (looking, ranks, gradients):
        monkeypatch.setattr(module, "TASKS", tasks)
    monkeypatch.setattr(similarity, "NORMLIN_TASKS", tasks)
    hosts = tuple((model, variant, tasks, epochs) for model, variant, _, epochs in ranks.HOSTS)
    monkeypatch.setattr(ranks, "HOSTS", hosts)
    monkeypatch.setattr(gradients, "DRAWS", 2)
    monkeypatch.setattr(gradients, "SIZES", (8,))
    for names in ("SIX", "FEW"):
        monkeypatch.setattr(domains, names, ("Exchange", "Weather"))
    monkeypatch.setattr(domains, "catalogue", lambda: ["Exchange", "Weather"])


@pytest.mark.parametrize("name", [name for name in FIGURES if name not in OF_RESULTS])
def test_a_figure_of_data(name, places, tiny, tmp_path):
    rows = FIGURES[name].make(tmp_path, places)
    pictures = list(tmp_path.glob("*.png"))
    assert pictures
    assert all(each.stem.startswith(name) and each.read_bytes().startswith(PNG) for each in pictures)
    assert {"dataset": "Weather 96->96", "what": "left out", "value": "its file is not here"} in rows or {
        "dataset": "Weather",
        "what": "left out",
        "value": "its file is not here",
    } in rows
    numbers = [row["value"] for row in rows if row["what"] != "left out"]
    assert numbers
    assert np.isfinite(np.array(numbers, dtype=float)).all()
    assert len({(row["dataset"], row["what"]) for row in rows if row["what"] != "left out"}) == len(numbers)


@pytest.mark.parametrize("name", OF_RESULTS)
def test_a_figure_of_committed_results(name, tmp_path):
    rows = FIGURES[name].make(tmp_path, Places(RESULTS))
    assert (tmp_path / f"{name}.png").read_bytes().startswith(PNG)
    assert rows
    assert {tuple(row) for row in rows} == {("dataset", "what", "value")}


def test_another_recipe_is_another_model(places, tiny, monkeypatch):
    """What was trained otherwise is not taken for it, and neither is a damaged file."""
    known = trained.trained(Wanted(JobKey(TASK)), places, str)
    calls, train = [], trained.train_recipe
    monkeypatch.setattr(trained, "train_recipe", lambda *given: calls.append(given) or train(*given))
    again = trained.trained(Wanted(JobKey(TASK)), places, str)
    assert not calls, "a second time nothing is trained"
    for name, weight in known.model.state_dict().items():
        assert weight.equal(again.model.state_dict()[name])
    small = trained.recipe_of
    slower = known.recipe.training.model_copy(update={"learning_rate": 1e-5})
    monkeypatch.setattr(trained, "recipe_of", lambda job: replace(small(job), training=slower))
    trained.trained(Wanted(JobKey(TASK)), places, str)
    assert len(calls) == 1
    (places.models / f"{Wanted(JobKey(TASK)).name}.safetensors").write_bytes(b"broken")
    trained.trained(Wanted(JobKey(TASK)), places, str)
    assert len(calls) == 2


def test_the_basis_is_the_one_asked_for(places, tiny):
    """In the model if it has some, else around it; the identity around a model is the model itself."""
    own = trained.trained(Wanted(JobKey(TASK), "identity"), places, str)
    np.testing.assert_array_equal(own.model.input_transform.basis.numpy(), np.eye(12))
    for basis, kind in (("haar", "OrthoForecaster"), ("identity", "ITransformer")):
        host = trained.trained(Wanted(JobKey(TASK, "iTransformer"), basis, epochs=1), places, str)
        assert type(host.model).__name__ == kind


def test_figures_are_found_by_name():
    assert find_figure("ranks-bases").name == "ranks-bases"
    with pytest.raises(ConfigError, match="there are time-and-transform"):
        find_figure("ranks")
    assert all(figure.claim[0] != figure.claim[0].isspace() and "\n" not in figure.claim for figure in FIGURES.values())


def test_what_is_counted_is_the_formula():
    assert count_mixer("normlin", 12, 16) == normlin_cost(12, 16).multiplications


def test_both_panels_of_the_cost_picture():
    """A forecast has models that are solved and not trained; its times are its own."""
    costs, scores = read_costs(RESULTS), read_results(RESULTS)
    training, missing = find_bubbles(costs, scores)
    inference, _ = find_bubbles(costs, scores, "inference")
    assert {each.name for each in inference} >= {each.name for each in training} | {"Ridge"}
    assert missing["Ridge"] == "not trained"
    figure = plot_costs(training, missing, inference)
    assert [axis.get_xlabel() for axis in figure.axes] == [
        "time of a training step, OLinear = 1",
        "time of a forecast, OLinear = 1",
    ]
    assert len(figure.axes[1].texts) == len(inference)
