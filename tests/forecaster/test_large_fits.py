"""Large fits: how long one takes is said early, and what it holds at a time has a limit."""

import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from forecaster_parts import same_weights, small, waves, weights_of

from olinear.core import ConfigError
from olinear.core.settings import make_settings
from olinear.data.frames import Frequency, Panel
from olinear.data.windows import Windows
from olinear.forecaster import calibration, estimating
from olinear.forecaster.calibration import scored_windows
from olinear.forecaster.estimating import FirstEstimate, duration
from olinear.training import loop

# How long it takes


class Clock:
    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr(estimating.time, "monotonic", lambda: self.now)


def notes_of(
    monkeypatch, a_step: float, *, steps: int = 1000, epoch: int = 1, first: float = 0.0, n_series: int = 1, **given
):
    """The notes of a run whose steps take so long each, 100 of them."""
    clock, notes = Clock(monkeypatch), []
    settings = make_settings({"horizon": 4, "lookback": 12, "max_epochs": 10} | given)
    estimate = FirstEstimate(settings, n_series, 0.0, notes.append)
    run = SimpleNamespace(steps=steps, position=SimpleNamespace(epoch=epoch))
    estimate.started(run)
    for number in range(100):
        clock.now += a_step + (first if number == 0 else 0)
        estimate.stepped(run)
    return notes


@pytest.mark.parametrize(
    ("a_step", "said"), [(0.001, None), (0.01, "about 2 min at the most, 10 epochs of 11 s"), (3.6, "11 h 0 min")]
)
def test_a_long_fit_is_said_once_by_its_first_steps(monkeypatch, a_step, said):
    notes = notes_of(monkeypatch, a_step)
    assert len(notes) == (said is not None)
    for note in notes:
        assert note.code == "fit-long"
        assert said in note


def test_the_first_step_takes_memory_and_is_not_counted(monkeypatch):
    assert not notes_of(monkeypatch, 0.001, first=4.0)
    (note,) = notes_of(monkeypatch, 30.0)  # unless it is long itself: then nobody waits for a second one
    assert "92 h" in note or "91 h" in note


def test_one_step_that_waits_on_a_busy_machine_says_nothing(monkeypatch):
    clock, notes = Clock(monkeypatch), []
    estimate = FirstEstimate(make_settings({"horizon": 4, "lookback": 12}), 1, 0.0, notes.append)
    run = SimpleNamespace(steps=1000, position=SimpleNamespace(epoch=1))
    estimate.started(run)
    for seconds in (0.001, 1.2, *[0.001] * 300):
        clock.now += seconds
        estimate.stepped(run)
    assert not notes


def test_what_is_left_counts_when_a_fit_goes_on(monkeypatch):
    assert notes_of(monkeypatch, 0.1, epoch=10) == ["this fit takes about 2 min at the most"]
    assert "2 epochs of" in notes_of(monkeypatch, 0.1, epoch=9)[0]


@pytest.mark.parametrize(
    ("given", "advice"),
    [
        ({}, ["max_epochs=2 (about 2 h 12 min)", "the newest rows alone"]),
        ({"n_series": 2000}, ["rank=16"]),
        ({"steps": 30_000, "a_step": 0.1}, ["batch_size=256"]),
    ],
)
def test_hours_come_with_advice(monkeypatch, given, advice):
    (note,) = notes_of(monkeypatch, **{"a_step": 3.6} | given)
    for each in advice:
        assert each in note
    assert ("rank=16" in note) == ("n_series" in given)
    assert ("batch_size" in note) == ("steps" in given)


def test_advice_already_followed_is_not_given(monkeypatch):
    (note,) = notes_of(monkeypatch, 3.6, n_series=2000, steps=30_000, rank=8, batch_size=256, max_epochs=1)
    assert not {"rank", "batch_size", "max_epochs"} & set(note.replace("=", " ").split())


def test_it_is_said_at_once_and_kept(frame, monkeypatch):
    """And it changes nothing of the fit."""
    plain = small().fit(frame)
    for name in ("LONG", "LOOK"):
        monkeypatch.setattr(estimating, name, 0.0)
    said = []
    told = small().fit(frame, notify=said.append)
    assert [note.code for note in said] == ["fit-long"]
    assert said[0] in told.report()["notes"]
    assert same_weights(weights_of(plain), weights_of(told))
    assert not [note for note in plain.report()["notes"] if note.startswith("this fit takes")]


def test_durations():
    assert [duration(seconds) for seconds in (0.2, 61, 100, 5000, 13_080)] == [
        "1 s",
        "61 s",
        "2 min",
        "83 min",
        "3 h 38 min",
    ]


# What it holds


def test_calibration_is_thinned_to_the_memory_there_is(frame):
    """20 windows at the least; the weights are the same, and the intervals nearly so."""
    data = waves(600)
    plain, narrow = (small().fit(data, memory=memory) for memory in (None, "12kB"))
    (note,) = [note for note in narrow.report()["notes"] if "spread evenly" in note]
    assert note.code == "intervals-thinned"
    assert "on 62 of 117 windows" in note  # 12,000 bytes, 4 times 4 bytes for each of 4 steps and 3 series
    assert not [note for note in plain.report()["notes"] if "spread evenly" in note]
    assert same_weights(weights_of(plain), weights_of(narrow))
    widths = [forecaster.fitted.intervals.at(80) for forecaster in (plain, narrow)]
    np.testing.assert_allclose(widths[1], widths[0], rtol=0.25)


def test_intervals_do_not_hang_on_the_memory_there_is_where_windows_have_room(frame):
    first, second = (small().fit(frame, memory=memory).fitted.intervals for memory in ("1MB", "1GB"))
    np.testing.assert_array_equal(first.quantiles, second.quantiles)


def test_more_windows_are_never_scored_than_are_of_use(monkeypatch):
    monkeypatch.setattr(calibration, "MOST_SCORES", 1200)
    rows = np.zeros((2000, 3), dtype=np.float32)
    assert scored_windows(Windows(rows, 12, 4)) == calibration.ENOUGH
    assert scored_windows(Windows(rows[:60], 12, 4)) == 45  # all


def test_large_windows_are_validated_a_few_at_a_time(frame, monkeypatch):
    """No more than in a step, where those are large; the loss is the same."""
    seen = []
    mean_loss = loop.mean_loss
    monkeypatch.setattr(loop, "mean_loss", lambda *given: seen.append(given[-1]) or mean_loss(*given))
    plain = small(batch_size=8).fit(frame)
    monkeypatch.setattr("olinear.models.answering.MOST_VALUES", 100)
    few = small(batch_size=8).fit(frame)
    assert seen == [32, 8]
    assert few.report()["validation_loss"] == pytest.approx(plain.report()["validation_loss"], rel=1e-5)


def test_a_bad_amount_is_refused_before_the_fit(frame):
    with pytest.raises(ConfigError, match="memory must be an amount"):
        small().fit(frame, memory="lots")


def test_series_are_found_among_many_by_name():
    """It was a search through all names for each: 4 s for 20,000."""
    names = [f"s{number}" for number in range(20_000)]
    panel = Panel(np.arange(40_000.0).reshape(2, -1), pd.RangeIndex(2), names, Frequency("1", "integer"))
    began = time.perf_counter()
    picked = panel.pick(names[::-1])
    assert time.perf_counter() - began < 2
    assert picked.values[0, 0] == 19_999
