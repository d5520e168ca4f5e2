"""What is asked of a forecaster: some series, levels, steps; and what cannot be is refused with a way out."""

import contextlib
import sys
import time

import numpy as np
import pandas as pd
import pytest
import torch
from forecaster_parts import assert_same_frames, small, to_long, values_of, waves

from olinear.core import CheckpointError, ConfigError, DataError, NotFittedError, OLinearError
from olinear.core.runtime import Waiting
from olinear.forecaster import Forecaster, check_levels
from olinear.forecaster.service import PredictRequest, predict
from olinear.training import StopWhen

# Some series


def test_some_series_are_those_of_the_whole_forecast(fitted):
    """All are forecast together, whatever is wanted; the answer has the wanted ones in the order asked for."""
    whole = fitted.predict(levels=[80])
    some = fitted.predict(levels=[80], series=["c", "a"])
    assert_same_frames(some, whole[list(some.columns)])
    assert list(some.columns) == ["time", "c", "c-lo-80", "c-hi-80", "a", "a-lo-80", "a-hi-80"]
    assert_same_frames(fitted.predict(series="b"), fitted.predict()[["time", "b"]])


def test_some_series_of_a_long_frame():
    frame = to_long(waves()).replace({"unique_id": {"a": "1", "b": "2", "c": "3"}}).astype({"unique_id": int})
    forecaster = small().fit(frame)
    answer = forecaster.predict(series=[3, 1])
    assert answer["unique_id"].unique().tolist() == [3, 1]
    np.testing.assert_array_equal(answer["y"][:4], forecaster.predict().query("unique_id == 3")["y"])


def test_a_picture_of_some_series(fitted, frame):
    prediction = fitted.predict_panel(frame[:130], levels=[80])
    actual = fitted.read(frame).rows(slice(130, 134))
    figure = prediction.plot(actual, series=["c", "a"])
    assert [axis.get_title("left") for axis in figure.axes] == ["c", "a"]
    lines = {line.get_label(): line.get_ydata() for line in figure.axes[0].lines}
    np.testing.assert_array_equal(lines["actual"], frame["c"][130:134])
    np.testing.assert_array_equal(lines["forecast"], prediction.forecast.values[:, 2])


def test_a_picture_of_all_that_are_named():
    """Six are the default, not a limit."""
    prediction = small().fit(waves(n_series=8)).predict_panel()
    assert len(prediction.plot().axes) == 6
    assert len(prediction.plot(series=list("abcdefgh")).axes) == 8
    assert len(prediction.pick("b").plot().axes) == 1


@pytest.mark.parametrize(
    ("series", "words"),
    [
        (["tempp"], "there is no series 'tempp': did you mean 'temp'?"),
        ("Temp ", "did you mean 'temp'"),
        (["side"], "did you mean 'outside' or 'inside'"),
        (["zzz"], "there are 'temp', 'outside', 'inside'"),
        (["temp", "temp"], "asked for twice"),
        ([], "leave it out for all"),
        ([None], "series must be names"),
        (3.5, "series must be names"),
        (b"temp", "series must be names"),
        ({"temp": 1}, "series must be names"),
    ],
    ids=repr,
)
def test_series_that_are_not_there(series, words):
    forecaster = Forecaster(2, 4, model="Ridge", progress=False)
    forecaster.fit(waves(60).rename(columns={"a": "temp", "b": "outside", "c": "inside"}))
    for ask in (forecaster.predict, forecaster.predict_panel().plot):
        with pytest.raises(ConfigError, match=words.replace("?", r"\?")):
            ask(series=series)


def test_the_service_gives_the_notes_of_the_forecast():
    """`olinear predict` said nothing of a series that had stopped."""
    frame = waves()
    frame.loc[140:, "b"] = np.nan
    result = predict(PredictRequest(small().fit(frame), series=["a"]))
    assert any("series b: without recent values" in note for note in result.notes)
    assert result.prediction.forecast.series == ["a"]


