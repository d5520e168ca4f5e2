"""What a training run promises: it learns, chooses on validation, and can be repeated bit by bit."""

import logging
import math

import numpy as np
import pytest
import torch
from torch import nn
from training_parts import (
    Recorder,
    TimeLinear,
    column,
    equal,
    noise,
    numbered,
    run,
    sines,
    small_olinear,
    watched_steps,
    weights_of,
)

from olinear.data.windows import Windows
from olinear.training import TrainingConfig, train


def l1_over(model: nn.Module, windows: Windows) -> float:
    """Mean absolute error of the targets present, one window at a time by slicing."""
    errors = []
    for start in windows.starts:
        middle = start + windows.lookback
        with torch.no_grad():
            forecast = model(windows.values[None, start:middle])[0].numpy()
        errors.append(np.abs(forecast - windows.targets[middle : middle + windows.horizon].numpy()))
    return float(np.nanmean(errors))


# Learning


def test_it_learns():
    report = run(
        small_olinear(dropout=0), sines(), None, learning_rate=5e-3, schedule="constant", max_epochs=20, batch_size=8
    )
    losses = column(report, "training_loss")
    assert losses[-1] < 0.2 * losses[0]


class Scaled(nn.Module):
    """A forecaster with buffers, an integer one among them, and a weight that is frozen."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(8)
        self.forecast = TimeLinear()
        self.level = nn.Parameter(torch.ones(2), requires_grad=False)

    def forward(self, x):
        return self.forecast(self.norm(x)) * self.level


@pytest.mark.parametrize("make", [TimeLinear, small_olinear, Scaled, lambda: nn.Sequential(TimeLinear(), nn.Dropout())])
def test_any_module_of_this_interface_trains(make, tmp_path):
    """Other forecasters are compared by this very loop."""
    config = TrainingConfig(max_epochs=2, average_decay=0.5, learning_rate=0.01, batch_size=8)
    model = make()
    before = weights_of(model)
    report = train(model, noise(), noise(seed=1), config, checkpoint=tmp_path / "run", progress=False)
    assert report.epochs == 2
    assert not model.training
    moved = {name for name, parameter in model.named_parameters() if not torch.equal(parameter, before[name])}
    assert moved == {name for name, parameter in model.named_parameters() if parameter.requires_grad}


def test_tied_weights_train_and_are_kept(tmp_path):
    """Sharing a weight between layers is usual; a checkpoint must take it."""
    model = nn.Sequential(TimeLinear(8, 8), TimeLinear(8, 8), TimeLinear(8, 4))
    model[1].layer.weight = model[0].layer.weight
    config = TrainingConfig(max_epochs=1, checkpoint_seconds=0)
    train(model, noise(), noise(seed=1), config, checkpoint=tmp_path / "run", progress=False)
    again = nn.Sequential(TimeLinear(8, 8), TimeLinear(8, 8), TimeLinear(8, 4))
    again[1].layer.weight = again[0].layer.weight
    train(again, noise(), noise(seed=1), config, checkpoint=tmp_path / "run", resume=True, progress=False)
    assert equal(weights_of(again), weights_of(model))


def test_the_optimizer_is_adam_without_decay():
    """Adam's first step moves every weight by the learning rate, against its gradient, whatever its size."""
    model, windows = TimeLinear(), noise()
    before = weights_of(model)
    x, y = windows.batch(torch.arange(len(windows))).pair
    (model(x) - y).abs().mean().backward()
    gradients = {name: parameter.grad.clone() for name, parameter in model.named_parameters()}
    model.zero_grad()
    run(model, windows, None, loss="l1", learning_rate=1e-3, max_epochs=1, batch_size=1000)
    for name, gradient in gradients.items():
        torch.testing.assert_close(model.state_dict()[name] - before[name], -1e-3 * gradient.sign(), rtol=1e-3, atol=0)


def test_the_training_loss_is_a_mean_over_windows():
    """19 windows in batches of 8, 8 and 3: a mean over batches would weigh the last three too much."""
    model = TimeLinear()
    expected = l1_over(model, noise())
    report = run(model, noise(), None, loss="l1", learning_rate=1e-12, max_epochs=1, batch_size=8)
    assert report.history[0]["training_loss"] == pytest.approx(expected, rel=1e-5)


def test_missing_targets_are_left_out_of_every_mean():
    """Batches with few values present count by those, in training and in validation."""
    targets = noise().values.clone()
    targets[5:20, 0] = math.nan
    windows = Windows(noise().values, 8, 4, targets=targets)
    model = TimeLinear()
    expected = l1_over(model, windows)
    report = run(model, windows, windows, loss="l1", learning_rate=1e-12, max_epochs=1, batch_size=3)
    assert report.history[0]["training_loss"] == pytest.approx(expected, rel=1e-5)
    assert report.history[0]["validation_loss"] == pytest.approx(expected, rel=1e-5)


def test_default_settings():
    report = train(TimeLinear(), noise(), None)
    assert report.epochs == 30


# Batches


def test_every_window_once_an_epoch_in_a_new_order():
    """20 windows in batches of 6: three full ones and the last two windows."""
    model = Recorder()
    run(model, numbered(31), None, max_epochs=3, batch_size=6)
    assert [len(x) for x in model.trained] == [6, 6, 6, 2] * 3
    starts = [round(100 * float(x)) for x in torch.cat(model.trained)[:, 0, 0]]
    epochs = [starts[:20], starts[20:40], starts[40:]]
    assert all(sorted(epoch) == list(range(20)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in [*epochs, list(range(20))]}) == 4


