"""What is measured of every model, and its multiplications and parameters, counted as by hand."""

from collections import Counter
from dataclasses import replace

import pytest
from efficiency_parts import find_case

from olinear.bench.costs import cases as efficiency
from olinear.bench.costs.cases import (
    Case,
    find_models,
    find_series,
    make_cases,
    settings,
    without_entry,
)
from olinear.bench.costs.counting import _count, build, count
from olinear.bench.costs.paper import printed_cell
from olinear.models import MODELS, check_options
from olinear.nn.folding import shapes_of

# What is measured


def test_the_models_of_the_table_are_measured_in_all_their_forms():
    cases = make_cases(find_models(None), find_series(None))
    assert {case.model for case in cases} == set(settings().models)
    assert [case.series for case in cases] == sorted(case.series for case in cases)
    forms = Counter((case.model, case.form) for case in cases)
    assert all(count == (1 if form == "trained" else 6) for (_, form), count in forms.items())
    assert {model for model, form in forms if form == "matched"} == {"iTransformer"}
    assert {"PatchTST", "TimesNet", "iTransformer"} <= {model for model, form in forms if form == "trained"}
    assert not {"CARD", "TimeMixer", "DLinear"} & {model for model, form in forms if form == "trained"}
    assert {form for model, form in forms if model == "OLinear-C"} == {"plain", "folded", "compact"}
    assert {model for model, form in forms if form == "normlin"} == {"iTransformer", "PatchTST", "Leddam", "Fredformer"}
    without_training = {(case.model, case.form) for case in cases if "training" not in case.stages}
    assert without_training == {
        ("OLinear", "compact"), ("OLinear-C", "compact"), ("Ridge", "main"), ("Gaussian", "main")
    }  # fmt: skip


def test_the_file_names_registered_models_and_their_options():
    assert set(settings().models) <= {*MODELS, "OLinear-C"}
    for name, entry in settings().models.items():
        assert set(entry.at) <= set(settings().shapes.datasets.values())
        for options in (entry.options, *entry.at.values(), entry.normlin or {}):
            check_options("OLinear" if name == "OLinear-C" else name, options)
            assert options.get("dropout", 0.0) == 0.0


def test_a_setting_for_some_series_replaces_the_others():
    assert find_case("CARD", series=7).options["blocks"] == 2
    assert find_case("CARD", series=137).options["blocks"] == 3
    assert find_case("iTransformer", "normlin").options | {"blocks": 3} == find_case("iTransformer").options | {
        "mixer": "normlin"
    }


def test_a_model_that_the_table_does_not_name_is_measured_when_asked_for(monkeypatch):
    """With its defaults; a new model needs no costs before it is asked for its own."""
    named = find_models(None)
    monkeypatch.setitem(MODELS._cards, "Newest", replace(MODELS.find("DLinear"), name="Newest"))
    assert find_models(None) == named
    assert without_entry(find_models(["newest"])) == ["Newest"]
    (case,) = make_cases(find_models(["newest"]), [7])
    assert case.options == {}
    assert count(case) == count(find_case("DLinear"))


# Counting


@pytest.mark.parametrize("series", [7, 321])
def test_multiplications_of_dlinear_by_hand(series):
    """Season and trend, each through one layer; the moving average adds and multiplies nothing."""
    assert count(find_case("DLinear", series=series)) == (2 * (96 * 96 + 96), 2 * series * 96 * 96)


@pytest.mark.parametrize("series", [7, 137])
def test_multiplications_of_itransformer_by_hand(series):
    """Embedding, three blocks of four maps, two products of attention and two layers, and the head."""
    width = 512
    block = 4 * series * width**2 + 2 * series**2 * width + 2 * series * width**2
    expected = series * 96 * width + 3 * block + series * width * 96
    assert count(find_case("iTransformer", series=series)).multiplications == expected


def test_attention_counts_the_same_where_its_kernel_is_fused():
    case = Case("iTransformer", "main", 3, '{"model_dim": 16, "heads": 2}', lookback=8, horizon=4, batch=2)
    assert _count(build(case), case, "cpu") == count(case)


def test_fourier_transforms_do_not_count_and_complex_products_count_once():
    assert count(find_case("FITS")).multiplications == 7 * 40 * 80


def test_multiplications_of_olinear_by_hand():
    """Folding pays by what it says it does; the extension by φ, of single numbers, is left out."""
    plain, folded, compact = (count(find_case("OLinear", form)) for form in ("plain", "folded", "compact"))
    shapes = shapes_of(build(find_case("OLinear", "plain")), 16)
    assert 16 * plain.multiplications == shapes.forward(2).plain - shapes.rows * 16 * 96
    assert compact.multiplications < folded.multiplications < plain.multiplications
    assert (plain.parameters, folded.parameters, compact.parameters) == (4_518_944, 4_518_944, 0)


@pytest.mark.parametrize(
    ("model", "form", "series", "norms"),
    [("DLinear", "main", 7, 0), ("iTransformer", "main", 7, 7), ("iTransformer", "main", 321, 7)]
    + [("OLinear", "plain", series, 5) for series in (7, 321, 862)],
)
def test_the_paper_counts_multiplications_and_five_for_a_number_in_a_norm(model, form, series, norms):
    """Its "FLOPs" are not twice the multiplications."""
    ours = count(find_case(model, form, series)).multiplications + 5 * norms * series * 512
    assert printed_cell(model, form, series, "multiplications").agrees(ours)


SAME = {7: "OLinear OLinear-C DLinear iTransformer PatchTST CARD TimeMixer TimesNet FreTS", 21: "CARD TimeMixer++"}
SAME |= {321: "OLinear OLinear-C TimeMixer TimesNet", 862: "OLinear TimeMixer"}
PRINTED = [(name, series) for series, names in SAME.items() for name in names.split()]


@pytest.mark.parametrize(("model", "series"), PRINTED)
def test_parameters_are_the_printed_ones(model, series):
    form = "plain" if efficiency.entry_of(model).forms else "main"
    assert printed_cell(model, form, series, "parameters").agrees(count(find_case(model, form, series)).parameters)


def test_parameters_with_normlin_are_the_printed_ones():
    for model, ours in (("iTransformer", 2_205_378), ("PatchTST", 2_710_400)):
        assert count(find_case(model, "normlin")).parameters == ours
        assert printed_cell(model, "normlin", 7, "parameters").agrees(ours)


def test_where_the_difference_is_known_it_is_as_large_as_said():
    """Fredformer's unused parameters, CARD's unused maps."""
    for form in ("main", "normlin"):
        ours = count(find_case("Fredformer", form)).parameters
        assert not printed_cell("Fredformer", form, 7, "parameters").agrees(ours)
        assert printed_cell("Fredformer", form, 7, "parameters").agrees(ours + 55_903)
    for series, attentions in ((137, 6), (862, 4)):
        ours = count(find_case("CARD", series=series)).parameters
        cell = printed_cell("CARD", "main", series, "parameters")
        assert not cell.agrees(ours)
        assert cell.agrees(ours + attentions * (128 * 128 + 128))
