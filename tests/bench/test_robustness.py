"""Spread over seeds next to the paper's, and the paper's further metrics."""

import csv
from dataclasses import replace
from statistics import fmean, stdev

import pytest
from reading_parts import change, row

from olinear.bench.read.measured import measure_rows, more_metrics
from olinear.bench.read.robustness import ALL_HORIZONS, SEEDS, measure_spread, paper_spread
from olinear.bench.read.summary import Selection
from olinear.bench.show.robustness import spread_lines, spread_table
from olinear.bench.show.scores import measured_table
from olinear.bench.spec.identity import MAIN_VARIANT, TaskKey, Variant
from olinear.bench.spec.task import published, tasks

KEYS = [TaskKey("ETTm1", 96, horizon) for horizon in (96, 192, 336, 720)]
M1 = Selection(datasets=("ETTm1",))


def seeded(key: TaskKey, *values: float):
    return [row(key, value, seed=2023 + index) for index, value in enumerate(values)]


def test_a_mean_over_horizons_is_taken_seed_by_seed():
    """Horizons that move together do not average their spread away."""
    by_horizon = [[0.30, 0.31, 0.35], [0.40, 0.41, 0.45], [0.50, 0.51, 0.55], [0.60, 0.63, 0.64]]
    rows = [each for key, values in zip(KEYS, by_horizon, strict=True) for each in seeded(key, *values)]
    scores, few = measure_spread(rows, M1, MAIN_VARIANT)
    assert [score.place for score in scores] == [*map(tuple, KEYS), ("ETTm1", 96, ALL_HORIZONS)]
    assert scores[0].ours["mse"] == pytest.approx((0.32, stdev(by_horizon[0]), None))
    means = [fmean(values) for values in zip(*by_horizon, strict=True)]
    assert scores[-1].ours["mse"] == pytest.approx((fmean(means), stdev(means), 3 * stdev(means)))
    assert few == dict.fromkeys(KEYS, 3)
    assert scores[0].paper["mse"][:2] == (0.302, 7e-4)
    assert scores[-1].paper["mse"] == (0.374, None, 0.001)


def test_only_common_seeds_and_whole_means_count():
    rows = [*seeded(KEYS[0], 0.3, 0.4), *seeded(KEYS[1], 0.3)]
    scores, few = measure_spread(rows, M1, MAIN_VARIANT)
    assert [score.place for score in scores] == [tuple(KEYS[0])]
    assert few == {KEYS[0]: 2, KEYS[1]: 1, KEYS[2]: 0, KEYS[3]: 0}
    shifted = [change(each, seed=each.seed + index) for index, key in enumerate(KEYS) for each in seeded(key, 0.3, 0.4)]
    assert all(score.place[2] != ALL_HORIZONS for score in measure_spread(shifted, M1, MAIN_VARIANT)[0])


def test_the_table_and_its_words():
    rows = seeded(KEYS[0], *(0.3 + 0.001 * index for index in range(SEEDS)))
    scores, few = measure_spread([*rows, *seeded(KEYS[1], 0.35, 0.36)], M1, MAIN_VARIANT)
    assert spread_table(scores, ["MSE"]).texts[0] == [
        *("ETTm1", "96", "96", "7", "0.303", "0.302", "0.0022", "0.0007", "", "")
    ]
    about, wider, named = spread_lines(scores, few, "--model OLinear")
    assert "3 times that of the mean" in about
    assert wider == "Of the MSE, ours is wider than the paper's in 1 of 1 rows with 7 seeds."
    assert "ETTm1 96->192 (2), ETTm1 96->336 (0), ETTm1 96->720 (0): `olinear bench run --model OLinear" in named
    assert "ETTm1 96->96" not in named


def test_the_printed_spreads_are_of_the_published_results():
    """Carried over into the right cells, the means beside them are the published ones to the last digit."""
    cells = {place: cell for place, cell in paper_spread(MAIN_VARIANT).items() if place[2] != ALL_HORIZONS}
    assert len(cells) == 48
    assert {TaskKey(*place) for place in cells} <= set(tasks())
    for place, cell in cells.items():
        assert published()[TaskKey(*place)]["OLinear"] == {name: around.mean for name, around in cell.items()}
    correlated = paper_spread(Variant("OLinear-C"))
    assert sum(place[2] != ALL_HORIZONS for place in correlated) == 48
    assert correlated["Weather", 96, 192]["mse"].spread is None  # printed as 3-3
    assert paper_spread(MAIN_VARIANT, "iTransformer").keys() == {
        place for place in correlated if place[2] == ALL_HORIZONS
    }


def test_further_metrics_stand_next_to_the_papers(paper_folder):
    key = TaskKey("ECL", 96, 96)
    rows = [replace(row(key, 0.13), scores={"mse": 0.13, "mae": 0.2, "r2": 0.6})]
    (score,) = measure_rows(rows, ["r2", "mae"], [key])
    table = measured_table([score], ["r2", "mae"])
    assert [column.name for column in table.columns][6:] == [
        *("r2", "r2 spread", "paper r2", "mae", "mae spread", "paper mae")
    ]
    assert table.texts[0][6:] == ["0.600", "", "0.640", "0.200", "", "0.221"]
    lines = list(csv.reader((paper_folder / "tables" / "more_metrics.csv").read_text().splitlines()))
    for line in lines:
        if line[0] in ("ECL", "Traffic") and line[1] != "Avg":
            key = TaskKey(line[0], 96, int(line[1]))
            values = {tuple(cell.values()) for (_, each), cell in more_metrics().items() if each == key}
            assert {tuple(map(float, line[place : place + 3])) for place in range(2, 17, 3)} <= values
