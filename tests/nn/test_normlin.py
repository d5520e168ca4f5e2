"""NormLin and SeriesLinear: what mixes the series."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from olinear.core.errors import ConfigError, DataError
from olinear.nn import NormLin, SeriesLinear


def features(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def test_equals_numpy():
    layer, x = NormLin(5).double(), features(3, 5, 4)
    positive = np.log1p(np.exp(layer.weight.detach().numpy()))
    matrix = positive / positive.sum(1)[:, None]
    np.testing.assert_allclose(layer.matrix().detach(), matrix, rtol=1e-12)
    for output, window in zip(layer(x).detach().numpy(), x.numpy(), strict=True):
        np.testing.assert_allclose(output, matrix @ window, atol=1e-12)


@pytest.mark.parametrize("shape", [(4, 3), (2, 4, 3), (2, 5, 4, 3), (1, 4, 1)])
def test_mixes_the_second_to_last_axis(shape):
    layer = NormLin(4).double()
    assert layer(features(*shape)).shape == shape


def test_keeps_what_all_series_share():
    """Rows sum to one, so a value common to all series passes unchanged."""
    layer = NormLin(6).double()
    common = features(2, 1, 3).expand(2, 6, 3)
    torch.testing.assert_close(layer(common), common)


def test_starts_as_identity_plus_standard_normal():
    noise = NormLin(300).weight.detach().numpy() - np.eye(300)
    assert abs(noise.mean()) < 0.02  # 90,000 draws: standard error 0.003
    assert abs(noise.std() - 1) < 0.02
    assert abs(np.diag(noise).mean()) < 0.3  # 300 draws: standard error 0.06


def test_weight_is_the_one_parameter():
    layer = NormLin(7)
    assert {name: tuple(value.shape) for name, value in layer.named_parameters()} == {"weight": (7, 7)}
    assert list(layer.state_dict()) == ["weight"]
    layer(torch.randn(2, 7, 3)).square().sum().backward()
    assert (layer.weight.grad != 0).all()


class TestFixed:
    """OLinear-C: a constant matrix in the place of the learnt one."""

    def test_equals_numpy(self):
        correlation = np.corrcoef(np.random.default_rng(0).normal(size=(5, 40)))
        layer = NormLin(5, fixed=correlation, transform="softmax").double()
        x = features(2, 5, 3)
        np.testing.assert_allclose(layer(x), softmax(correlation, axis=1) @ x.numpy(), atol=1e-6)

    def test_has_no_parameters_but_is_saved(self):
        layer = NormLin(5, fixed=np.eye(5))
        assert not list(layer.parameters())
        assert list(layer.state_dict()) == ["fixed"]

    def test_training_changes_nothing(self):
        layer, x = NormLin(5, fixed=np.eye(5)), torch.randn(2, 5, 3)
        before = layer.matrix().clone()
        torch.testing.assert_close(layer.train()(x), layer.eval()(x), rtol=0, atol=0)
        torch.testing.assert_close(layer.matrix(), before, rtol=0, atol=0)

    def test_dropout_falls_on_it_all_the_same(self):
        layer = NormLin(30, fixed=np.eye(30), dropout=0.5).train()
        assert (layer(torch.eye(30)) == 0).any()
        assert (layer.eval()(torch.eye(30)) > 0).all()

    def test_takes_integers_and_tensors(self):
        from_list = NormLin(2, fixed=[[2, 0], [1, 3]], transform="identity").matrix()
        torch.testing.assert_close(from_list, torch.tensor([[1.0, 0.0], [0.25, 0.75]]))
        torch.testing.assert_close(NormLin(2, fixed=from_list, transform="identity").matrix(), from_list)

    @pytest.mark.parametrize("shape", [(4, 4), (5, 4), (5,)])
    def test_must_have_the_size_of_the_series(self, shape):
        with pytest.raises(DataError, match=r"shape \(5, 5\), found"):
            NormLin(5, fixed=np.ones(shape))


class TestDropout:
    def test_zeroes_entries_of_the_matrix_and_scales_the_rest(self):
        """The experiments drop entries of A, not features: the same entry for the whole batch and width."""
        layer = NormLin(40, dropout=0.25).double().train()
        matrix = layer.matrix().detach()
        dropped = layer(torch.eye(40, dtype=torch.float64)).detach()
        zero = dropped == 0
        assert 0.15 < zero.double().mean() < 0.35
        torch.testing.assert_close(dropped[~zero], matrix[~zero] / 0.75)

    def test_is_one_matrix_for_the_batch(self):
        layer = NormLin(8, dropout=0.5).train()
        one, other = layer(torch.randn(1, 8, 3).expand(2, 8, 3))
        torch.testing.assert_close(one, other)

    def test_rests_in_evaluation(self):
        layer, x = NormLin(8, dropout=0.5).eval(), torch.randn(2, 8, 3)
        torch.testing.assert_close(layer(x), layer.matrix() @ x)


@pytest.mark.parametrize("transform", ["softplus", "softmax", "sigmoid", "identity"])
def test_causal_output_depends_on_the_past_only(transform):
    layer = NormLin(6, causal=True, transform=transform)
    for position in range(6):
        x = torch.randn(6, 2, requires_grad=True)
        layer(x)[position].sum().backward()
        assert (x.grad[: position + 1] != 0).all()
        assert (x.grad[position + 1 :] == 0).all()


@given(order=st.permutations(range(6)), norm=st.sampled_from(["l1", "l2"]), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_permuting_series_and_weight_permutes_the_output(order, norm, seed):
    """No series has a special place: only the weight knows who is who."""
    layer, permuted, x = NormLin(6, norm=norm).double(), NormLin(6, norm=norm).double(), features(2, 6, 3, seed=seed)
    permuted.weight.data = layer.weight.data[order][:, order]
    torch.testing.assert_close(permuted(x[:, order]), layer(x)[:, order])


@pytest.mark.parametrize(("argument", "value"), [("transform", "exp"), ("norm", "l0")])
def test_unknown_variants_are_refused_at_once(argument, value):
    with pytest.raises(ConfigError, match=f"{argument} must be one of .*'{value}'"):
        NormLin(3, **{argument: value})


def test_says_what_it_is():
    assert "4, learnt, softplus, l2, causal=True, dropout=0.1" in repr(NormLin(4, norm="l2", causal=True, dropout=0.1))
    assert "fixed, softmax" in repr(NormLin(4, fixed=torch.eye(4), transform="softmax"))


def test_series_linear_equals_numpy():
    layer, x = SeriesLinear(5).double(), features(3, 5, 4)
    weight, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    expected = np.stack([weight @ window + bias[:, None] for window in x.numpy()])
    np.testing.assert_allclose(layer(x).detach(), expected, atol=1e-12)
    assert layer(x[0]).shape == (5, 4)
