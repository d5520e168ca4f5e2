"""NormLin in the place of attention inside PyTorch's own layers and a user's modules."""

from functools import partial

import numpy as np
import pytest
import torch
from plugin_parts import CAUSAL, K, M, count, tokens
from torch import nn

from olinear.core.errors import ConfigError
from olinear.models import MODELS
from olinear.models.plugins import NormLinAttention, swap_attention
from olinear.nn import LowRankNormLin, NormLin


def make_layer(**options):
    return nn.TransformerEncoderLayer(M, 2, **({"batch_first": True, "dim_feedforward": 16, "dropout": 0.0} | options))


def make_encoder(layers=2, **options):
    layer = make_layer(**options)
    fused = layer.self_attn.batch_first and not layer.norm_first  # PyTorch warns of what cannot be
    return nn.TransformerEncoder(layer, layers, enable_nested_tensor=fused)


@pytest.fixture(params=[True, False], ids=["fast path on", "fast path off"])
def fast_path(request):
    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(request.param)
    yield request.param
    torch.backends.mha.set_fastpath_enabled(before)


def slow_layer(layer, x):
    """A TransformerEncoderLayer as PyTorch describes it, with a NormLin for its attention."""

    def mix(x):
        return layer.self_attn.post(layer.self_attn.mixer(layer.self_attn.pre(x)))

    def along(x):
        return layer.linear2(layer.activation(layer.linear1(x)))

    if layer.norm_first:
        x = x + mix(layer.norm1(x))
        return x + along(layer.norm2(x))
    x = layer.norm1(x + mix(x))
    return layer.norm2(x + along(x))


class TestInsideTransformers:
    """In evaluation PyTorch hands a layer's weights to one fused kernel; it must not with a NormLin there."""

    @pytest.mark.parametrize(
        "options", [{}, {"norm_first": True}, {"batch_first": False}, {"activation": "gelu"}], ids=str
    )
    @pytest.mark.parametrize("mode", ["train", "eval", "no_grad", "inference_mode"])
    def test_every_way_of_calling_is_the_same_function(self, fast_path, options, mode):
        encoder = swap_attention(make_encoder(**options), K).train(mode == "train")
        x = tokens(3, K, M)
        expected = slow_layer(encoder.layers[1], slow_layer(encoder.layers[0], x))
        given = x if options.get("batch_first", True) else x.transpose(0, 1)
        context = {"no_grad": torch.no_grad, "inference_mode": torch.inference_mode}.get(mode, torch.enable_grad)
        with context():
            output = encoder(given)
        torch.testing.assert_close(output if given is x else output.transpose(0, 1), expected)

    def test_a_layer_alone(self, fast_path):
        layer, x = swap_attention(make_layer(), K).eval(), tokens(3, K, M)
        with torch.inference_mode():
            torch.testing.assert_close(layer(x), slow_layer(layer, x))

    @pytest.mark.parametrize("mode", [True, False])
    def test_a_decoder_over_time(self, fast_path, mode):
        """As Timer in the paper: encoder layers, a causal mask."""
        encoder, x = swap_attention(make_encoder(), K, causal=True).train(mode), tokens(3, K, M)
        with torch.no_grad():
            later = x.clone()
            later[:, 4:] += 1
            outputs = [encoder(each, mask=CAUSAL) for each in (x, later)]
            torch.testing.assert_close(outputs[0], encoder(x, mask=CAUSAL, is_causal=True))
            torch.testing.assert_close(outputs[0], slow_layer(encoder.layers[1], slow_layer(encoder.layers[0], x)))
        torch.testing.assert_close(outputs[0][:, :4], outputs[1][:, :4])

    @pytest.mark.parametrize("mode", [True, False])
    def test_masks_are_refused_where_they_come_in(self, fast_path, mode):
        """PyTorch may fold padding into nested tensors on the way: the layer would not see it."""
        encoder, x = swap_attention(make_encoder(), K).train(mode), tokens(3, K, M)
        padding = torch.zeros(3, K, dtype=torch.bool)
        padding[:, 4:] = True
        with torch.no_grad():
            with pytest.raises(ConfigError, match="cannot leave out padding"):
                encoder(x, src_key_padding_mask=padding)
            with pytest.raises(ConfigError, match="swap with causal=True"):
                encoder(x, mask=CAUSAL)

    def test_parameters_fall_in_every_layer(self):
        encoder = make_encoder(3)
        fall = 2 * (M * M + M) - K * K
        assert count(encoder) - count(swap_attention(encoder, K)) == 3 * fall

    def test_it_learns(self):
        encoder, x = swap_attention(make_encoder(1), K), tokens(3, K, M)
        optimiser, losses = torch.optim.Adam(encoder.parameters(), 0.01), []
        for _ in range(50):
            loss = (encoder(x) - x.roll(1, 1)).square().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        assert losses[-1] < 0.5 * losses[0]

    def test_state_can_be_saved(self):
        one, other = swap_attention(make_encoder(), K), swap_attention(make_encoder(), K)
        assert "layers.0.self_attn.mixer.weight" in one.state_dict()
        other.load_state_dict(one.state_dict())
        x = tokens(3, K, M)
        torch.testing.assert_close(other(x), one(x), rtol=0, atol=0)

    def test_a_swapped_layer_can_be_stacked(self):
        encoder = nn.TransformerEncoder(swap_attention(make_layer(), K), 2, enable_nested_tensor=False).eval()
        assert encoder(tokens(3, K, M)).shape == (3, K, M)


