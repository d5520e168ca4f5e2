"""The published learning rates by epoch, worked out by hand."""

from typing import get_args

import pytest
import torch
from training_parts import TimeLinear, column, noise, watched_steps

from olinear.training import LOSSES, SCHEDULES, TrainingConfig, train

BY_HAND = {
    "type1": [1, 1, 0.5, 0.25, 0.125, 0.0625],
    "type3": [1, 1, 1, 1, 0.9, 0.81],
    "cosine": [1, 0.9330127, 0.75, 0.5, 0.25, 0.0669873],  # of 6 epochs
    "decay": [1, 1, 0.95, 0.9025, 0.857375, 0.81450625],
    "stairs": [1, 1, 0.5, 0.5, 0.25, 0.25],
    "constant": [1, 1, 1, 1, 1, 1],
}


@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_the_first_six_epochs(name):
    factors = [SCHEDULES[name](epoch, 6) for epoch in range(1, 7)]
    assert factors == pytest.approx(BY_HAND[name], rel=1e-6)


@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_a_run_steps_at_the_scheduled_rate(name):
    """What the history says and what the optimizer used are one and the same."""
    model = TimeLinear()
    config = TrainingConfig(schedule=name, learning_rate=0.01, max_epochs=6, batch_size=10)
    with watched_steps(model) as steps:
        report = train(model, noise(), None, config, progress=False)
    expected = [0.01 * factor for factor in BY_HAND[name]]
    assert column(report, "learning_rate") == pytest.approx(expected, rel=1e-6)
    assert [step["rate"] for step in steps] == pytest.approx([rate for rate in expected for _ in range(2)], rel=1e-6)


def test_the_stairs_end_after_the_tenth_epoch():
    assert [SCHEDULES["stairs"](epoch, 20) for epoch in (8, 9, 10, 11, 12, 13, 20)] == [
        2.0**-halvings for halvings in (3, 4, 4, 5, 5, 5, 5)
    ]


def test_one_cycle_is_that_of_pytorch():
    """Ours spreads over the whole run what PyTorch counts in steps; with many steps they are the same."""
    steps, epochs = 100, 10
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    theirs = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=steps * epochs, pct_start=0.2)
    for step in range(steps * epochs):
        ours = SCHEDULES["onecycle"](1 + step // steps, epochs, step % steps / steps)
        assert ours == pytest.approx(theirs.get_last_lr()[0], abs=0.01)
        optimizer.step()
        if step < steps * epochs - 1:
            theirs.step()


def test_one_cycle_changes_within_an_epoch():
    model = TimeLinear()
    config = TrainingConfig(schedule="onecycle", learning_rate=1.0, max_epochs=6, batch_size=10)
    with watched_steps(model) as steps:
        train(model, noise(), None, config, progress=False)
    rates = [step["rate"] for step in steps]
    assert rates == [SCHEDULES["onecycle"](epoch, 6, done) for epoch in range(1, 7) for done in (0.0, 0.5)]
    assert len(set(rates)) == 12


@pytest.mark.parametrize(("field", "registry"), [("schedule", SCHEDULES), ("loss", LOSSES)])
def test_the_config_offers_what_there_is(field, registry):
    assert set(get_args(TrainingConfig.model_fields[field].annotation)) == set(registry)
