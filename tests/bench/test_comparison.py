"""Ours next to the paper's, over the same horizons; methods are ordered pair by pair, with ties by seed spread."""

import math
from statistics import stdev

import pytest
from bench_parts import result, varied

from olinear.bench.read.comparison import compare
from olinear.bench.show.studies import order_lines, study_table
from olinear.bench.spec.identity import JobKey, TaskKey
from olinear.bench.spec.study import Place, find_study
from olinear.bench.store.results import failed
from olinear.bench.store.rows import Row

STUDY = find_study("pre-post").model_copy(update={"on": (Place(dataset="ILI", lookback=36),)})
# As the paper prints them, over 24, 36, 48 and 60: both 1.764, pre 1.869, post 1.870, neither 1.990 (means of these).
HORIZONS = (24, 36, 48, 60)


def rows(
    variant: str, mse: float, seeds: int = 1, horizons: tuple[int, ...] = HORIZONS, step: float = 0.01
) -> list[Row]:
    """One row a horizon and seed; a later seed is worse by `step`."""
    return [
        result(varied(JobKey(TaskKey("ILI", 36, horizon), seed=2023 + seed), variant), mse + step * seed)
        for horizon in horizons
        for seed in range(seeds)
    ]


def all_methods(both=1.7, pre=1.8, post=1.9, neither=2.0, seeds=1, step=0.01) -> list[Row]:
    given = {"main": both, "pre-post/pre": pre, "pre-post/post": post, "pre-post/neither": neither}
    return [row for variant, mse in given.items() for row in rows(variant, mse, seeds, step=step)]


def test_means_over_horizons_and_seeds():
    (found,) = compare(STUDY, all_methods(seeds=3))
    both = found.scores[0]
    assert (both.method, both.seeds) == ("both", 3)
    assert both.mse == pytest.approx(1.71)
    assert both.spread == pytest.approx(stdev([1.70, 1.71, 1.72]) / math.sqrt(4))  # of a mean over four horizons
    assert both.paper.mse == pytest.approx((1.737 + 1.714 + 1.821 + 1.785) / 4)
    assert both.paper.mae == pytest.approx((0.800 + 0.795 + 0.804 + 0.810) / 4)


def test_only_horizons_that_all_methods_have_are_compared():
    """A method that lacks the hardest horizon would seem the best of all."""
    some = [*rows("main", 1.7), *rows("pre-post/pre", 1.0, horizons=(24, 36))]
    (found,) = compare(STUDY, some)
    assert found.horizons == (24, 36)
    assert found.scores[0].paper.mse == pytest.approx((1.737 + 1.714) / 2)
    assert [score.mse for score in found.scores[2:]] == [None, None]


def test_a_printed_mean_stands_next_to_all_horizons_or_none():
    """The bases' table prints means only: next to two of four horizons they would mislead."""
    study = find_study("bases").model_copy(update={"on": (Place(dataset="ILI", lookback=12),)})

    def made(horizons: tuple[int, ...]) -> list[Row]:
        return [result(JobKey(TaskKey("ILI", 12, horizon)), 1.0) for horizon in horizons]

    assert compare(study, made((3, 6, 9, 12)))[0].scores[0].paper == (1.094, 0.578)
    assert compare(study, made((3, 6)))[0].scores[0].paper == (None, None)


def test_horizons_may_have_different_seeds():
    """Each horizon is a mean over its seeds and counts alike; its variance stands for that of a horizon with one."""
    more = [*rows("main", 1.7, horizons=(24, 36)), *rows("main", 1.9, 3, (48, 60), step=0.1)]
    (found,) = compare(STUDY, [*more, *rows("pre-post/pre", 1.8)])
    both = found.scores[0]
    assert both.seeds == "1 to 3"
    assert both.mse == pytest.approx((1.7 + 2.0) / 2)
    assert both.spread == pytest.approx(0.1 / 2)
    assert found.gap(*found.scores[:2]).mean == pytest.approx(0.0)  # on the seed that both have
    assert study_table([found]).cells[0][5] == "1 to 3"


