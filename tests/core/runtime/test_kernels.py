"""Whose kernels multiply: tried before they are trusted, measured before they are taken."""

import pytest
import torch

from olinear.core.runtime import computing_in, kernels, present_kernels, quicker_kernels
from olinear.core.runtime.allocation import USUAL, _glibc, keeping_memory


@pytest.fixture
def anew(monkeypatch):
    """As a fresh process finds it."""
    for function in (kernels.has_onednn, kernels.quicker_kernels):
        function.cache_clear()
    yield monkeypatch
    monkeypatch.undo()
    for function in (kernels.has_onednn, kernels.quicker_kernels):
        function.cache_clear()


def absent(*arguments, **options):
    raise AttributeError("no such kernel")


def wrong(x, weight, bias=None, *, gelu=False):
    return torch.zeros(len(x), len(weight))


@pytest.mark.parametrize("kernel", [absent, wrong])
def test_kernels_that_are_not_there_or_wrong_are_not_used(anew, kernel):
    anew.setattr(kernels, "onednn_linear", kernel)
    assert kernels.has_onednn() is False
    assert quicker_kernels() == "torch"
    with computing_in("float32", "onednn"):
        assert present_kernels() == "torch"


@pytest.mark.parametrize(("other", "expected"), [(1.0, "torch"), (0.8, "torch"), (0.5, "onednn")])
def test_the_quicker_ones_are_taken_and_threads_left_alone(anew, other, expected):
    anew.setattr(kernels, "has_onednn", lambda: True)
    anew.setattr(kernels, "best_times", lambda *sides, **_: [1.0, other])
    threads = torch.get_num_threads()
    assert quicker_kernels() == expected
    assert torch.get_num_threads() == threads


def test_memory_that_is_kept_is_given_back():
    """What a step needs again stays; after the last one it goes."""
    assert set(USUAL) == {-1, -3}
    with keeping_memory():
        with keeping_memory():
            large = torch.ones(64, 2**20)
        del large
    assert float(torch.ones(3).sum()) == 3


@pytest.mark.skipif(_glibc() is None, reason="this is not glibc")
def test_freed_memory_is_not_taken_anew():
    import resource

    def faults() -> int:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        torch.ones(12, 2**20)
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

    with keeping_memory():
        faults()
        assert min(faults() for _ in range(20)) < 100  # of 12,288 pages; other work may take some
