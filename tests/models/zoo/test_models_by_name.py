"""Models by name: however it is capitalised, with options that are checked, described in one line."""

import re

import numpy as np
import pytest
import torch
from torch import nn

from olinear.core.errors import ConfigError, DataError
from olinear.models import MODELS, build_model, default_options, find_model, summary
from olinear.nn import OLinear
from olinear.nn.bases import make_basis

ROWS = np.random.default_rng(0).normal(size=(120, 3)).astype(np.float32)
FIRST_PART = {"DLinear", "RLinear", "iTransformer", "PatchTST", "Leddam", "Fredformer", "Ridge", "Gaussian"}


def test_the_first_models_are_registered():
    assert set(MODELS) >= FIRST_PART
    assert all(issubclass(MODELS.find(name).load(), nn.Module) for name in MODELS)


@pytest.mark.parametrize("name", MODELS)
def test_names_are_found_however_they_are_capitalised(name):
    assert {find_model(name.lower()), find_model(name.upper())} == {name}


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"no model is called 'TLinear': there are OLinear, .*PatchTST"):
        find_model("TLinear")


@pytest.mark.parametrize("name", MODELS)
def test_every_model_says_what_it_is_in_one_line(name):
    line = summary(name)
    assert line.endswith(".")
    assert line == (MODELS.find(name).load().__doc__ or "").partition("\n")[0]
    assert len(line) <= 110


@pytest.mark.parametrize("name", [name for name in MODELS if name != "OLinear"])
def test_every_docstring_has_a_citation_an_equation_and_the_arguments(name):
    text = MODELS.find(name).load().__doc__
    assert re.search(r"\b(19|20)\d\d\b", text)
    assert any(line.startswith("        ") and "=" in line for line in text.splitlines())
    assert "n_series, lookback, horizon: n, t, h." in text
    for option in default_options(name):
        assert option in text.partition("Args:")[2], option


def test_a_model_takes_the_number_of_series_from_the_rows():
    model = build_model("dlinear", ROWS, 12, 4, individual=True)
    assert type(model) is MODELS.find("DLinear").load()
    assert model.season.weight.shape == (3, 4, 12)


def test_olinear_takes_its_bases_from_the_rows():
    model = build_model("OLinear", ROWS, 12, 4, model_dim=8, basis="pearson")
    assert type(model) is OLinear
    expected = torch.from_numpy(make_basis("pearson", 12, ROWS)).float()
    torch.testing.assert_close(model.input_transform.basis, expected)


def test_default_options():
    assert default_options("DLinear") == {"window": 25, "individual": False, "init": "uniform"}
    assert default_options("olinear")["basis"] == "pearson"
    assert default_options("OLinear")["model_dim"] == 512


def test_unknown_options_are_answered_with_the_known_ones():
    with pytest.raises(ConfigError, match="DLinear has no option 'model_dim': it takes window, individual, init"):
        build_model("DLinear", ROWS, 12, 4, model_dim=8)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "OLinear"])
def test_no_count_of_a_model_may_be_negative(name):
    """Nor may it be lost in an empty loop, or be a division by zero somewhere within."""
    counts = [option for option, value in default_options(name).items() if type(value) is int]
    for option in counts:
        with pytest.raises(ConfigError, match=f"{option} must be at least [01], found -1"):
            build_model(name, ROWS, 12, 4, **{option: -1})


@pytest.mark.parametrize(
    ("name", "option"),
    [("iTransformer", "ff_dim"), ("PatchTST", "model_dim"), ("Fredformer", "heads"), ("CARD", "stride")],
)
def test_a_size_of_zero_is_refused(name, option):
    with pytest.raises(ConfigError, match=f"{option} must be at least 1, found 0"):
        build_model(name, ROWS, 12, 4, **{option: 0})


def test_what_may_be_left_out_may_be_zero():
    model = build_model("TiDE", ROWS, 12, 4, model_dim=8, series_dim=0)
    assert model(torch.randn(2, 12, ROWS.shape[1])).shape == (2, 4, ROWS.shape[1])


def test_rows_must_have_two_axes():
    with pytest.raises(DataError, match=r"train must have shape \(rows, series\), found \(120,\)"):
        build_model("RLinear", ROWS[:, 0], 12, 4)
