"""Where to compute."""

import pytest
import torch
from training_parts import TimeLinear, noise

from olinear.errors import ConfigError
from olinear.training import TrainingConfig, pick_device, train
from olinear.training.devices import fitting_threads


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


@pytest.mark.parametrize(("width", "threads"), [(10, 1), (1200, 2)])
def test_a_small_model_trains_on_one_thread_and_the_callers_number_comes_back(width: int, threads: int):
    """On a busy machine a second thread costs a small model many times its worth."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with fitting_threads(torch.nn.Linear(width, width), torch.device("cpu")):
            assert torch.get_num_threads() == threads
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
