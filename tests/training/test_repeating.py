"""One seed, one run: the same weights bit by bit, whatever the caller's random state is."""

import pytest
import torch
from training_parts import (
    Recorder,
    equal,
    noise,
    numbered,
    run,
    small_olinear,
    weights_of,
    without_seconds,
)

from olinear.training import TrainingConfig


def trained(seed: int = 7, caller_seed: int = 0, **settings):
    torch.manual_seed(caller_seed)
    model = small_olinear()
    report = run(model, noise(), noise(seed=1), seed=seed, max_epochs=3, batch_size=4, average_decay=0.9, **settings)
    return weights_of(model), without_seconds(report)


def test_two_runs_are_equal_bit_by_bit():
    """Dropout and shuffle follow the seed of the config, whatever the caller's random state is."""
    first, second = trained(caller_seed=1), trained(caller_seed=2)
    assert equal(first[0], second[0])
    assert first[1] == second[1]


def test_another_seed_is_another_run():
    assert trained(seed=7)[1] != trained(seed=8)[1]


def test_the_seed_moves_shuffle_and_dropout():
    def orders(seed):
        model = Recorder()
        run(model, numbered(31), None, max_epochs=1, seed=seed)
        return model.trained[0]

    assert not torch.equal(orders(1), orders(2))
    models = [small_olinear(dropout=0.5) for _ in range(2)]
    reports = [run(model, noise(12), None, max_epochs=1, seed=seed) for seed, model in enumerate(models)]  # one window
    assert reports[0].history[0]["training_loss"] != reports[1].history[0]["training_loss"]


def test_the_callers_random_state_is_untouched():
    before = torch.get_rng_state()
    run(small_olinear(dropout=0.5), noise(), noise(seed=1), max_epochs=2)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_it_repeats_in_each_precision(precision):
    first, second = trained(precision=precision), trained(precision=precision)
    assert equal(first[0], second[0])
    assert first[1] == second[1]
    assert all(tensor.dtype == torch.float32 for tensor in first[0].values() if tensor.is_floating_point())


def test_bfloat16_is_near_float32_and_not_the_same():
    plain, other = trained(), trained(precision="bfloat16")
    assert not equal(plain[0], other[0])
    for name, tensor in plain[0].items():
        torch.testing.assert_close(other[0][name], tensor, rtol=0.2, atol=0.05)


def test_the_switch_of_the_version_before_still_works_with_a_warning():
    with pytest.warns(FutureWarning, match="mixed_precision= is precision='bfloat16' now"):
        assert TrainingConfig(mixed_precision=True).precision == "bfloat16"
    with pytest.warns(FutureWarning, match="float32"):
        assert TrainingConfig(mixed_precision=False).precision == "float32"
