"""Any forecaster of the zoo behind the same `fit` and `predict`."""

import json

import numpy as np
import pandas as pd
import pytest
from forecaster_parts import CONFIG, edit

from olinear import Forecaster
from olinear.core.errors import CheckpointError, ConfigError
from olinear.forecaster.export import export_onnx
from olinear.models import MODELS
from olinear.models.zoo.blocks.mixers import TOKEN_MIXERS

SMALL = {
    "iTransformer": {"model_dim": 16, "heads": 2},
    "PatchTST": {"model_dim": 16, "heads": 2, "blocks": 1},
    "Leddam": {"model_dim": 16, "roll": 4},
    "Fredformer": {"model_dim": 16, "head_dim": 4, "heads": 2},
    "FreTS": {"embed_dim": 4, "hidden_dim": 16},
    "TiDE": {"model_dim": 16, "decoder_dim": 4},
    "Crossformer": {"segment_length": 4, "model_dim": 16, "ff_dim": 16, "heads": 2, "blocks": 2},
    "FEDformer": {"model_dim": 16, "ff_dim": 16, "heads": 2},
    "TimesNet": {"model_dim": 4, "ff_dim": 4, "kernels": 2},
    "TimeMixer++": {"model_dim": 4, "ff_dim": 4, "blocks": 1, "kernels": 2},
    "LLMTime": {"samples": 3},
}


def make_frame(rows: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    waves = np.sin(np.arange(rows)[:, None] / 12 * np.pi + np.arange(3)) + 0.1 * rng.normal(size=(rows, 3))
    return pd.DataFrame(
        {"time": pd.date_range("2024", periods=rows, freq="h"), **dict(zip("abc", waves.T, strict=True))}
    )


@pytest.mark.parametrize("name", [name for name in MODELS if name != "OLinear"])
def test_every_model_fits_predicts_and_comes_back(name, tmp_path, request):
    if name == "LLMTime":
        request.getfixturevalue("tiny_llm")  # to be asked
    frame = make_frame()
    f = Forecaster(8, 32, model=name, options=SMALL.get(name), max_epochs=1, progress=False).fit(frame)
    forecast = f.predict(levels=[80])
    assert forecast.shape == (8, 10)
    assert np.isfinite(forecast.drop(columns="time").to_numpy()).all()
    assert f.report()["model"] == name
    assert f.backtest(frame, windows=2).metrics["forecaster"].iloc[0] == name
    f.save(tmp_path / "model")
    pd.testing.assert_frame_equal(Forecaster.load(tmp_path / "model").predict(levels=[80]), forecast)


def test_a_name_in_other_letters_is_understood():
    f = Forecaster(4, 16, model="ridge", progress=False).fit(make_frame(120))
    assert f.report()["model"] == "Ridge"
    assert f.report()["parameters"] == 0


def test_arguments_become_the_models_options():
    f = Forecaster(4, 16, model="iTransformer", model_dim=8, options={"heads": 2}, max_epochs=1, progress=False)
    report = f.fit(make_frame(120)).report()
    assert (report["model_dim"], report["options"]) == (8, {"heads": 2})
    assert "basis" not in report


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"model": "Prophet"}, "no model is called 'Prophet'"),
        ({"model": "DLinear", "model_dim": 8}, "DLinear has no option 'model_dim'"),
        ({"model": "DLinear", "options": {"width": 8}}, "DLinear has no option 'width'"),
        ({"options": {"heads": 2}}, "OLinear has no option 'heads': it takes"),
        ({"model": "iTransformer", "options": {"heads": 0}}, "heads must be at least 1, found 0"),
        ({"model": "iTransformer", "model_dim": -8}, "model_dim must be at least 1, found -8"),
    ],
)
def test_what_a_model_does_not_take_is_refused(given, told):
    with pytest.raises(ConfigError, match=told):
        Forecaster(4, 16, progress=False, **given).fit(make_frame(120))


UNSAVED = {"function": TOKEN_MIXERS["flowformer"], "nan": float("nan"), "set": {1, 2}, "array": np.zeros(2)}


