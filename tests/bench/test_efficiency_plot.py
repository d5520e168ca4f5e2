"""The picture of accuracy against cost: every model is in it or named beneath, and every label can be read."""

import itertools
import math

import pytest
from bench_parts import result, varied
from efficiency_parts import cost
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from olinear.bench.costs.cases import ACCURACY, table_models
from olinear.bench.costs.plot import Bubble, find_bubbles, mean_errors, plot_costs
from olinear.bench.spec.identity import JobKey, TaskKey
from olinear.bench.store.results import failed
from olinear.evaluation.plots import save_figure


def crowd() -> list[Bubble]:
    """As many models as there are, most of them close to each other."""
    names = table_models()
    return [
        Bubble(name, 0.38 + 0.004 * math.sin(place), 1.5 ** math.cos(3 * place), 20.0 + 15 * place)
        for place, name in enumerate(names)
    ]


def labels(figure):
    (axis,) = figure.axes
    return axis.texts


def test_every_label_is_there_and_none_covers_another():
    figure = plot_costs(crowd(), {})
    assert sorted(label.get_text() for label in labels(figure)) == sorted(table_models())
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    boxes = [Text.get_window_extent(label, renderer) for label in labels(figure)]  # without their lines
    for first, second in itertools.combinations(boxes, 2):
        assert not first.overlaps(second)
    frame = figure.axes[0].get_window_extent(renderer)
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 for box in boxes)


def test_areas_are_memory_and_olinear_stands_out():
    figure = plot_costs([Bubble("OLinear", 0.36, 1.0, 100.0), Bubble("Leddam", 0.37, 3.0, 200.0)], {})
    drawn = [each for each in figure.axes[0].collections if len(each.get_offsets())]
    areas = {round(float(each.get_offsets()[0][1]), 2): each.get_sizes()[0] for each in drawn}
    assert areas[0.37] == pytest.approx(2 * areas[0.36])
    weights = {label.get_text(): label.get_fontweight() for label in labels(figure)}
    assert weights == {"OLinear": "bold", "Leddam": "normal"}
    assert figure.axes[0].get_xscale() == "log"


def test_it_is_written(tmp_path):
    save_figure(plot_costs(crowd()[:1], {"Ridge": "not trained"}), tmp_path / "costs.png")
    assert (tmp_path / "costs.png").stat().st_size > 10_000


def test_what_is_missing_is_named_beneath():
    figure = plot_costs(crowd()[:2], {"Ridge": "not trained", "FITS": "no accuracy", "TiDE": "no accuracy"})
    assert "Not drawn: Ridge (not trained); FITS, TiDE (no accuracy)." in figure.get_supxlabel()


def test_a_bubble_needs_cost_and_accuracy():
    slow = {"training_ratio": None, "training_error": "too slow: stopped after 60 seconds"}
    costs = [cost("OLinear", "folded", ratio=1.0), cost("OLinear", "plain", ratio=1.5), cost("DLinear", ratio=0.1)]
    costs += [cost("DLinear", series=321, ratio=0.3), cost("Leddam"), cost("TimesNet", **slow), cost("Ridge")]
    scores = [result(JobKey(ACCURACY, model), 0.4) for model in ("OLinear", "DLinear", "TimesNet", "Ridge", "FITS")]
    bubbles, missing = find_bubbles(costs, scores)
    assert bubbles == [Bubble("OLinear", 0.4, 1.0, 50.0), Bubble("DLinear", 0.4, 0.1, 5.0)]
    assert {missing[name] for name in ("FITS", "OLinear-C")} == {"cost not measured"}
    assert (missing["Leddam"], missing["TimesNet"], missing["Ridge"]) == ("no accuracy", "too slow", "not trained")
    assert len(bubbles) + len(missing) == len(table_models())


def test_the_cost_is_that_of_the_model_that_has_the_accuracy():
    """PatchTST is trained with width 16, where the paper's table of costs has 512."""
    costs = [cost("PatchTST", "trained", ratio=0.5), cost("PatchTST", ratio=9.0), cost("CARD", ratio=3.0)]
    scores = [result(JobKey(ACCURACY, model), 0.4) for model in ("PatchTST", "CARD")]
    bubbles, _ = find_bubbles(costs, scores)
    assert {bubble.name: bubble.ratio for bubble in bubbles} == {"PatchTST": 0.5, "CARD": 3.0}


def test_accuracy_is_the_mean_over_seeds_of_the_main_variant():
    rows = [result(JobKey(ACCURACY, "DLinear", seed=seed), mse) for seed, mse in ((2023, 0.4), (2024, 0.5))]
    rows += [
        result(varied(JobKey(ACCURACY, "DLinear"), "setting=tsl"), 0.9),
        result(JobKey(TaskKey("ETTh1", 96, 192), "DLinear"), 9),
    ]
    rows += [
        result(varied(JobKey(ACCURACY), "OLinear-C"), 0.3),
        failed(JobKey(ACCURACY, "FITS"), "out of memory"),
    ]
    assert mean_errors(rows) == {"DLinear": pytest.approx(0.45), "OLinear-C": 0.3}