class Mine(nn.Module):
    """A user's module: two attentions over different tokens, one of them in two places."""

    def __init__(self):
        super().__init__()
        self.series, self.steps = (nn.MultiheadAttention(M, 2, batch_first=True) for _ in range(2))
        self.again = self.series


class TestSwapping:
    def test_leaves_the_module_as_it_was(self):
        encoder = make_encoder()
        swapped = swap_attention(encoder, K)
        assert all(isinstance(layer.self_attn, nn.MultiheadAttention) for layer in encoder.layers)
        assert all(isinstance(layer.self_attn, NormLinAttention) for layer in swapped.layers)

    def test_or_changes_it_in_place(self):
        encoder = make_encoder()
        assert swap_attention(encoder, K, copy=False) is encoder
        assert not any(isinstance(module, nn.MultiheadAttention) for module in encoder.modules())

    def test_counts_by_name_and_the_others_stay(self):
        swapped = swap_attention(Mine(), {"steps": 12})
        assert swapped.steps.tokens == 12
        assert isinstance(swapped.series, nn.MultiheadAttention)

    @pytest.mark.parametrize("tokens", [K, {"series": K, "steps": 12}, {"steps": 12, "again": K}], ids=str)
    def test_one_attention_in_two_places_stays_one(self, tokens):
        swapped = swap_attention(Mine(), tokens)
        assert isinstance(swapped.series, NormLinAttention)
        assert swapped.again is swapped.series
        assert swapped.steps is not swapped.series

    def test_frozen_maps_stay_frozen_and_the_matrix_learns(self):
        swapped = swap_attention(nn.MultiheadAttention(M, 2).requires_grad_(False), K)
        assert [name for name, each in swapped.named_parameters() if each.requires_grad] == ["mixer.weight"]

    def test_only_encoders_that_hold_a_normlin_lose_nested_tensors(self):
        both = nn.ModuleDict({"kept": make_encoder(1), "changed": make_encoder(1)})
        swapped = swap_attention(both, {"changed.layers.0.self_attn": K})
        assert (swapped["kept"].use_nested_tensor, swapped["changed"].use_nested_tensor) == (True, False)

    def test_attention_with_a_computation_of_its_own_is_refused(self):
        class Rotary(nn.MultiheadAttention):
            def forward(self, *inputs, **options):
                raise NotImplementedError

        with pytest.raises(ConfigError, match="Rotary computes something of its own"):
            swap_attention(Rotary(M, 2), K)

    @pytest.mark.parametrize(
        "mixer", ["normlin", partial(NormLin, norm="l2"), partial(LowRankNormLin, rank=2)], ids=["name", "l2", "low"]
    )
    def test_other_forms_of_normlin(self, mixer):
        swapped, x = swap_attention(make_layer(), K, mixer=mixer), tokens(3, K, M)
        torch.testing.assert_close(swapped(x), slow_layer(swapped, x))
        assert swapped.self_attn(x, x, x)[1].shape == (3, K, K)

    def test_a_causal_one_is_asked_for_by_name_too(self):
        assert swap_attention(make_layer(), K, causal=True, mixer="normlin").self_attn.mixer.causal

    @pytest.mark.parametrize("mixer", ["linear", "flowformer"])
    def test_what_has_no_matrix_cannot_stand_for_attention_weights(self, mixer):
        with pytest.raises(ConfigError, match="has no matrix to stand for attention weights: pass 'normlin'"):
            swap_attention(make_layer(), K, mixer=mixer)

    def test_a_decoder_with_cross_attention_says_what_to_name(self):
        decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(M, 2, 16, batch_first=True), 1)
        with pytest.raises(ConfigError, match=r"layers.0.multihead_attn is cross-attention.*'layers.0.self_attn'"):
            swap_attention(decoder, K)
        swapped = swap_attention(decoder, {"layers.0.self_attn": K}, causal=True).eval()
        x, memory = tokens(3, K, M), tokens(3, 4, M)
        assert swapped(x, memory, tgt_mask=CAUSAL).shape == (3, K, M)

    def test_the_number_of_tokens_may_come_from_numpy(self):
        swapped = swap_attention(nn.MultiheadAttention(8, 2), np.int64(6))
        assert swapped.tokens == 6

    @pytest.mark.parametrize("tokens", [0, 7.9])
    def test_tokens_are_counted_in_whole_numbers_from_one(self, tokens):
        with pytest.raises(ConfigError, match=f"tokens must be a whole number, at least 1, found {tokens}"):
            swap_attention(nn.MultiheadAttention(8, 2), tokens)

    def test_a_mistake_leaves_the_module_whole(self):
        module = nn.ModuleList([nn.MultiheadAttention(M, 2), nn.MultiheadAttention(M, 2, add_zero_attn=True)])
        with pytest.raises(ConfigError, match="1 cannot be swapped"):
            swap_attention(module, K, copy=False)
        assert all(isinstance(each, nn.MultiheadAttention) for each in module)

    def test_mistakes_are_named(self):
        with pytest.raises(ConfigError, match="no attention is called 'step': there are series, steps, again"):
            swap_attention(Mine(), {"step": 12})
        with pytest.raises(ConfigError, match=r"holds no nn.MultiheadAttention: .*take mixer='normlin'"):
            swap_attention(MODELS.find("iTransformer").load()(3, 12, 6, model_dim=8), 3)