def test_few_horizons_do_not_speak_for_the_others():
    """The deviation of one horizon of four, the shortest as a rule, would make orders of ties."""
    more = [*rows("main", 1.7, horizons=(36, 48, 60)), *rows("main", 1.7, 3, (24,), step=0.001)]
    (found,) = compare(STUDY, [*more, *rows("pre-post/pre", 1.8)])
    assert found.scores[0].seeds == "1 to 3"
    assert found.scores[0].spread is None
    assert found.typical_spread is None


def test_methods_without_a_common_seed_are_compared_by_their_means():
    later = [row for row in rows("pre-post/pre", 1.8, 3) if row.seed != 2023]
    (found,) = compare(STUDY, [*rows("main", 1.7), *later])
    assert found.gap(*found.scores[:2]) == pytest.approx((-0.115, None))


def test_failures_are_not_compared():
    (found,) = compare(STUDY, [failed(JobKey(TaskKey("ILI", 36, 24)), "out of memory")])
    assert found.horizons == ()


def test_the_same_order():
    (line,) = order_lines(compare(STUDY, all_methods(seeds=2)))
    assert line.startswith("OLinear on ILI 36->24,36,48,60: best is both; in the paper both; of 6 pairs 6 are in the ")
    assert line.endswith("0 tied here or there, none reversed.")


def test_a_reversed_pair_is_named():
    (line,) = order_lines(compare(STUDY, all_methods(both=1.85, seeds=2)))
    assert "best is pre; in the paper both" in line
    assert "1 reversed (pre before both)" in line


def test_a_difference_within_seed_spread_is_a_tie():
    """A gap of 0.06 at one seed, 0.01 at the next and -0.04 at a third is no order; 0.16, 0.11 and 0.06 is one."""
    others = [*rows("pre-post/post", 2.0, 3), *rows("pre-post/neither", 2.1, 3)]
    close = [*rows("main", 1.86, 3, step=0.0), *rows("pre-post/pre", 1.80, 3, step=0.05), *others]
    (line,) = order_lines(compare(STUDY, close))
    assert "best is pre (within seed spread: both)" in line
    assert "none reversed" in line
    apart = [*rows("main", 1.96, 3, step=0.0), *rows("pre-post/pre", 1.80, 3, step=0.05), *others]
    (line,) = order_lines(compare(STUDY, apart))
    assert "reversed (pre before both)" in line


def test_what_a_seed_does_to_both_methods_hides_no_difference():
    """Seeds 0.05 apart, but the same method ahead by 0.01 at each: that is an order, not a tie."""
    (found,) = compare(STUDY, all_methods(both=1.80, pre=1.81, seeds=3, step=0.05))
    assert found.gap(*found.scores[:2]) == pytest.approx((-0.01, 0.0), abs=1e-12)
    assert not found.tied(*found.scores[:2])


def test_methods_are_compared_on_their_common_seeds():
    """The mean over three seeds next to another's first seed would blame the method for the seeds."""
    mixed = [*rows("main", 1.80, seeds=3, step=0.05), *rows("pre-post/pre", 1.82)]
    (found,) = compare(STUDY, mixed)
    assert found.scores[0].mse > found.scores[1].mse
    assert found.gap(*found.scores[:2]).mean == pytest.approx(-0.02)


def test_equal_at_the_printed_decimals_is_a_tie():
    """What shares a place in the table must not be called reversed beneath it."""
    (line,) = order_lines(compare(STUDY, all_methods(both=1.8003, pre=1.8001)))
    assert "none reversed" in line


def test_a_method_that_has_only_begun_does_not_hide_the_others():
    some = [
        *rows("main", 1.7, horizons=(24, 36)),
        *rows("pre-post/pre", 1.8, horizons=(36,)),
        *rows("pre-post/post", 1, horizons=(48,)),
    ]
    (found,) = compare(STUDY, some)
    assert found.horizons == (36,)
    assert found.methods == 2


