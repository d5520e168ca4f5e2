"""Where to compute."""

import pytest
import torch
from torch import nn
from training_parts import TimeLinear, noise

from olinear.core import Traits
from olinear.core.errors import ConfigError
from olinear.core.runtime.devices import device_of, fitting_threads
from olinear.data.windows import Windows
from olinear.training import TrainingConfig, loop, pick_device, train


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


def test_a_module_is_where_its_tensors_are():
    assert device_of(nn.Linear(2, 2, device="meta")) == torch.device("meta")
    assert device_of(nn.BatchNorm1d(2, affine=False, device="meta")) == torch.device("meta")
    assert device_of(nn.Identity()) is None


class Solved(nn.Module):
    """A closed form that notes where it is sent, and where it is when it is solved."""

    traits = Traits(closed_form=True)

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []

    def to(self, device):
        self.sent.append(device.type)
        return self

    def solve(self, windows):
        self.sent.append("solved")

    def forward(self, x):
        return x[:, -4:]


@pytest.mark.parametrize(("device", "walk"), [("mps", ["cpu", "solved", "mps"]), ("cuda", ["cuda", "solved", "cuda"])])
def test_a_closed_form_is_solved_where_there_are_doubles(monkeypatch, device, walk):
    """Apple's MPS has none: the sums are made on the CPU, and the model goes to its device afterwards."""
    moved = []
    monkeypatch.setattr(loop, "pick_device", lambda name: torch.device(device))
    monkeypatch.setattr(Windows, "to", lambda self, where: moved.append(where.type) or self)
    model = Solved()
    train(model, noise(), noise(seed=1))
    assert model.sent == walk
    assert moved == [walk[0], device, device]
