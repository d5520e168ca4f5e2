"""Any forecaster of the zoo behind the same `fit` and `predict`."""

import numpy as np
import pandas as pd
import pytest

from olinear import Forecaster
from olinear.errors import ConfigError
from olinear.forecaster.export import export_onnx
from olinear.zoo import MODELS

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
}


def make_frame(rows: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    waves = np.sin(np.arange(rows)[:, None] / 12 * np.pi + np.arange(3)) + 0.1 * rng.normal(size=(rows, 3))
    return pd.DataFrame(
        {"time": pd.date_range("2024", periods=rows, freq="h"), **dict(zip("abc", waves.T, strict=True))}
    )


@pytest.mark.parametrize("name", [name for name in MODELS if name != "OLinear"])
def test_every_model_fits_predicts_and_comes_back(name, tmp_path):
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
    assert report["options"] == {"model_dim": 8, "heads": 2}
    assert "basis" not in report


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"model": "Prophet"}, "no model is called 'Prophet'"),
        ({"model": "DLinear", "model_dim": 8}, "DLinear has no option 'model_dim'"),
        ({"model": "DLinear", "options": {"width": 8}}, "DLinear has no option 'width'"),
        ({"options": {"heads": 2}}, "options= is for other models"),
    ],
)
def test_what_a_model_does_not_take_is_refused(given, told):
    with pytest.raises(ConfigError, match=told):
        Forecaster(4, 16, progress=False, **given).fit(make_frame(120))


def test_only_olinear_is_exported(tmp_path):
    f = Forecaster(4, 16, model="Ridge", progress=False).fit(make_frame(120))
    with pytest.raises(ConfigError, match="only OLinear can be exported"):
        export_onnx(f.fitted, tmp_path / "model.onnx")


def test_refit_on_all_rows():
    frame = make_frame(160)
    both = [
        Forecaster(4, 16, model="Ridge", refit=refit, progress=False).fit(frame).predict() for refit in (False, True)
    ]
    assert not both[0].equals(both[1])
