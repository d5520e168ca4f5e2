"""A variant next to our main results and the paper's of the same variant."""

import csv
import math
import re
from pathlib import Path

import pytest
from reading_parts import ILI, SMALL, change, row

from olinear.bench.read import variants
from olinear.bench.read.variants import choose_lookback
from olinear.bench.show import variants as shown
from olinear.bench.spec.identity import TaskKey, Variant
from olinear.bench.spec.task import published, tasks
from olinear.bench.spec.variants import find_variant
from olinear.bench.store.rows import Row


def score_variant(rows, variant: str):
    return variants.score_variant(rows, Variant.parse(variant))


def paper_scores(variant: str, *model: str):
    return variants.paper_scores(Variant.parse(variant), *model)


def variant_table(scores, variant: str):
    return shown.variant_table(scores, Variant.parse(variant))


def variant_lines(scores, variant: str):
    return shown.variant_lines(scores, Variant.parse(variant))


def of_variant(variant: str, *rows: Row) -> list[Row]:
    return [change(one, variant=variant) for one in rows]


def test_a_variant_stands_next_to_our_main_results():
    main = [row(ILI, 0.50), row(ILI, 0.60, seed=2024), row(ILI, 0.90, seed=2025)]
    other = of_variant("embed=8", row(ILI, 0.66), row(ILI, 0.66, seed=2024))
    (score,) = score_variant([*main, *other], "embed=8")
    assert (score.key, score.seeds) == (ILI, 2)
    assert score.mse.main == pytest.approx(0.55)  # of the same seeds
    assert score.mse.ratio == pytest.approx(1.2)
    assert score.mse.spread == pytest.approx(0.0)
    assert score.mse.paper == paper_scores("embed=8")[ILI].mse
    (alone,) = score_variant(other, "embed=8")
    assert alone.mse.main is None
    assert alone.mse.ratio is None
    (elsewhere,) = score_variant([main[2], *other], "embed=8")
    assert elsewhere.mse.main == 0.90  # no seed is the same: all it has


def test_the_table_and_its_words():
    key = TaskKey("ETTh1", 96, 96)
    rows = [row(key, 0.36, 0.38), *of_variant("few-shot=last", row(key, 0.40, 0.41))]
    scores = score_variant(rows, "few-shot=last")
    table = variant_table(scores, "few-shot=last")
    assert [column.name for column in table.columns][4:9] == ["MSE", "MSE spread", "main MSE", "MSE ratio", "paper MSE"]
    assert table.texts == [
        ["ETTh1", "96", "96", "1", "0.400", "", "0.360", "1.111", "", "0.410", "", "0.380", "1.079", ""]
    ]
    assert variant_lines(scores, "few-shot=last") == [
        "1 task has a result of few-shot=last.",
        "Ratio to our main results, mean over 1 of them: MSE 1.111, MAE 1.079.",
        "ETTh1, mean over horizons: the paper's MSE 0.478, MAE 0.456; ours over 96: MSE 0.400, MAE 0.410.",
    ]


def test_the_paper_of_the_same_variant():
    key = TaskKey("ILI", 36, 24)
    rows = of_variant("swapped-q=Power", row(key, 1.846 * 1.1, 0.830))
    scores = score_variant(rows, "swapped-q=Power")
    assert scores[0].mse.paper == 1.846
    assert variant_lines(scores, "swapped-q=Power")[1:] == [
        "Ratio to the paper's swapped-q=Power, mean over 1 of them: MSE 1.100, MAE 1.000."
    ]


def test_a_method_of_a_study_has_the_studys_table():
    assert ("ILI", 12, "avg") in paper_scores("bases/Fourier")
    assert paper_scores("ortho-plugin/+OrthoTrans", "iTransformer")
    assert paper_scores("rank=2") == {}
    assert paper_scores("embed=8", "DLinear") == {}


# The searched lookback


def searched(lookback: int, loss: float | None, mse: float, seed: int = 2023) -> Row:
    return row(SMALL._replace(lookback=lookback), mse, seed=seed, variant="lookback-search", validation_loss=loss)


def test_the_lookback_is_chosen_by_validation_alone():
    """The one with the best test score would be cheating."""
    rows = [searched(96, 0.5, 0.20), searched(336, 0.4, 0.30), searched(720, 0.6, 0.10)]
    assert choose_lookback(rows) == [rows[1]]


def test_each_seed_chooses_for_itself():
    rows = [
        searched(96, 0.5, 0.2),
        searched(336, 0.4, 0.3),
        searched(96, 0.3, 0.4, 2024),
        searched(336, 0.4, 0.5, 2024),
    ]
    assert choose_lookback(rows) == [rows[1], rows[2]]
    (score,) = score_variant([row(SMALL, 0.302), *rows], "lookback-search")
    assert (score.key, score.seeds, score.lookbacks) == (SMALL, 2, (96, 336))
    assert score.mse.ours == pytest.approx((0.3 + 0.4) / 2)
    assert score.mse.main == 0.302
    table = variant_table([score], "lookback-search")
    assert table.columns[4].name == "chosen lookback"
    assert table.texts[0][:6] == ["ETTm1", "96", "96", "2", "96 336", "0.350"]