def test_a_batch_larger_than_the_set():
    model = Recorder()
    run(model, numbered(15), None, max_epochs=1, batch_size=64)
    assert [len(x) for x in model.trained] == [4]


def test_training_sees_training_and_selection_sees_validation():
    """Values below 1 train, those above 10 judge; each validation window is judged once an epoch."""
    model = Recorder()
    training = Windows(torch.rand(30, 1), 8, 4)
    validation = Windows(torch.rand(25, 1) + 10, 8, 4)
    run(model, training, validation, max_epochs=3, batch_size=4)
    assert max(float(x.max()) for x in model.trained) < 1
    assert min(float(x.min()) for x in model.judged) >= 10
    assert sum(len(x) for x in model.trained) == 3 * 19
    assert sum(len(x) for x in model.judged) == 3 * 14


# Choosing


def test_the_best_weights_are_restored():
    model = TimeLinear()
    report = run(
        model,
        noise(),
        noise(seed=1),
        loss="l1",
        learning_rate=0.1,
        schedule="constant",
        max_epochs=12,
        patience=12,
        batch_size=4,
    )
    losses = column(report, "validation_loss")
    assert report.best_loss == min(losses)
    assert report.best_epoch == 1 + losses.index(min(losses))
    assert losses[-1] > 1.01 * report.best_loss  # so that the last weights would not do
    assert l1_over(model, noise(seed=1)) == pytest.approx(report.best_loss, rel=1e-5)
    assert not model.training


def contrary() -> tuple[nn.Module, Windows, Windows]:
    """Training teaches that the sign flips, validation that it stays: each epoch must judge worse than the last."""
    model = TimeLinear(1, 1)
    nn.init.zeros_(model.layer.weight)
    nn.init.zeros_(model.layer.bias)
    flipping = Windows(torch.tensor([1.0, -1.0]).repeat(8)[:, None], 1, 1)
    return model, flipping, Windows(torch.ones(10, 1), 1, 1)


@pytest.mark.parametrize("patience", [1, 3])
def test_it_stops_when_validation_gets_worse(patience):
    model, training, validation = contrary()
    report = run(
        model,
        training,
        validation,
        learning_rate=0.02,
        schedule="constant",
        max_epochs=10,
        patience=patience,
        batch_size=16,
    )
    losses = column(report, "validation_loss")
    assert losses == sorted(losses)
    assert (report.best_epoch, report.epochs) == (1, 1 + patience)
    assert float(model.layer.weight.detach()) == pytest.approx(-0.02, rel=1e-3)  # one step of Adam


def test_patience_counts_from_the_last_better_epoch():
    """This run gets worse, then better again, and then worse for good."""
    report = run(
        TimeLinear(),
        noise(),
        noise(seed=1),
        learning_rate=0.1,
        schedule="constant",
        max_epochs=40,
        patience=3,
        batch_size=4,
    )
    losses, stale = column(report, "validation_loss"), [0]
    for epoch in range(1, len(losses)):
        stale.append(0 if losses[epoch] < min(losses[:epoch]) else stale[-1] + 1)
    assert stale[-1] == 3
    assert max(stale[:-1]) < 3
    assert max(stale[: report.best_epoch]) > 0
    assert report.best_epoch == report.epochs - 3


def test_without_validation_the_last_weights_are_kept():
    model = TimeLinear()
    with watched_steps(model) as steps:
        report = run(model, noise(), None, learning_rate=0.1, max_epochs=12, patience=1, batch_size=4)
    assert report.epochs == 12
    assert len(steps) == 12 * 5
    assert equal(weights_of(model), steps[-1]["weights"])
    assert all("validation_loss" not in record for record in report.history)


# Clipping


def gradient_norms(clip_norm: float | None) -> list[float]:
    model = TimeLinear()
    with watched_steps(model) as steps:
        run(model, noise(), None, max_epochs=1, batch_size=4, clip_norm=clip_norm)
    return [step["norm"] for step in steps]


def test_clipping_bounds_every_gradient():
    assert min(gradient_norms(None)) > 0.01
    assert gradient_norms(0.01) == pytest.approx([0.01] * 5, rel=1e-3)


def test_small_gradients_are_not_scaled_up():
    assert gradient_norms(1e6) == gradient_norms(None)


# Telling


def test_one_log_record_an_epoch(caplog):
    with caplog.at_level(logging.INFO, logger="olinear.training"):
        report = run(TimeLinear(), noise(), noise(seed=1), max_epochs=3, average_decay=0.9)
    records = [record for record in caplog.records if record.name == "olinear.training"]
    assert len(records) == 3
    message = records[1].getMessage()
    assert message.startswith("epoch 2/3")
    for name in ("training_loss", "validation_loss", "averaged_validation_loss"):
        assert f"{name.replace('_', ' ')} {report.history[1][name]:.4g}" in message


def test_the_report_counts_time():
    report = run(TimeLinear(), noise(), noise(seed=1), max_epochs=3)
    seconds = column(report, "seconds")
    assert 0 < seconds[0] < seconds[1] < seconds[2] == report.seconds
    assert column(report, "epoch") == [1, 2, 3]
    assert math.isfinite(report.best_loss)
