"""Curves are made of the rows of variants, and of the main row at its own place."""

import pytest
from reading_parts import change, row

from olinear.bench.read.curves import KINDS, Point, find_curves
from olinear.bench.show.curves import curve_lines, curve_table, draw_curves
from olinear.bench.spec.identity import JobKey, TaskKey
from olinear.bench.spec.jobs import recipe
from olinear.bench.store.rows import Row
from olinear.cli.bench.curves import EXAMPLES

H1 = TaskKey("ETTh1", 96, 96)
FAR = H1._replace(horizon=192)


def of(variant: str, mse: float, key: TaskKey = H1, model: str = "OLinear", seed: int = 2023) -> Row:
    return change(row(key, mse, seed=seed), variant=variant, model=model)


def points(rows: list[Row], kind: str) -> list[tuple[float, float]]:
    (curve,) = find_curves(rows, kind)
    return [(point.x, pytest.approx(point.error)) for point in curve.points]


def test_increasing_lookback():
    search = "lookback-search"
    rows = [of(search, mse, H1._replace(lookback=size)) for size, mse in ((48, 0.40), (336, 0.35))]
    assert points([*rows, of("main", 0.36)], "lookback") == [(48, 0.40), (96, 0.36), (336, 0.35)]
    (curve,) = find_curves(rows, "lookback")
    assert (curve.place, curve.lookback) == ("ETTh1 96", None)


def test_less_data():
    rows = [of("main", 0.36), of("share=0.2", 0.40), of("few-shot=last", 0.45), of("few-shot=first", 0.9)]
    assert points(rows, "share") == [(0.1, 0.45), (0.2, 0.40), (1, 0.36)]


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("lookback", "share")])
def test_the_main_row_stands_at_its_tasks_own_size(kind):
    main = recipe(JobKey(H1))
    names = {"blocks": "blocks", "width": "model_dim", "embed": "embed_dim"}
    own = main.training.learning_rate if kind == "lr" else main.options[names[kind]]
    assert points([of("main", 0.36), of(f"{kind}=7", 0.5)], kind) == sorted([(own, 0.36), (7, 0.5)])
    assert find_curves([of("main", 0.36), of(f"{kind}=7,share=0.2", 0.5)], kind) == []  # which is of two things


def test_a_point_is_a_mean_over_the_seeds_and_horizons_that_were_varied():
    """A main row with more seeds, or a horizon that only it has, would be compared with something else."""
    rows = [
        of("main", 0.3),
        of("main", 0.9, seed=2024),
        of("main", 0.5, FAR),
        of("main", 9.0, H1._replace(horizon=720)),
    ]
    rows += [of("blocks=1", 0.4), of("blocks=1", 0.6, FAR), of("blocks=4", 0.4)]
    (curve,) = find_curves(rows, "blocks")
    assert curve.horizons == (96, 192)
    assert curve.points == (Point(1, pytest.approx(0.5), 1), Point(recipe(JobKey(H1)).options["blocks"], 0.4, 1))
    (short,) = find_curves(rows, "blocks", horizons=[96])
    assert [point.x for point in short.points][-1] == 4
    assert find_curves(rows, "blocks", datasets=["Weather"]) == []


def test_the_picture_and_its_table(tmp_path):
    pytest.importorskip("matplotlib")
    rows = [of(variant, mse, key, model) for model, mse in (("OLinear", 0.36), ("DLinear", 0.38)) for key in (H1,)
            for variant in ("main", "share=0.2")]  # fmt: skip
    rows += [of("share=0.05", 0.5, H1._replace(dataset="ETTm1")), of("main", 0.3, H1._replace(dataset="ETTm1"))]
    curves = find_curves(rows, "share")
    table = curve_table(curves, "share", "mse")
    assert table.texts[0] == ["ETTh1", "96", "96", "OLinear", "0.2", "0.360", "1"]
    assert len(table.cells) == 6
    assert "mean over 1 seed and" in curve_lines(curves)[0]
    figure = draw_curves(curves, "share", "mse")
    drawn = [axis for axis in figure.axes if axis.get_visible()]
    assert [axis.get_title(loc="left") for axis in drawn] == ["ETTh1 96 → 96", "ETTm1 96 → 96"]
    assert [len(line.get_xdata()) for line in drawn[0].lines][:2] == [2, 2]
    assert drawn[0].xaxis_inverted()


def test_the_command_names_a_variant_of_each_kind():
    assert set(EXAMPLES) == set(KINDS)
    assert all(example.partition("=")[0] == kind for kind, example in EXAMPLES.items())
