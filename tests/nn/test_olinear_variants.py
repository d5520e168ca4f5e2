"""Every ablation keeps the contract of the model: shapes, gradients, saving, precision."""

from functools import partial

import numpy as np
import pytest
import torch
from olinear_parts import H, N, T, count, random_basis, randomised, small, windows
from safetensors.torch import load_file, save_file
from torch import nn

from olinear.nn import NormLin, OLinear, OrthoTrans


def identity_mixer(n_series, model_dim, *, dropout):
    return nn.Identity()


ABLATIONS = {
    "paper": {},
    "olinear-c": {"mixer": partial(NormLin, fixed=np.eye(N), transform="softmax")},
    "l2 softmax": {"mixer": partial(NormLin, transform="softmax", norm="l2")},
    "linear mixer": {"mixer": "linear", "pre_linear": False, "post_linear": False},
    "no csl": {"mixer": None},
    "own mixer": {"mixer": identity_mixer},
    "temporal normlin": {"temporal": "normlin"},
    "no isl": {"temporal": None},
    "neither": {"mixer": None, "temporal": None},
    "no pre": {"pre_linear": False},
    "no post": {"post_linear": False},
    "linear head": {"head": "linear"},
    "no blocks": {"blocks": 0},
    "no transforms": {"input_transform": None, "output_transform": None},
    "no input transform": {"input_transform": None},
    "no output transform": {"output_transform": None},
    "no affine": {"affine": False},
    "wide feed-forward": {"ff_dim": 20},
    "one copy": {"embed_dim": 1},
    "dropout": {"dropout": 0.2},
    "no offsets": {"offsets": False},
    "text": {"form": "text", "head": "linear"},
    "text with two layers": {"form": "text", "dropout": 0.2},
    "one encoder": {"encoder": "linear"},
    "normlin alone": {"encoder": "normlin", "offsets": False},
}


@pytest.mark.parametrize("options", ABLATIONS.values(), ids=ABLATIONS)
class TestContract:
    """What holds for every variant of the paper."""

    def test_shape_and_gradient(self, options):
        model = small(**options)
        output = model(windows())
        assert output.shape == (4, H, N)
        assert output.dtype == torch.float64
        assert output.isfinite().all()
        output.square().sum().backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None, name
            assert parameter.grad.isfinite().all(), name
            assert (parameter.grad != 0).any(), name

    def test_saving_and_loading_is_bit_identical(self, options, tmp_path):
        model, other, x = randomised(small(**options)), small(**options).eval(), windows()
        save_file(model.state_dict(), tmp_path / "model.safetensors")
        other.load_state_dict(load_file(tmp_path / "model.safetensors"))
        assert torch.equal(other(x), model(x))

    def test_moves_to_float32(self, options):
        assert small(**options).float()(windows().float()).dtype == torch.float32


def test_ablations_change_the_parameters_they_name():
    whole = count(small())
    square = 8 * 8 + 8
    assert whole - count(small(pre_linear=False)) == 2 * square
    assert whole - count(small(post_linear=False)) == 2 * square
    assert whole - count(small(mixer=None)) == 2 * (2 * square + N * N + 16)
    assert whole - count(small(temporal=None)) == 2 * (2 * square + 16)
    assert whole - count(small(blocks=1)) == (2 * square + N * N + 16) + (2 * square + 16)
    assert whole - count(small(affine=False)) == 2 * N
    assert whole - count(small(offsets=False)) == N * (T + H)
    assert whole - count(small(encoder="linear")) == 2 * (2 * square + N * N + 16 + 2 * square + 16) - (N * N + N) + 16
    assert count(small(head="linear")) - whole == (4 * H * H + H) - (4 * H * 8 + 8 + 8 * H + H)


def test_without_a_transform_it_is_the_time_domain():
    model = OLinear(N, T, H, model_dim=8)
    torch.testing.assert_close(model.input_transform.basis, torch.eye(T))
    torch.testing.assert_close(model.output_transform.basis, torch.eye(H))


def test_bases_are_saved_but_never_trained():
    model = small()
    bases = {"input_transform.basis", "output_transform.basis"}
    assert bases <= set(model.state_dict())
    assert not bases & {name for name, _ in model.named_parameters()}


def test_one_transform_on_both_sides_can_be_saved(tmp_path):
    """With lookback = horizon one fitted transform serves both; safetensors refuses tensors that share memory."""
    transform = OrthoTrans(random_basis(T))
    model = small(horizon=T, input_transform=transform, output_transform=transform)
    save_file(model.state_dict(), tmp_path / "model.safetensors")
    torch.testing.assert_close(load_file(tmp_path / "model.safetensors"), model.state_dict(), rtol=0, atol=0)


def test_overfits_one_batch():
    """A model that cannot learn four windows by heart has a broken path somewhere."""
    model = small(model_dim=32, blocks=1).float()
    x, y = windows().float(), windows(lookback=H, seed=1).float()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(60):
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert (model(x) - y).square().mean() < 0.01 * y.var()
