"""Attention shows its weights to those who ask, computes as before, and is left as it was."""

import pytest
import torch

from olinear.models import MIXERS, build_model
from olinear.models.zoo import watching
from olinear.models.zoo.blocks.attention import CrossAttention, EnhancedAttention, SelfAttention, merge_heads

KINDS = {"self": SelfAttention(8, heads=2), "enhanced": EnhancedAttention(5, 8, heads=2)}


@pytest.mark.parametrize("kind", KINDS)
def test_the_weights_make_the_output(kind):
    """Rows sum to one, and the values weighted by them are what the fused kernel gives."""
    layer, x = KINDS[kind].eval(), torch.randn(3, 5, 8)
    with torch.no_grad(), watching(layer) as seen:
        y = layer(x)
    (found,) = seen
    assert found.weights.shape == (3, 2, 5, 5)
    torch.testing.assert_close(found.weights.sum(-1), torch.ones(3, 2, 5))
    *_, value = layer.split(x)
    torch.testing.assert_close(layer.output(merge_heads(found.weights @ value)), y, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(layer(x), y)
    assert (found.scores is None) == (kind == "enhanced")


def test_scores_that_are_handed_on_count():
    """PatchTST adds the scores of the layer before: what is seen is the softmax of the sum."""
    layer, x, earlier = SelfAttention(8, heads=2), torch.randn(1, 5, 8), torch.randn(1, 2, 5, 5)
    with torch.no_grad(), watching(layer) as seen:
        y, scores = layer.scored(x, earlier)
    torch.testing.assert_close(seen[0].weights, scores.softmax(-1))
    *_, value = layer.split(x)
    torch.testing.assert_close(layer.output(merge_heads(seen[0].weights @ value)), y)
    assert seen[0].scores is not None
    torch.testing.assert_close(seen[0].scores, scores)


def test_cross_attention_has_a_column_for_each_token_of_the_other():
    layer = CrossAttention(8, heads=2)
    with torch.no_grad(), watching(layer) as seen:
        layer(torch.randn(1, 3, 8), torch.randn(1, 6, 8))
    assert seen[0].weights.shape == (1, 2, 3, 6)


@pytest.mark.parametrize("mixer", MIXERS)
def test_any_forecaster_is_left_as_it_was(mixer):
    """Same answers while it is watched and afterwards, same keys, also when the call fails."""
    model = build_model("OLinear", torch.randn(60, 4).numpy(), 12, 3, model_dim=8, blocks=2, mixer=mixer).eval()
    x, keys = torch.randn(2, 12, 4), list(model.state_dict())
    with torch.no_grad():
        before = model(x)
        with watching(model) as seen:
            torch.testing.assert_close(model(x), before)
        with pytest.raises(RuntimeError), watching(model):
            raise RuntimeError
        torch.testing.assert_close(model(x), before)
    assert len(seen) == (2 if mixer in ("attention", "enhanced") else 0)
    assert all("blocks." in each.name for each in seen)
    assert list(model.state_dict()) == keys
    assert not any({"mix", "scored"} & set(vars(layer)) for layer in model.modules())
