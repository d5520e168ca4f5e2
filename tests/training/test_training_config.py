"""Settings are a frozen record: a typo or a value out of range is refused, not ignored."""

import pytest
from pydantic import ValidationError
from training_parts import TimeLinear, noise

from olinear.training import TrainingConfig, train


def test_frozen():
    config = TrainingConfig()
    with pytest.raises(ValidationError, match="frozen"):
        config.learning_rate = 1.0


def test_unknown_settings_are_refused():
    with pytest.raises(ValueError, match="learning_rat\n"):
        TrainingConfig(learning_rat=1e-3)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("loss", "huber"),
        ("schedule", "type2"),
        ("learning_rate", 0),
        ("learning_rate", float("nan")),
        ("batch_size", 0),
        ("max_epochs", 0),
        ("patience", 0),
        ("clip_norm", 0),
        ("average_decay", 0),
        ("average_decay", 1),
        ("seed", -1),
        ("checkpoint_seconds", -1),
    ],
)
def test_out_of_range_is_refused(name, value):
    with pytest.raises(ValueError, match=name):
        TrainingConfig(**{name: value})


@pytest.mark.parametrize("seed", [0, 2**32, 1_700_000_000_000_000_000])
def test_a_seed_the_config_takes_can_be_trained_with(seed):
    """The clock in nanoseconds is a common seed."""
    report = train(TimeLinear(), noise(), None, TrainingConfig(seed=seed, max_epochs=1), progress=False)
    assert report.epochs == 1
