"""What a forecaster was made with: shown, read, changed, and cloned as scikit-learn does."""

import html
import inspect

import numpy as np
import pytest
import torch
from forecaster_parts import small, waves

from olinear.core import ConfigError
from olinear.forecaster import Forecaster


def clone(estimator):
    """The rule of scikit-learn's clone: the constructor keeps each argument as the very object it was given."""
    parameters = estimator.get_params(deep=False)
    made = type(estimator)(**parameters)
    for name, value in made.get_params(deep=False).items():
        assert value is parameters[name], name
    return made


def test_every_argument_is_there_as_it_was_given():
    options = {"affine": False}
    forecaster = Forecaster(4, model_dim=8, options=options)
    assert forecaster.get_params().keys() == inspect.signature(Forecaster).parameters.keys() - {"renamed"}
    assert forecaster.get_params()["options"] is options
    assert clone(forecaster).get_params() == forecaster.get_params()


def test_a_clone_fits_the_same(frame):
    one = small(seed=3).fit(frame)
    assert clone(one).fit(frame).predict().equals(one.predict())


def test_changed_arguments_need_a_new_fit(frame):
    forecaster = small().fit(frame)
    assert forecaster.set_params(horizon=3, seed=5) is forecaster
    assert forecaster.get_params()["horizon"] == 3
    assert len(forecaster.fit(frame).predict()) == 3
    with pytest.raises(ConfigError, match="no argument 'horizn': there are horizon, lookback"):
        forecaster.set_params(horizn=3)
    with pytest.raises(ConfigError, match="seed must be at least 0"):
        forecaster.set_params(seed=-1)
    assert forecaster.get_params()["seed"] == 5, "what is refused changes nothing"
    assert len(forecaster.predict()) == 3
    assert len(forecaster.set_params().predict()) == 3


def test_repr_says_what_is_not_the_default():
    assert repr(Forecaster(4, max_epochs=2)) == "Forecaster(horizon=4, max_epochs=2)"


def test_scikit_learns_own_clone():
    base = pytest.importorskip("sklearn.base")
    forecaster = Forecaster(4, 12, options={"affine": False}, bounds=(0, None))
    assert base.clone(forecaster).get_params() == forecaster.get_params()


def test_a_loaded_one_is_cloned_and_fits_the_same(fitted, saved, frame):
    loaded = Forecaster.load(saved)
    assert clone(loaded).set_params(progress=False).fit(frame[:130]).predict().equals(fitted.predict())


class Wide(torch.nn.Linear):
    """A module whose own repr has several lines."""

    def __repr__(self) -> str:
        return "Wide(\n" + "  part,\n" * 40 + ")"


def test_repr_is_short(saved):
    """One line whatever was set or chosen, of arguments that are set."""
    loaded = repr(Forecaster.load(saved))
    assert "None" not in loaded
    assert "{}" not in loaded
    assert "more)" in loaded
    for text in (loaded, repr(Forecaster(4, model=Wide(3, 3)))):
        assert len(text.splitlines()) == 1
        assert len(text) < 400


def test_repr_of_a_fitted_one_says_to_what(tmp_path):
    forecaster = small().fit(waves())
    assert repr(forecaster).startswith("<Forecaster(horizon=")
    assert "fitted to 3 series, 150 rows from 2024-01-01 00:00:00" in repr(forecaster)
    forecaster.save(tmp_path / "model")
    assert "fitted to 3 series" in repr(Forecaster.load(tmp_path / "model"))


def test_a_notebook_shows_a_table():
    assert "<th style='text-align:left'>horizon</th>" in Forecaster(4)._repr_html_()
    shown = small().fit(waves().rename(columns={"a": "<b>"}))._repr_html_()
    assert "validation_loss" in shown
    assert "<b>," not in shown, "names of series are escaped"


def test_a_notebook_shows_what_matters_first_then_notes_and_the_rest_to_unfold():
    frame = waves()
    frame["a"], frame.loc[20:30, "b"] = 5.0, np.nan
    forecaster = small().fit(frame.rename(columns={"a": "<script>"}))
    first, rest = forecaster._repr_html_().split("<details>")
    for note in forecaster.report()["notes"]:
        assert html.escape(note) in first
    assert "validation_loss" in first
    assert "weight_decay" in rest
    assert "spectrum" not in first + rest
    assert "<script>" not in first + rest
    assert "color" not in first + rest, "it has the colours of the page, light or dark"
