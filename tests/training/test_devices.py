"""Where to compute."""

import pytest
import torch
from training_parts import TimeLinear, noise

from olinear.errors import ConfigError
from olinear.training import TrainingConfig, pick_device, train


@pytest.mark.parametrize(
    ("cuda", "mps", "expected"),
    [(False, False, "cpu"), (False, True, "mps"), (True, False, "cuda"), (True, True, "cuda")],
)
def test_auto_takes_the_best_there_is(monkeypatch, cuda, mps, expected):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    assert pick_device("auto") == pick_device() == torch.device(expected)


def test_a_device_by_name():
    assert pick_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("name", ["gpu", "", "cuda:99"])
def test_a_device_that_is_not_there_is_refused(name):
    with pytest.raises(ConfigError, match=r"not available here: use device='auto' or 'cpu'"):
        pick_device(name)


def test_training_refuses_it_before_any_step():
    with pytest.raises(ConfigError, match="'gpu'"):
        train(TimeLinear(), noise(), None, TrainingConfig(device="gpu"))
