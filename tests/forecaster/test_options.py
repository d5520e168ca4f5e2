"""What `Forecaster` is told and what it tells: options, their refusals, the report."""

import numpy as np
import pytest
from forecaster_parts import same_weights, small, waves, weights_of

from olinear.core.errors import ConfigError, NotFittedError
from olinear.forecaster import Forecaster
from olinear.training import loop

nan = np.nan


def test_the_report_says_what_was_chosen(frame):
    report = Forecaster(4, max_epochs=1, progress=False).fit(frame).report()
    assert report["series"] == 3
    assert report["frequency"] == "h"
    assert report["rows"] == 150
    assert (report["first"], report["last"]) == ("2024-01-01 00:00:00", "2024-01-07 05:00:00")
    assert (report["horizon"], report["lookback"], report["seed"], report["basis"]) == (4, 37, 0, "pearson")
    assert report["parameters"] > 1000
    assert report["validation_loss"] > 0
    assert (report["best_epoch"], report["epochs"]) == (1, 1)
    assert (report["holdout"], report["worth"]["rows"], report["refit"]) == (4, 4, True)
    assert [note.code for note in report["notes"]] == ["worth-no-better"]  # after one epoch
    assert {"model_dim", "blocks", "dropout", "batch_size", "learning_rate", "schedule", "patience"} <= report.keys()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lookback", 9),
        ("validation", 0.3),
        ("refit", True),
        ("seed", 7),
        ("basis", "fourier"),
        ("model_dim", 5),
        ("blocks", 0),
        ("dropout", 0.0),
        ("batch_size", 13),
        ("learning_rate", 0.25e-3),
        ("schedule", "cosine"),
        ("max_epochs", 2),
        ("patience", 1),
        ("loss", "l2"),
        ("device", "cpu"),
    ],
)
def test_each_choice_can_be_overridden(fitted, frame, name, value):
    assert small(**{name: value}).fit(frame[:80]).report()[name] == value
    assert fitted.report()[name] != value


def test_the_report_tells_the_gap_rule_and_the_count_apart(frame):
    """Two things are called missing: what to do with gaps, and how many there were."""
    data = frame.copy()
    data.loc[5:7, "a"] = nan
    assert small().fit(data).report()["missing"] == "bridge"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lookback", 0),
        ("lookback", -3),
        ("lookback", 2.5),
        ("missing", "ignore"),
        ("validation", 0),
        ("validation", 1),
        ("validation", "some"),
        ("seed", -1),
        ("basis", "sines"),
        ("model_dim", 0),
        ("blocks", -1),
        ("dropout", 1.0),
        ("batch_size", 0),
        ("learning_rate", 0.0),
        ("learning_rate", nan),
        ("schedule", "type7"),
        ("max_epochs", 0),
        ("patience", 0),
        ("loss", "huber"),
        ("device", "abacus"),
        ("freq", "fortnight"),
    ],
)
def test_a_bad_option_is_named(frame, name, value):
    """A ConfigError that has the option's name and the value given."""
    with pytest.raises(ConfigError) as caught:
        small(**{name: value}).fit(frame)
    assert name in str(caught.value)
    assert str(value) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("horizon", ["4", 2.5, None])
def test_a_horizon_that_is_no_whole_number(frame, horizon):
    with pytest.raises(ConfigError, match="horizon"):
        Forecaster(horizon).fit(frame)


@pytest.mark.parametrize(
    "ask",
    [
        lambda f: f.predict(),
        lambda f: f.backtest(waves()),
        lambda f: f.save("nowhere"),
        lambda f: f.report(),
        lambda f: f.has_intervals,
    ],
)
def test_before_fit_there_is_nothing_to_ask(ask):
    with pytest.raises(NotFittedError, match="call fit"):
        ask(small())


def test_refit_trains_a_second_model_on_all_rows(frame, monkeypatch):
    """Its intervals are still those of the judged model, and it trains for as many epochs as were best."""
    calls, train = [], loop.train

    def watched(model, training, validation, config, **options):
        calls.append((len(training), validation is not None, config.max_epochs))
        return train(model, training, validation, config, **options)

    monkeypatch.setattr("olinear.training.members.train", watched)
    options = {"max_epochs": 12, "learning_rate": 0.05, "patience": 2, "dropout": 0.3}
    once, twice = small(**options).fit(frame), small(refit=True, **options).fit(frame)
    best = once.report()["best_epoch"]
    assert 1 <= best < once.report()["epochs"], "best epoch must differ from the last for this test to tell"
    assert calls == [(105, True, 12), (105, True, 12), (135, False, best)]
    assert not same_weights(weights_of(once), weights_of(twice))
    np.testing.assert_array_equal(once.fitted.intervals.quantiles, twice.fitted.intervals.quantiles)
    for key in ("validation_loss", "best_epoch", "epochs"):
        assert once.report()[key] == twice.report()[key]
