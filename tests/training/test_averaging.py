"""Averaged weights: a second candidate for the best, which never disturbs the run itself."""

import pytest
import torch
from torch import nn
from training_parts import TimeLinear, column, equal, noise, run, sines, watched_steps, weights_of

from olinear.training import TrainingConfig, train
from olinear.training.checkpoints import load_checkpoint


def test_the_average_by_hand(tmp_path):
    """It keeps 2/11, then 3/12, … of itself in the first steps, and never more than the decay (here 0.2)."""
    model = TimeLinear()
    start = weights_of(model)
    config = TrainingConfig(average_decay=0.2, learning_rate=0.1, max_epochs=1, batch_size=7)
    with watched_steps(model) as steps:
        train(model, noise(), noise(seed=1), config, checkpoint=tmp_path / "run", progress=False)
    tensors, _ = load_checkpoint(tmp_path / "run")
    first, second, third = (step["weights"] for step in steps)
    for name, average in start.items():
        average = 2 / 11 * average + 9 / 11 * first[name]
        average = 0.2 * average + 0.8 * second[name]
        average = 0.2 * average + 0.8 * third[name]
        torch.testing.assert_close(tensors[f"average/{name}"], average)


def test_a_slow_average_by_hand(tmp_path):
    model = TimeLinear()
    average = weights_of(model)["layer.weight"]
    config = TrainingConfig(average_decay=0.999, learning_rate=0.1, max_epochs=1, batch_size=7)
    with watched_steps(model) as steps:
        train(model, noise(), None, config, checkpoint=tmp_path / "run", progress=False)
    for kept, step in zip([2 / 11, 3 / 12, 4 / 13], steps, strict=True):
        average = kept * average + (1 - kept) * step["weights"]["layer.weight"]
    torch.testing.assert_close(load_checkpoint(tmp_path / "run")[0]["average/layer.weight"], average)


def test_an_average_that_is_better_is_chosen():
    """A learning rate far too large swings around the optimum; the mean of the swings lies nearer to it."""
    model = TimeLinear()
    validation = sines(phase=1.0)
    report = run(
        model,
        sines(),
        validation,
        loss="l1",
        learning_rate=0.3,
        schedule="constant",
        max_epochs=6,
        batch_size=2,
        average_decay=0.95,
    )
    losses = column(report, "averaged_validation_loss")
    assert report.best_averaged
    assert report.best_loss == min(losses) < min(column(report, "validation_loss"))
    assert report.best_epoch == 1 + losses.index(min(losses))
    x, y = validation.batch(torch.arange(len(validation))).pair
    with torch.no_grad():
        assert float((model(x) - y).abs().mean()) == pytest.approx(report.best_loss, rel=1e-5)


def test_an_average_that_lags_is_not_chosen():
    model = TimeLinear()
    nn.init.constant_(model.layer.bias, 5.0)
    with watched_steps(model) as steps:
        report = run(model, sines(), sines(), learning_rate=0.01, max_epochs=2, batch_size=8, average_decay=0.99)
    assert not report.best_averaged
    assert report.best_loss == column(report, "validation_loss")[-1] < column(report, "averaged_validation_loss")[-1]
    assert equal(weights_of(model), steps[-1]["weights"])


def test_averaging_leaves_the_run_itself_alone():
    """The raw weights go on from epoch to epoch: with and without averaging, every step is the same."""
    runs = []
    for decay in (None, 0.9):
        model = TimeLinear()
        with watched_steps(model) as steps:
            report = run(model, noise(), noise(seed=1), max_epochs=3, batch_size=4, average_decay=decay)
        runs.append((report, steps))
    (plain, plain_steps), (averaged, averaged_steps) = runs
    assert column(plain, "training_loss") == column(averaged, "training_loss")
    assert column(plain, "validation_loss") == column(averaged, "validation_loss")
    assert len(plain_steps) == len(averaged_steps) == 15
    assert all(equal(a["weights"], b["weights"]) for a, b in zip(plain_steps, averaged_steps, strict=True))
    assert "averaged_validation_loss" not in plain.history[0]


def test_counters_are_copied_not_averaged(tmp_path):
    """BatchNorm counts its batches in an integer, of which there is no average."""
    model = nn.Sequential(nn.BatchNorm1d(8), TimeLinear())
    config = TrainingConfig(average_decay=0.9, max_epochs=2, batch_size=4)
    train(model, noise(), None, config, checkpoint=tmp_path / "run", progress=False)
    assert int(load_checkpoint(tmp_path / "run")[0]["average/0.num_batches_tracked"]) == 10


def test_without_validation_the_raw_weights_are_kept():
    model = TimeLinear()
    with watched_steps(model) as steps:
        report = run(model, noise(), None, learning_rate=0.1, max_epochs=2, average_decay=0.9)
    assert not report.best_averaged
    assert equal(weights_of(model), steps[-1]["weights"])
