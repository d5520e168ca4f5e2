"""The decoder over patches: nothing of the future reaches a forecast, and both mixers stand on the same ground."""

import numpy as np
import pytest
import torch
from zoo_parts import attention, count, gelu, layer_norm, linear, randomised, weights_of, windows

from olinear.core import ConfigError
from olinear.models.zoo.patch_decoder import PatchDecoder, running_statistics

PATCH, TOKENS, HEADS = 4, 5, 2
MIXERS = ("normlin", "attention")


def decoder(mixer, horizon=PATCH, lookback=PATCH * TOKENS, **options):
    small = {"patch_length": PATCH, "context": PATCH * TOKENS, "model_dim": 8, "blocks": 2, "heads": HEADS}
    torch.manual_seed(0)
    return randomised(PatchDecoder(1, lookback, horizon, **small | options, dropout=0.0, mixer=mixer))


def by_hand(x, w, mixer):  # t of one series
    """Every patch's forecast of the next, patch by patch."""
    patches = x.reshape(-1, PATCH)
    seen = [x[: PATCH * (j + 1)] for j in range(len(patches))]
    level = np.array([part.mean() for part in seen])[:, None]
    scale = np.sqrt(np.array([part.var() for part in seen]) + 1e-5)[:, None]
    tokens = linear((patches - level) / scale, w, "embed") + w["position"][: len(patches)]
    for block in (name for name in ("blocks.0", "blocks.1")):
        inner = layer_norm(tokens, w, f"{block}.mix_norm")
        if mixer == "normlin":
            positive = np.tril(np.log1p(np.exp(w[f"{block}.mix.normlin.weight"][: len(tokens), : len(tokens)])))
            mixed = positive / positive.sum(1, keepdims=True) @ linear(inner, w, f"{block}.mix.pre")
            tokens = tokens + linear(mixed, w, f"{block}.mix.post")
        else:  # the last token of each beginning is all that may look back on it
            parts = [attention(inner[: j + 1], w, f"{block}.mix", HEADS)[0][-1] for j in range(len(tokens))]
            tokens = tokens + np.stack(parts)
        inner = layer_norm(tokens, w, f"{block}.forward_norm")
        hidden = gelu(linear(inner, w, f"{block}.feed_forward.0"))
        tokens = tokens + linear(hidden, w, f"{block}.feed_forward.3")
    return (linear(layer_norm(tokens, w, "blocks.2"), w, "head") * scale + level).ravel()


@pytest.mark.parametrize("mixer", MIXERS)
class TestEither:
    def test_equals_numpy(self, mixer):
        model, x = decoder(mixer), windows(2, PATCH * TOKENS, 3)
        found = model.next_patches(x).detach().numpy()
        for b, n in np.ndindex(2, 3):
            np.testing.assert_allclose(found[b, :, n], by_hand(x[b, :, n].numpy(), weights_of(model), mixer))

    def test_a_forecast_does_not_change_when_later_patches_do(self, mixer):
        """Not at any position, to the last bit: neither through tokens nor through what normalises them."""
        model, x = decoder(mixer), windows(2, PATCH * TOKENS, 3)
        before = model.next_patches(x)
        for known in range(PATCH, PATCH * TOKENS, PATCH):
            changed = x.clone()
            changed[:, known:] = 100 * torch.randn_like(changed[:, known:])
            after = model.next_patches(changed)
            assert torch.equal(after[:, :known], before[:, :known])
            assert (after[:, known:] != before[:, known:]).all()

    def test_every_earlier_patch_counts(self, mixer):
        model, x = decoder(mixer), windows(1, PATCH * TOKENS, 1).requires_grad_()
        (gradient,) = torch.autograd.grad(model(x).square().sum(), x)
        assert gradient.reshape(TOKENS, PATCH).any(1).all()

    def test_a_shorter_context_is_the_beginning_of_a_longer_one(self, mixer):
        model, x = decoder(mixer), windows(2, PATCH * TOKENS, 3)
        whole = model.next_patches(x)
        for known in range(PATCH, PATCH * TOKENS + 1, PATCH):
            torch.testing.assert_close(model(x[:, :known]), whole[:, known - PATCH : known])

    def test_a_longer_horizon_feeds_forecasts_back_in(self, mixer):
        """Patch after patch, of which the context holds so many."""
        one, more = decoder(mixer), decoder(mixer, horizon=3 * PATCH - 1)
        x = windows(2, PATCH * TOKENS - 2, 3)
        rows = x
        for _ in range(3):
            rows = torch.cat([rows, one(rows)], 1)
        torch.testing.assert_close(more(x), rows[:, x.shape[1] : x.shape[1] + 3 * PATCH - 1])

    def test_what_lies_before_the_context_does_not_count(self, mixer):
        model, x = decoder(mixer), windows(2, PATCH * TOKENS, 3)
        assert torch.equal(model(torch.cat([100 + x, x], 1)), model(x))

    def test_an_incomplete_first_patch_is_filled_with_what_is_not_known(self, mixer):
        model, x = decoder(mixer), windows(2, PATCH * TOKENS, 3)
        hidden = x.clone()
        hidden[:, :3] = torch.nan
        assert torch.equal(model(x[:, 3:]), model(hidden))
        assert model(hidden).isfinite().all()

    def test_it_follows_scale_and_level(self, mixer):
        """But for ε, which matters where nothing moves."""
        model, x = decoder(mixer), windows(2, PATCH * TOKENS, 3)
        torch.testing.assert_close(model(20 * x - 7), 20 * model(x) - 7, rtol=1e-3, atol=1e-2)

    def test_next_patches_are_of_whole_patches_within_the_context(self, mixer):
        for rows in (PATCH * TOKENS - 1, PATCH * (TOKENS + 1)):
            with pytest.raises(ConfigError, match=f"whole patches of 4 rows, 5 at the most, found {rows} rows"):
                decoder(mixer).next_patches(windows(1, rows, 1))


def test_running_statistics_are_those_of_all_known_values_so_far():
    patches = windows(3, PATCH * TOKENS, 1)[..., 0] + 1e3
    patches[0, 2:7], patches[1, :PATCH] = torch.nan, torch.nan
    mean, deviation = running_statistics(patches.unflatten(1, (-1, PATCH)))
    for row, j in np.ndindex(3, TOKENS):
        seen = patches[row, : PATCH * (j + 1)].numpy()
        seen = seen[~np.isnan(seen)]
        expected = (seen.mean(), np.sqrt(seen.var() + 1e-5)) if len(seen) else (0.0, np.sqrt(1e-5))
        np.testing.assert_allclose((mean[row, j, 0], deviation[row, j, 0]), expected, rtol=1e-7)


@pytest.mark.parametrize("model_dim", [64, 128])
def test_both_mixers_come_to_the_same_number_of_parameters(model_dim):
    sizes = [count(PatchDecoder(1, 672, 96, patch_length=96, model_dim=model_dim, mixer=mixer)) for mixer in MIXERS]
    assert abs(sizes[0] / sizes[1] - 1) < 0.005


def test_what_cannot_be_causal_is_refused():
    with pytest.raises(ConfigError, match="mamba has no causal form: causal are normlin, attention"):
        PatchDecoder(1, 96, 24, mixer="mamba")
    with pytest.raises(ConfigError, match="patch_length and context must be at least 1, found 0 and 96"):
        PatchDecoder(1, 96, 24, patch_length=0)