# Levels


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        (80, [80]),
        (np.int64(80), [80]),
        (np.array(80), [80]),
        (None, []),
        ((), []),
        ((50.5, 95), [50.5, 95]),
        (np.array([80, 95]), [80, 95]),
        (range(80, 81), [80]),
    ],
    ids=repr,
)
def test_levels_are_numbers(levels, expected):
    found = check_levels(levels)
    assert found == expected
    assert all(type(level) is float for level in found)


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ("80", r"found '80': pass levels=\[80, 95\]"),
        (["80"], r"found '80': pass levels=\[80, 95\]"),
        ([True], "found True"),
        (True, "found True"),
        ([None], "found None"),
        ([[80]], r"found \[80\]"),
        (3j, "levels must be numbers"),
        ([80, 80.0], "found 80 more than once: leave one out"),
        ([0.8], "found 0.8: 80 is the same in per cent"),
        ([100], "between 1 and 99 per cent, found 100"),
        ([float("nan")], "found nan"),
    ],
    ids=repr,
)
def test_levels_that_are_none(fitted, frame, levels, words):
    with pytest.raises(ConfigError, match=words):
        fitted.predict(levels=levels)
    with pytest.raises(ConfigError, match=words):
        fitted.backtest(frame, levels=levels)


def test_one_level_may_stand_alone(fitted, frame):
    assert_same_frames(fitted.predict(levels=80), fitted.predict(levels=[80]))
    assert fitted.backtest(frame, windows=2, levels=80).score(metric="coverage_80") >= 0


# Steps


@pytest.mark.parametrize("horizon", [2.5, "2", True, [2], float("nan"), 0, -1], ids=repr)
def test_steps_that_are_no_number(fitted, horizon):
    with pytest.raises(ConfigError, match="horizon must be"):
        fitted.predict(horizon=horizon)


@pytest.mark.parametrize("windows", [2.5, "3", None, 0, True], ids=repr)
def test_windows_that_are_no_number(fitted, frame, windows):
    with pytest.raises(ConfigError, match="windows must be"):
        fitted.backtest(frame, windows=windows)


@pytest.mark.parametrize("horizon", [1_000_000_000, 10**30, 1001])
@pytest.mark.parametrize("recursive", [True, False])
def test_forecasts_feed_on_forecasts_for_so_long_and_no_longer(fitted, horizon, recursive):
    """A horizon of a billion computed without end."""
    with pytest.raises(
        ConfigError, match=r"reach 1000 steps from a trained horizon of 4.* ask for horizon=1000 or less"
    ):
        fitted.predict(horizon=horizon, recursive=recursive)


def test_the_limit_itself_is_reached():
    forecaster = Forecaster(1, 4, model="Ridge", progress=False).fit(waves(60))
    assert len(forecaster.predict(horizon=1000, recursive=True)) == 1000


def test_beyond_the_calendar():
    frame = waves(60).assign(time=pd.date_range("2150-01-01", periods=60, freq="YS").astype("datetime64[ns]"))
    forecaster = Forecaster(4, 8, model="Ridge", progress=False).fit(frame)
    with pytest.raises(DataError, match="leave the calendar: ask for a shorter horizon"):
        forecaster.predict(horizon=100, recursive=True)


def test_recursive_is_yes_or_no(fitted):
    with pytest.raises(ConfigError, match="recursive must be true or false, found 'no'"):
        fitted.predict(horizon=8, recursive="no")


# Folders, models, and what is not fitted


@pytest.mark.parametrize("folder", [None, "", 3, b"m", "a\0b", "a" * 5000], ids=lambda each: repr(each)[:9])
def test_folders_that_cannot_be(fitted, folder):
    for call in (Forecaster.load, fitted.save):
        with pytest.raises(ConfigError, match=r"a model folder .* pass a name such as 'model'"):
            call(folder)


