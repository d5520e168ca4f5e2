"""The ONNX file says what the model says, from raw values to original units."""

import json
import sys

import numpy as np
import pytest
from forecaster_parts import small, waves

from olinear.cli.app import run
from olinear.core.errors import MissingDependencyError
from olinear.forecaster.export import RawForecast, export_onnx

onnxruntime = pytest.importorskip("onnxruntime", reason="the extra onnx is not installed")


def forecasts_of(path, lookbacks):
    session = onnxruntime.InferenceSession(path)
    return session.run(None, {"values": lookbacks})[0]


@pytest.mark.filterwarnings("ignore")  # the exporter's own
@pytest.mark.parametrize(
    "frame",
    [waves(), waves().assign(k=5), waves().assign(a=1, b=2, c=3)],
    ids=["all vary", "one constant", "all constant"],
)
def test_onnxruntime_agrees_for_any_batch(tmp_path, frame):
    fitted = small().fit(frame).fitted
    export_onnx(fitted, tmp_path / "model.onnx")
    values = fitted.panel.values
    for batch in (1, 2, 5):
        lookbacks = np.stack([values * (1 + i) + 10 * i for i in range(batch)])
        expected = fitted.forecast(lookbacks)[0]
        found = forecasts_of(tmp_path / "model.onnx", lookbacks)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


@pytest.mark.filterwarnings("ignore")
def test_the_command_writes_it_and_the_file_names_its_series(tmp_path, capsys):
    small().fit(waves()).save(tmp_path / "model")
    assert run(["export", str(tmp_path / "model"), "--onnx", str(tmp_path / "model.onnx")]) == 0
    meta = onnxruntime.InferenceSession(tmp_path / "model.onnx").get_modelmeta().custom_metadata_map
    assert json.loads(meta["series"]) == ["a", "b", "c"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "model.onnx"]


def test_the_model_stays_where_it_is():
    """The file's copy goes to the CPU; a model on another device must go on forecasting there."""
    forecaster = small().fit(waves())
    before = forecaster.predict()
    RawForecast(forecaster.fitted).to("meta")
    assert forecaster.predict().equals(before)


def test_without_the_extra_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(MissingDependencyError, match=r"olinear\[onnx\]"):
        export_onnx(small().fit(waves()).fitted, tmp_path / "model.onnx")


def test_an_output_that_cannot_be_written_is_refused(tmp_path, capsys):
    small().fit(waves()).save(tmp_path / "model")
    assert run(["export", str(tmp_path / "model"), "--onnx", str(tmp_path / "no" / "m.onnx")]) == 2
    assert capsys.readouterr().err.startswith("olinear: ")
