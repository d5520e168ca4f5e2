"""NormLin behind the interface of nn.MultiheadAttention: formula, shapes, masks, refusals."""

import numpy as np
import pytest
import torch
from plugin_parts import CAUSAL, K, M, count, tokens
from torch import nn

from olinear.core.errors import ConfigError, DataError
from olinear.models.plugins import NormLinAttention, swap_attention


class TestAttention:
    def test_equals_numpy(self):
        """W_post A W_pre x, with the value and output maps of the attention it replaces."""
        attention = nn.MultiheadAttention(M, 2, batch_first=True).double()
        nn.init.normal_(attention.in_proj_bias)
        nn.init.normal_(attention.out_proj.bias)
        swapped, x = swap_attention(attention, K), tokens(3, K, M).double()
        positive = np.log1p(np.exp(swapped.mixer.weight.detach().numpy()))
        matrix = positive / positive.sum(1, keepdims=True)
        w = {name: value.numpy() for name, value in attention.state_dict().items()}
        output, weights = swapped(x, x, x)
        for window, answer, seen in zip(x.numpy(), output.detach().numpy(), weights.detach().numpy(), strict=True):
            mixed = matrix @ (window @ w["in_proj_weight"][-M:].T + w["in_proj_bias"][-M:])
            np.testing.assert_allclose(answer, mixed @ w["out_proj.weight"].T + w["out_proj.bias"], atol=1e-12)
            np.testing.assert_allclose(seen, matrix, atol=1e-12)

    @pytest.mark.parametrize("batch_first", [True, False])
    @pytest.mark.parametrize("batched", [True, False])
    @pytest.mark.parametrize("options", [{}, {"need_weights": False}, {"average_attn_weights": False}], ids=str)
    def test_answers_in_the_shapes_of_attention(self, batch_first, batched, options):
        attention = nn.MultiheadAttention(M, 2, batch_first=batch_first)
        x = tokens(*([3] if batched else []), K, M)
        x = x if batch_first or not batched else x.transpose(0, 1)
        expected, answers = attention(x, x, x, **options), swap_attention(attention, K)(x, x, x, **options)
        assert [None if each is None else each.shape for each in answers] == [
            None if each is None else each.shape for each in expected
        ]

    def test_layouts_agree(self):
        first, last = NormLinAttention(M, K), NormLinAttention(M, K, batch_first=True)
        last.load_state_dict(first.state_dict())
        x = tokens(3, K, M)
        turned, one = x.transpose(0, 1), x[0]
        torch.testing.assert_close(first(turned, turned, turned)[0].transpose(0, 1), last(x, x, x)[0])
        torch.testing.assert_close(first(one, one, one)[0], last(x, x, x)[0][0])

    def test_positions_may_be_added_to_queries_and_keys(self):
        """A does not read them; only values are mixed."""
        layer, x = NormLinAttention(M, K, batch_first=True), tokens(3, K, M)
        placed = x + 1
        torch.testing.assert_close(layer(placed, placed, x)[0], layer(x, x, x)[0])

    def test_keeps_what_it_was_made_with(self):
        attention = nn.MultiheadAttention(M, 2, dropout=0.3, bias=False, dtype=torch.float64).eval()
        swapped = swap_attention(attention, K)
        assert swapped.mixer.dropout == 0.3
        assert swapped.pre.bias is None
        assert swapped.mixer.weight.dtype == torch.float64
        assert not swapped.training

    def test_parameters_fall_to_two_maps_and_a_matrix(self):
        attention = nn.MultiheadAttention(M, 2)
        assert count(attention) == 4 * (M * M + M)
        assert count(swap_attention(attention, K)) == 2 * (M * M + M) + K * K

    def test_gradient_reaches_every_parameter(self):
        layer, x = NormLinAttention(M, K, batch_first=True), tokens(3, K, M)
        layer(x, x, x)[0].square().sum().backward()
        assert all((parameter.grad != 0).any() for parameter in layer.parameters())

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"kdim": 4, "vdim": 4}, "another width"),
            ({"add_bias_kv": True}, "add_bias_kv"),
            ({"add_zero_attn": True}, "add_zero_attn"),
        ],
    )
    def test_what_it_cannot_stand_for_is_refused(self, options, message):
        with pytest.raises(ConfigError, match=f"the attention cannot be swapped: .*{message}"):
            swap_attention(nn.MultiheadAttention(M, 2, **options), K)

    def test_cross_attention_is_refused(self):
        layer, x = NormLinAttention(M, K, batch_first=True), tokens(3, K, M)
        with pytest.raises(ConfigError, match="two tensors: leave cross-attention as it is"):
            layer(x, x.clone(), x)

    @pytest.mark.parametrize(("causal", "count"), [(False, K + 1), (False, K - 1), (True, K + 1)])
    def test_another_number_of_tokens_is_refused(self, causal, count):
        x = tokens(3, count, M)
        with pytest.raises(DataError, match=f"swapped for 6 tokens, found {count}"):
            NormLinAttention(M, K, causal=causal, batch_first=True)(x, x, x)