@pytest.mark.parametrize("value", UNSAVED.values(), ids=UNSAVED)
def test_an_option_that_cannot_be_saved_is_refused_before_the_training(value, monkeypatch):
    """Or all the work would be lost at `save`."""
    monkeypatch.setattr("olinear.training.members.train", None)
    with pytest.raises(ConfigError, match=r"option 'mixer' .* cannot be saved.*: .*name, such as 'flowformer'"):
        Forecaster(4, 16, model="iTransformer", options={"mixer": value}, progress=False).fit(make_frame(120))


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("iTransformer", {"model_dim": 12, "heads": 2}),  # the mixer's own default, 8 heads, would not divide 12
        ("PatchTST", {"model_dim": 12, "heads": 2, "blocks": 1}),
        ("Leddam", {"model_dim": 16, "roll": 4}),
        ("Fredformer", {"model_dim": 16, "head_dim": 4, "heads": 2}),
    ],
)
@pytest.mark.parametrize("mixer", ["attention", "normlin", "flowformer", "mamba"])
def test_a_mixer_goes_by_its_name_and_comes_back(tmp_path, model, options, mixer):
    frame = make_frame(160)
    f = Forecaster(8, 32, model=model, options=options | {"mixer": mixer}, max_epochs=1, progress=False).fit(frame)
    held = {type(module).__name__ for module in f.fitted.model.modules()}
    assert {"attention": "SelfAttention", "normlin": "NormLin", "flowformer": "FlowAttention", "mamba": "Mamba"}[
        mixer
    ] in held
    f.save(tmp_path / "model")
    pd.testing.assert_frame_equal(Forecaster.load(tmp_path / "model").predict(frame), f.predict(frame))


def test_a_mixer_that_is_not_there_is_told_with_those_that_are():
    f = Forecaster(4, 16, model="iTransformer", options={"mixer": "flow"}, progress=False)
    with pytest.raises(ConfigError, match=r"mixer must be one of normlin, .*flowformer.*, found 'flow'"):
        f.fit(make_frame(120))


def test_options_are_those_a_saved_model_has(tmp_path):
    """NumPy's numbers are numbers: they come back from the folder as they were used."""
    options = {"model_dim": np.int64(8), "heads": np.int32(2), "dropout": np.float32(0.5)}
    f = Forecaster(4, 16, model="iTransformer", options=options, max_epochs=1, progress=False).fit(make_frame(120))
    f.save(tmp_path / "model")
    loaded = Forecaster.load(tmp_path / "model")
    assert loaded.report()["options"] == f.report()["options"] == {"model_dim": 8, "heads": 2, "dropout": 0.5}


@pytest.mark.parametrize("options", [{"heads": "many"}, {"dropout": 2.0}], ids=str)
def test_a_value_that_no_model_can_be_built_with_is_refused(options):
    """A user's mistake, told as one: the option, its value, and what the model said."""
    name, value = next(iter(options.items()))
    f = Forecaster(4, 16, model="iTransformer", options=options, progress=False)
    with pytest.raises(ConfigError, match=f"iTransformer cannot be built with {name}={value!r}: "):
        f.fit(make_frame(120))


def test_a_folder_edited_to_what_cannot_be_built_is_refused(tmp_path):
    folder = tmp_path / "model"
    f = Forecaster(4, 16, model="iTransformer", options={"heads": 2}, max_epochs=1, progress=False)
    f.fit(make_frame(120)).save(folder)
    settings = json.loads((folder / CONFIG).read_text())["settings"]
    edit(folder, settings=settings | {"model": settings["model"] | {"options": {"heads": 0}}})
    with pytest.raises(CheckpointError, match="does not fit together"):
        Forecaster.load(folder)


def test_only_olinear_is_exported(tmp_path):
    f = Forecaster(4, 16, model="Ridge", progress=False).fit(make_frame(120))
    with pytest.raises(ConfigError, match=r"only a model with a compact form.*this one is Ridge"):
        export_onnx(f.fitted, tmp_path / "model.onnx")


def test_refit_on_all_rows():
    frame = make_frame(160)
    both = [
        Forecaster(4, 16, model="Ridge", refit=refit, progress=False).fit(frame).predict() for refit in (False, True)
    ]
    assert not both[0].equals(both[1])
