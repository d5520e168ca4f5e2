"""NormLin and SeriesLinear: what mixes the series."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from olinear.core.errors import ConfigError, DataError
from olinear.nn import LowRankNormLin, NormLin, SeriesLinear


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


class TestShorterContexts:
    """A decoder over time meets contexts of every length up to its own."""

    FORMS = pytest.mark.parametrize(
        "options",
        [
            {},
            {"transform": "softmax"},
            {"transform": "sigmoid"},
            {"fixed": features(8, 8)},
        ],
        ids=["softplus", "softmax", "sigmoid", "fixed"],
    )

    @FORMS
    def test_rows_sum_to_one_at_every_length(self, options):
        layer = NormLin(8, causal=True, **options).double()
        for length in range(1, 9):
            matrix = layer.matrix(length)
            assert matrix.shape == (length, length)
            assert (matrix.triu(1) == 0).all()
            torch.testing.assert_close(matrix.sum(1), torch.ones(length).double(), rtol=1e-6, atol=1e-6)

    @FORMS
    def test_what_comes_later_changes_nothing(self, options):
        """Neither other values nor a longer context: a forecast made then is still the forecast now."""
        layer, x = NormLin(8, causal=True, **options).double(), features(2, 8, 3)
        changed = x.clone()
        changed[:, 5:] += features(2, 3, 3, seed=1)
        torch.testing.assert_close(layer(changed)[:, :5], layer(x)[:, :5], rtol=0, atol=0)
        for length in range(1, 9):
            torch.testing.assert_close(layer(x[:, :length]), layer(x)[:, :length], rtol=1e-6, atol=1e-6)

    @pytest.mark.parametrize("norm", ["l1", "l2"])
    @pytest.mark.parametrize("causal", [True, False])
    def test_the_whole_is_the_matrix_bit_by_bit(self, norm, causal):
        layer = NormLin(8, causal=causal, norm=norm)
        positive = torch.nn.functional.softplus(layer.weight)
        positive = positive.tril() if causal else positive
        expected = torch.nn.functional.normalize(positive, p=int(norm[1]), dim=-1, eps=torch.finfo(torch.float32).tiny)
        assert torch.equal(layer.matrix(8), expected)
        assert torch.equal(layer.matrix(), expected)

    def test_the_mask_comes_before_the_normalisation(self):
        """The other reading, a mask on normalised rows, would leave sums below one."""
        layer = NormLin(3, causal=True).double()
        positive = torch.nn.functional.softplus(layer.weight)
        torch.testing.assert_close(layer.matrix(2)[1], positive[1, :2] / positive[1, :2].sum())

    def test_dropout_falls_on_the_shorter_matrix_too(self):
        layer = NormLin(60, causal=True, dropout=0.5).double().train()
        matrix, dropped = layer.matrix(40).detach(), layer(torch.eye(40).double()).detach()
        kept = dropped != 0
        assert 0.4 < kept.sum() / (matrix != 0).sum() < 0.6
        torch.testing.assert_close(dropped[kept], 2 * matrix[kept])

    @pytest.mark.parametrize("length", [0, 9])
    def test_no_context_is_longer_than_the_layer_or_empty(self, length):
        layer = NormLin(8, causal=True)
        for call in (lambda: layer.matrix(length), lambda: layer(torch.zeros(2, length, 3))):
            with pytest.raises(DataError, match=f"a causal NormLin of 8 must have 1 to 8 tokens, found {length}"):
                call()

    @pytest.mark.parametrize("layer", [NormLin(8), NormLin(8, fixed=np.eye(8)), LowRankNormLin(8, rank=2)], ids=str)
    def test_without_a_mask_every_token_is_needed(self, layer):
        with pytest.raises(DataError, match="must have 8 tokens, found 5: only a causal one takes less"):
            layer.matrix(5)

    def test_nor_is_a_shorter_input_stretched_silently(self):
        with pytest.raises(DataError, match="must have 8 tokens, found 5"):
            NormLin(8)(torch.zeros(2, 5, 3))


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