def test_a_lookback_that_the_search_does_not_look_at_is_not_chosen():
    """48 steps belong to the figure of increasing lookbacks; the search begins at 96."""
    rows = [searched(48, 0.1, 0.20), searched(96, 0.5, 0.30)]
    assert choose_lookback(rows) == [rows[1]]


def test_a_search_with_another_matrix_is_a_search_too():
    searches = (searched(96, 0.5, 0.2), searched(336, 0.4, 0.3))
    rows = of_variant("OLinear-C,lookback-search", *searches)
    (score,) = score_variant(rows, "OLinear-C,lookback-search")
    assert (score.lookbacks, score.mse.ours) == ((336,), 0.3)
    assert variant_table([score], "OLinear-C,lookback-search").columns[4].name == "chosen lookback"
    assert len(paper_scores("OLinear-C,lookback-search")) == len(paper_scores("lookback-search")) == 20


def test_ties_unknown_losses_and_failures_of_the_search():
    equal = [searched(336, 0.4, 0.3), searched(96, 0.4, 0.2)]
    assert choose_lookback(equal) == [equal[1]]
    unknown = [searched(96, None, 0.2), searched(192, math.nan, 0.2), searched(336, 9.0, 0.3)]
    assert choose_lookback(unknown) == [unknown[2]]
    assert choose_lookback([change(equal[0], error="killed")]) == []


# The paper's tables


PROTOCOLS = Path(__file__).parents[2] / "src" / "olinear" / "bench" / "spec" / "data" / "protocols.csv"


def test_each_row_is_of_a_variant_and_a_task():
    with PROTOCOLS.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert sum(one["model"] == "OLinear" for one in rows) == 343 + 20 + 10
    # OLinear-C searched, two shares of five datasets; the others' lookback, zero, few
    assert len(rows) == 343 + 20 + 10 + (8 * 20) + (8 * 6) + (9 * 5)
    for one in rows:
        if one["variant"] != "few-shot":
            assert str(find_variant(one["variant"])) == one["variant"]
        horizons = [key.horizon for key in tasks() if key[:2] == (one["dataset"], int(one["lookback"]))]
        assert one["horizon"] == "avg" or int(one["horizon"]) in horizons
        assert horizons
        assert float(one["mse"]) > 0
        assert float(one["mae"]) > 0 if one["mae"] else one["variant"].startswith("share=")  # printed without
    places = [(one["model"], one["variant"], one["dataset"], one["lookback"], one["horizon"]) for one in rows]
    assert len(set(places)) == len(places)


@pytest.mark.parametrize(
    ("file", "head", "plain", "name"),
    [("part_Q", "Q_ratio", "100%", "q-ratio={:g}"), ("embed_size", "Emb. size", "16", "embed={:g}")],
)
def test_the_tables_are_carried_over_whole(paper_folder, file, head, plain, name):
    """The column of the main results agrees with the published ones; every other is here, to the last digit."""
    first, _, *lines = csv.reader((paper_folder / "tables" / f"{file}.csv").read_text().splitlines())
    assert first[0] == head
    columns = {place: value for place, value in enumerate(first) if re.match(r"\d", value)}
    compared = 0
    for line in lines:
        if not line[1].isdigit():
            continue
        (key,) = (key for key in published() if (key.dataset, key.horizon) == (line[0], int(line[1])))
        for place, value in columns.items():
            printed = (float(line[place]), float(line[place + 1]))
            if value == plain:  # printed twice in the paper; only the sizes' Weather is of other runs
                assert tuple(published()[key]["OLinear"].values()) == printed or line[0] == "Weather"
                continue
            number = float(value.rstrip("%")) / (100 if value.endswith("%") else 1)
            assert paper_scores(name.format(number))[key] == printed
            compared += 1
    assert compared == 24 * 5


def test_swapped_bases_are_carried_over_whole(paper_folder):
    spelled, pairs, compared = {"Web": "Website"}, [], 0
    for line in csv.reader((paper_folder / "tables" / "swap_q_mat.csv").read_text().splitlines()):
        if line[0] == "Setting":
            pairs = [[spelled.get(name, name) for name in cell.split("->")] for cell in line[1::2]]
        elif line[0].isdigit():
            for (source, target), mse, mae in zip(pairs, line[1::2], line[2::2], strict=True):
                key = TaskKey(target, 36, int(line[0]))
                same = published()[key]["OLinear"].values()
                assert tuple(same if source == target else paper_scores(f"swapped-q={source}")[key]) == (
                    float(mse),
                    float(mae),
                )
                compared += 1
    assert compared == 36


@pytest.mark.parametrize(("file", "variant"), [("few_shot", "few-shot=last"), ("zero_shot", "zero-shot={}")])
def test_the_other_models_protocols_are_carried_over_whole(paper_folder, file, variant):
    spelled = {"OLinear (Ours)": "OLinear", "iTrans.": "iTransformer", "Crossfm.": "Crossformer"}
    head, _, *lines = csv.reader((paper_folder / "tables" / f"{file}.csv").read_text().splitlines())
    places = {place: spelled.get(name, name) for place, name in enumerate(head) if name not in ("", "Model", "LLMTime")}
    for line in lines:
        trained, _, scored = line[0].rpartition("->")
        for place, model in places.items():
            scores = paper_scores(variant.format(trained), model)[scored, 96, "avg"]
            assert scores == (float(line[place]), float(line[place + 1]))
