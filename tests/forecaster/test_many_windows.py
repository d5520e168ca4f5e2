"""Where windows are more than an epoch needs: what is chosen, what judges, and what is said of it."""

from types import SimpleNamespace

import numpy as np
import pytest
from forecaster_parts import same_weights, small, waves, weights_of

from olinear.data.frames import Frequency
from olinear.data.windows import Split
from olinear.forecaster import choosing, estimating, spans
from olinear.forecaster.choosing import EPOCH_STEPS, choose_settings
from olinear.forecaster.spans import FitRows
from olinear.training import Callback


def chosen(rows: int, model: str = "OLinear", **given) -> int:
    return choose_settings({"horizon": 4} | given, model, rows, 1, Frequency("h")).training.epoch_steps


def test_an_epoch_is_cut_where_windows_are_many_and_the_user_does_not_say():
    assert [chosen(rows) for rows in (200, 30_000, 1_000_000)] == [0, 0, EPOCH_STEPS]
    assert chosen(1_000_000, epoch_steps=0) == 0
    assert chosen(30_000, epoch_steps=7) == 7
    assert chosen(30_000, batch_size=2) == EPOCH_STEPS  # steps count, not windows
    assert chosen(1_000_000, model="Ridge") == 0  # which is solved


def test_it_is_cut_where_training_has_more_steps_than_that():
    """The rows that validate do not count."""
    lookback, horizon, steps = 10, 4, EPOCH_STEPS
    train = steps * 32 + lookback + horizon - 1  # rows, of which the windows make just so many batches
    given = {"lookback": lookback, "horizon": horizon, "validation": 0.5, "batch_size": 32}
    assert chosen(2 * train, **given) == 0
    assert chosen(2 * train + 2, **given) == steps


def rows_of(an_epoch: int, n_train: int = 200, judging: int = 120) -> FitRows:
    values = np.zeros((n_train + judging, 1), dtype=np.float32)
    return FitRows(values, values, Split.by_counts(n_train, judging - 20, 20), 12, 4, an_epoch)


@pytest.mark.parametrize("most", [1, 7, 30, 96, 97, 200])
def test_windows_that_judge_are_spread_evenly_and_end_with_the_newest(monkeypatch, most):
    monkeypatch.setattr(spans, "MOST_JUDGING", most)
    thinned, whole = rows_of(50), rows_of(0)
    every, some = whole.validation.starts, thinned.validation.starts
    assert some[-1] == every[-1]
    assert set(some) <= set(every)
    assert len(some) <= most
    assert 2 * len(some) > min(most, len(every))
    assert thinned.training.starts == whole.training.starts


def test_all_judge_where_an_epoch_has_room_for_all(monkeypatch):
    monkeypatch.setattr(spans, "MOST_JUDGING", 10)
    for rows in (rows_of(0), rows_of(185), rows_of(10_000)):
        assert rows.validation.starts == rows.windows(rows.split.validation).starts
        assert spans.note_on_parts(rows) is None


class Seen(Callback):
    def __init__(self):
        self.steps = []

    def judged(self, run, record):
        self.steps.append(run.position.step)


def test_a_fit_says_what_it_took_a_part_of(monkeypatch):
    """To the one who waits, too; the rule of the defaults does the same as the setting."""
    monkeypatch.setattr(spans, "MOST_JUDGING", 40)
    monkeypatch.setattr(choosing, "EPOCH_STEPS", 5)
    data, said, seen = waves(600), [], Seen()
    fitted = small(max_epochs=3).fit(data, notify=said.append, callbacks=[seen])
    (note,) = [note for note in fitted.report()["notes"] if note.code == "fit-thinned"]
    assert note in said
    assert note.startswith("an epoch trains on 80 of 465 windows, and the next one goes on with others; ")
    assert "30 of 89, spread evenly, validate; 39 of 117, spread evenly, calibrate intervals" in note
    assert seen.steps == [5, 5, 5]
    assert fitted.fitted.intervals.windows == 39
    assert fitted.report()["epoch_steps"] == 5
    again = small(max_epochs=3, epoch_steps=5).fit(data)
    assert same_weights(weights_of(fitted), weights_of(again))


def test_the_estimate_counts_the_steps_of_an_epoch_and_the_windows_that_judge(monkeypatch):
    """Twenty seconds a step: five of an epoch, and 30 windows that validate next to the 80 that train."""
    monkeypatch.setattr(spans, "MOST_JUDGING", 40)
    clock, said = [0.0], []
    monkeypatch.setattr(estimating, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    class Slow(Callback):
        def stepped(self, run):
            clock[0] += 20.0

    small(max_epochs=4, epoch_steps=5).fit(waves(600), notify=said.append, callbacks=[Slow()])
    (note,) = [note for note in said if note.code == "fit-long"]
    an_epoch = 20 * 5 * (1 + estimating.FORWARD * 30 / 80) * estimating.CALIBRATING
    assert f"{estimating.duration(4 * an_epoch)} at the most, 4 epochs of {estimating.duration(an_epoch)}" in note


def test_long_epochs_come_with_advice():
    """Where they were asked for."""
    settings = choose_settings({"horizon": 4, "epoch_steps": 0}, "OLinear", 1_000_000, 1, Frequency("h"))
    assert f"epoch_steps={EPOCH_STEPS}" in estimating.note_on_time(settings, 1, 25_000, 3600.0, 15)
    assert "epoch_steps" not in estimating.note_on_time(settings, 1, EPOCH_STEPS, 3600.0, 15)


def test_a_large_fit_forecasts_as_well(monkeypatch):
    """Half as many windows of each epoch, and a third of those that judge: nearly the same forecasts and intervals."""
    monkeypatch.setattr(spans, "MOST_JUDGING", 60)
    data = waves(600)
    options = {"max_epochs": 5, "learning_rate": 0.01, "schedule": "constant"}
    whole, part = (small(**options, epoch_steps=steps).fit(data) for steps in (0, 15))
    scores = [forecaster.report()["worth"]["score"] for forecaster in (whole, part)]
    assert scores[1] < 1.15 * scores[0]
    widths = [forecaster.fitted.intervals.at(80) for forecaster in (whole, part)]
    np.testing.assert_allclose(widths[1].mean(), widths[0].mean(), rtol=0.2)