def test_a_folder_that_is_not_there(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(CheckpointError, match="nothing of that name: check the spelling"):
        Forecaster.load(tmp_path / "nowhere")
    with pytest.raises(CheckpointError, match="it is a file: give the folder"):
        Forecaster.load(tmp_path / "file")


def test_a_folder_at_home(fitted, tmp_path, monkeypatch):
    """`save("~/model")` made a folder called ~."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    fitted.save("~/model")
    assert (tmp_path / "model" / "config.json").is_file()
    assert_same_frames(Forecaster.load("~/model").predict(), fitted.predict())


class NoWeights(torch.nn.Module):
    """Nothing to train, and not built of sizes."""

    def forward(self, x):
        return x


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (3, "olinear models lists the names"),
        (None, "olinear models lists the names"),
        (int, "olinear models lists the names"),
        (np, "found a module"),
        ("PatchTSR", "no model is called 'PatchTSR'"),
        (NoWeights, r"cannot be built with Model\(n_series, lookback, horizon\)"),
        (NoWeights(), "has no weights to train"),
        (torch.nn.Linear(3, 3), "the forecast must have shape"),
    ],
    ids=lambda each: str(each)[:20],
)
def test_models_that_are_none(frame, model, words):
    with pytest.raises(OLinearError, match=words):
        small(model=model, model_dim=None).fit(frame)


@pytest.mark.parametrize(
    "lookback", [0, -1, 2.5, "x", True, 10**9, 10**30, float("nan")], ids=lambda each: repr(each)[:8]
)
def test_lookbacks_that_are_none(frame, lookback):
    with pytest.raises(OLinearError, match="lookback"):
        small(lookback=lookback).fit(frame)


@pytest.mark.parametrize("data", [None, [], {}, 3, "a.csv", np.zeros((9, 3)), pd.DataFrame()], ids=repr)
def test_data_that_is_none(fitted, data):
    with pytest.raises(DataError):
        small().fit(data)
    if data is not None:
        with pytest.raises(DataError):
            fitted.predict(data)


@pytest.mark.parametrize("callbacks", [3, [3], StopWhen], ids=repr)
def test_callbacks_that_are_none(frame, callbacks):
    with pytest.raises(ConfigError, match=r"a callback must be an olinear.training.Callback"):
        small().fit(frame, callbacks=callbacks)


@pytest.mark.parametrize("checkpoint", [3, ""], ids=repr)
def test_checkpoints_that_are_none(frame, checkpoint):
    with pytest.raises(ConfigError, match="a checkpoint must be named"):
        small().fit(frame, checkpoint=checkpoint)


@pytest.mark.parametrize("use", ["predict", "predict_panel", "report", "fitted", "has_intervals"])
def test_before_it_is_fitted(use):
    with pytest.raises(NotFittedError, match=r"call fit\(data\) or Forecaster.load\(folder\) first"):
        getattr(Forecaster(4), use)()


# Waiting


class Terminal:
    """Standard error as a terminal."""

    encoding = "utf-8"

    def __init__(self, real: bool = True):
        self.real, self.text = real, ""

    def isatty(self) -> bool:
        return self.real

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


@pytest.mark.parametrize(("terminal", "after", "wanted", "said"), [
    (True, 0.0, True, True), (True, 60.0, True, False), (False, 0.0, True, False), (True, 0.0, False, False),
])  # fmt: skip
def test_who_waits_is_told_what_for(monkeypatch, terminal, after, wanted, said):
    """On a terminal, after a while, and no more when it is over, also by Ctrl-C."""
    out = Terminal(terminal)
    monkeypatch.setattr(sys, "stderr", out)
    monkeypatch.setenv("TERM", "xterm")
    with contextlib.suppress(KeyboardInterrupt), Waiting("reading [x].csv", wanted, after) as waiting:
        time.sleep(0.15)
        waiting.show("step 2")
        raise KeyboardInterrupt
    assert ("reading [x].csv" in out.text) == said
    assert ("step 2" in out.text) == said
    assert out.text.endswith("\x1b[2K") == said
    before = out.text
    time.sleep(0.05)
    assert out.text == before


def test_recursion_says_how_far_it_is(monkeypatch, fitted):
    shown = []
    monkeypatch.setattr(Waiting, "show", lambda self, text: shown.append(text))
    assert len(values_of(fitted.predict(horizon=10, recursive=True))) == 10
    assert shown == ["forecast 4 of 10 steps", "forecast 8 of 10 steps"]