def test_a_single_pair_is_described_by_who_is_best():
    study = find_study("normlin-plugin").model_copy(update={"models": ("iTransformer",)})
    key = TaskKey("ETTm1", 96, 96)
    variants = {"main": 0.34, "normlin-plugin/+NormLin": 0.32}
    some = [result(varied(JobKey(key, "iTransformer"), variant), mse) for variant, mse in variants.items()]
    (line,) = order_lines([each for each in compare(study, some) if each.methods])
    assert "best is +NormLin; in the paper +NormLin: the same order; too few seeds" in line


@pytest.mark.parametrize(
    ("model", "vanilla", "swapped", "verdict"),
    [
        ("iTransformer", 0.32, 0.34, "in the paper +NormLin: reversed"),
        ("iTransformer", 0.32, 0.3201, "in the paper +NormLin: tied here"),
        ("Leddam", 0.32, 0.34, "in the paper Vanilla and +NormLin: tied in the paper"),
    ],
)
def test_what_is_said_of_a_single_pair(model, vanilla, swapped, verdict):
    study = find_study("normlin-plugin").model_copy(update={"models": (model,)})
    scores = {"main": vanilla, "normlin-plugin/+NormLin": swapped}
    some = [result(varied(JobKey(TaskKey("ETTm1", 96, 96), model), variant), mse) for variant, mse in scores.items()]
    (line,) = order_lines([each for each in compare(study, some) if each.methods])
    assert verdict in line


def test_the_whole_study_in_one_line():
    study = find_study("normlin-plugin").model_copy(update={"models": ("iTransformer", "PatchTST")})
    key, variants = TaskKey("ETTm1", 96, 96), {"main": 0.34, "normlin-plugin/+NormLin": 0.32}
    some = [
        result(varied(JobKey(key, model), variant), mse) for model in study.models for variant, mse in variants.items()
    ]
    *_, last = order_lines([each for each in compare(study, some) if each.methods])
    assert last == "The paper's best method is ours too, or tied with it, in 2 of 2 comparisons."


def test_one_seed_takes_the_spread_of_the_others():
    mixed = [*rows("main", 1.80, seeds=3, step=0.05), *rows("pre-post/pre", 1.79)]
    (found,) = compare(STUDY, mixed)
    assert found.typical_spread == pytest.approx(0.05 / math.sqrt(4) * math.sqrt(2))
    assert found.tied(*found.scores[:2])
    assert "pairs with too few common seeds are tied within 0.035" in order_lines([found])[0]
    (line,) = order_lines(compare(STUDY, all_methods()))
    assert "too few seeds for a spread, so that only equals are tied" in line
    (line,) = order_lines(compare(STUDY, all_methods(both=1.7, pre=1.7)))
    assert "best is both (equal: pre);" in line


def test_without_a_printed_table_ours_stands_alone():
    study = find_study("normlin-design").model_copy(update={"on": (Place(dataset="ILI", lookback=36),)})
    found = compare(study, [*rows("main", 1.7), *rows("normlin-design/ReLU + L1", 1.9)])
    assert "best is Softplus + L1; the paper prints nothing to compare with" in order_lines(found)[0]
    cells = study_table(found).cells
    assert [row[-1] for row in cells] == [None] * 10


def test_the_table():
    table = study_table(compare(STUDY, all_methods(seeds=2)))
    names = [column.name for column in table.columns]
    assert names[:5] == ["model", "dataset", "lookback", "horizons", "method"]
    assert table.cells[0][names.index("horizons")] == "24,36,48,60"
    assert [row[names.index("place")] for row in table.cells] == [1, 2, 3, 4]
    assert table.cells[0][names.index("paper place")] == 1
    assert table.bold == {(0, names.index("MSE"))}
    assert all(not isinstance(cell, float) or math.isfinite(cell) for row in table.cells for cell in row)