class TestMasks:
    x = tokens(3, K, M)

    @pytest.mark.parametrize("mask", [CAUSAL, CAUSAL.isinf(), CAUSAL.expand(6, K, K)], ids=["float", "bool", "heads"])
    def test_a_causal_layer_takes_causal_masks_and_needs_none(self, mask):
        layer, x = NormLinAttention(M, K, causal=True, batch_first=True), self.x
        torch.testing.assert_close(layer(x, x, x, attn_mask=mask)[0], layer(x, x, x)[0], rtol=0, atol=0)
        torch.testing.assert_close(layer(x, x, x, attn_mask=mask, is_causal=True)[0], layer(x, x, x)[0])

    @pytest.mark.parametrize("length", range(1, K + 1))
    def test_a_causal_layer_serves_shorter_contexts(self, length):
        """A decoder that grows token by token: what it said of the first ones stays."""
        layer, x = NormLinAttention(M, K, causal=True, batch_first=True), self.x
        mask = nn.Transformer.generate_square_subsequent_mask(length)
        start = x[:, :length]
        output, weights = layer(start, start, start, attn_mask=mask)
        torch.testing.assert_close(output, layer(x, x, x)[0][:, :length])
        assert weights.shape == (3, length, length)
        torch.testing.assert_close(weights.sum(-1), torch.ones(3, length))

    def test_causal_means_causal(self):
        layer = NormLinAttention(M, K, causal=True, batch_first=True)
        x = self.x.clone().requires_grad_()
        layer(x, x, x)[0][:, 2].sum().backward()
        assert (x.grad[:, :3] != 0).all()
        assert (x.grad[:, 3:] == 0).all()

    @pytest.mark.parametrize("options", [{"attn_mask": CAUSAL}, {"attn_mask": CAUSAL, "is_causal": True}], ids=len)
    def test_another_layer_says_how_to_get_one(self, options):
        with pytest.raises(ConfigError, match="swap with causal=True"):
            NormLinAttention(M, K, batch_first=True)(self.x, self.x, self.x, **options)

    @pytest.mark.parametrize("mask", [CAUSAL.mT, torch.zeros(K, K), CAUSAL[:3, :3]], ids=["upper", "none", "small"])
    def test_other_masks_are_refused(self, mask):
        layer = NormLinAttention(M, K, causal=True, batch_first=True)
        with pytest.raises(ConfigError, match="not take other masks"):
            layer(self.x, self.x, self.x, attn_mask=mask)

    def test_padding_is_refused(self):
        padding = torch.zeros(3, K, dtype=torch.bool)
        with pytest.raises(ConfigError, match="cannot leave out padding"):
            NormLinAttention(M, K, batch_first=True)(self.x, self.x, self.x, key_padding_mask=padding)
