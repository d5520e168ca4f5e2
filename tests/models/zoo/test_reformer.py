"""The hashing attention against loops over tokens, and when it draws its hash."""

import numpy as np
import pytest
import torch
from scipy.special import logsumexp, softmax

from olinear.core.errors import ConfigError, DataError
from olinear.models.zoo.blocks.reformer import LSHAttention, lsh_attention


def features(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def chunks_of(z, rotation, size):
    """The bucket of each token, and the chunks of one round, lists of tokens."""
    rotated = z @ rotation
    buckets = [int(np.argmax([*row, *-row])) for row in rotated]
    order = sorted(range(len(z)), key=lambda token: (buckets[token], token))
    return buckets, [order[start : start + size] for start in range(0, len(z), size)]


def slow_experiment(z, v, rotations, size):
    """One head: every round on its own, then weighted by how much each found."""
    outputs, weights = [], []
    unit = z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-12)
    for rotation in rotations:
        _, chunks = chunks_of(z, rotation, size)
        output, weight = np.empty_like(v), np.empty(len(z))
        for number, chunk in enumerate(chunks):
            asked = chunk + chunks[number - 1]
            for token in chunk:
                logits = [-5e4 if other == token else z[token] @ unit[other] / np.sqrt(z.shape[1]) for other in asked]
                output[token] = softmax(logits) @ v[asked]
                weight[token] = logsumexp(logits)
        outputs.append(output)
        weights.append(weight)
    share = softmax(weights, axis=0)
    return sum(part[:, None] * output for part, output in zip(share, outputs, strict=True))


def slow_paper(z, v, rotations, size, kept):
    """One head: a softmax over everybody met in any round, in a bucket of one's own and in reach."""
    met = [{token} for token in range(len(z))]
    for rotation in rotations:
        buckets, chunks = chunks_of(z, rotation, size)
        for number, chunk in enumerate(chunks):
            for token in chunk:
                reach = chunk + chunks[number - 1]
                met[token] |= {other for other in reach if other < kept and buckets[other] == buckets[token]}
    unit = z / np.maximum(np.linalg.norm(z, axis=1, keepdims=True), 1e-12)
    rows = []
    for token, others in enumerate(map(sorted, met)):
        logits = [-5e4 if other == token else z[token] @ unit[other] / np.sqrt(z.shape[1]) for other in others]
        rows.append(softmax(logits) @ v[others])
    return np.array(rows)


@pytest.mark.parametrize(("length", "size"), [(8, 4), (24, 4), (32, 4), (12, 2)])
@pytest.mark.parametrize("rounds", [1, 4])
class TestAgainstLoops:
    def test_experiment(self, length, size, rounds):
        z, v, rotation = (
            features(2, 3, length, 6),
            features(2, 3, length, 5, seed=1),
            features(rounds, 6, length // size // 2),
        )
        output = lsh_attention(z, v, rotation, size)
        for b, h in np.ndindex(2, 3):
            expected = slow_experiment(z[b, h].numpy(), v[b, h].numpy(), rotation.numpy(), size)
            np.testing.assert_allclose(output[b, h], expected, atol=1e-10)

    def test_paper(self, length, size, rounds):
        z, v, rotation = (
            features(2, 3, length, 6),
            features(2, 3, length, 5, seed=1),
            features(rounds, 6, length // size // 2),
        )
        kept = length - 3
        output = lsh_attention(z, v, rotation, size, kept)
        for b, h in np.ndindex(2, 3):
            expected = slow_paper(z[b, h].numpy(), v[b, h].numpy(), rotation.numpy(), size, kept)
            np.testing.assert_allclose(output[b, h, :kept], expected[:kept], atol=1e-10)


def test_the_module_equals_its_parts():
    """Query map, zero tokens to a multiple of eight, shared and value maps, the hash, two output maps."""
    module, x = LSHAttention(11, 12, heads=3).double().eval(), features(2, 11, 12)
    w = {name: value.numpy() for name, value in module.state_dict().items()}
    for window, output in zip(x.numpy(), module(x).detach().numpy(), strict=True):
        padded = np.zeros((16, 12))
        padded[:11] = window @ w["query.weight"].T + w["query.bias"]
        z, v = ((padded @ w[f"{name}.weight"].T).reshape(16, 3, 4).swapaxes(0, 1) for name in ("shared", "value"))
        heads = [slow_experiment(a, b, w["rotation"], 4) for a, b in zip(z, v, strict=True)]
        mixed = np.concatenate(heads, 1)[:11] @ w["inner.weight"].T + w["inner.bias"]
        np.testing.assert_allclose(output, mixed @ w["output.weight"].T + w["output.bias"], atol=1e-10)


@pytest.mark.parametrize("size", [4, 10])
def test_with_two_chunks_it_is_full_attention_without_oneself(size):
    """The chunk before the first is the last, so that two chunks see everybody, whatever the hash."""
    z, v = features(2, 2 * size, 6), features(2, 2 * size, 5, seed=1)
    scores = z @ torch.nn.functional.normalize(z, dim=-1).mT / 6**0.5
    scores = scores.masked_fill(torch.eye(2 * size, dtype=torch.bool), -torch.inf)
    torch.testing.assert_close(lsh_attention(z, v, features(4, 6, 1), size), scores.softmax(-1) @ v)


def test_a_lone_token_attends_to_itself_in_the_authors_form():
    z, v = features(8, 6), features(8, 5, seed=1)
    output = lsh_attention(z, v, features(4, 6, 1), 4, kept=1)
    torch.testing.assert_close(output[0], v[0])


class TestDrawing:
    def test_training_draws_anew(self):
        module, x = LSHAttention(32, 16, heads=2).train(), torch.randn(1, 32, 16)
        assert not torch.allclose(module(x), module(x))

    def test_evaluation_repeats_itself_after_saving_too(self):
        module, other, x = LSHAttention(32, 16).eval(), LSHAttention(32, 16).eval(), torch.randn(1, 32, 16)
        module.train()(x)
        first = module.eval()(x)
        other.load_state_dict(module.state_dict())
        torch.testing.assert_close(other(x), first, rtol=0, atol=0)

    def test_redrawing_makes_evaluation_random_as_in_the_comparison(self):
        module, x = LSHAttention(32, 16, heads=2, redraw=True).eval(), torch.randn(1, 32, 16)
        assert not torch.allclose(module(x), module(x))


def test_the_hash_is_not_trained():
    module = LSHAttention(7, 16)
    assert "rotation" in module.state_dict()
    assert "rotation" not in dict(module.named_parameters())
    assert module.rotation.shape == (4, 2, 1)


@pytest.mark.parametrize(("form", "maps"), [("experiment", 5), ("paper", 3)])
def test_parameter_counts(form, maps):
    """The idle key and value maps of the experiment are not made; two of the others have no bias."""
    module = LSHAttention(7, 16, form=form)
    assert sum(parameter.numel() for parameter in module.parameters()) == maps * 16**2 + (maps - 2) * 16


@pytest.mark.parametrize("form", ["experiment", "paper"])
def test_gradients_equal_differences(form):
    """The hash itself is a step function, so small moves leave it and the formula is smooth."""
    module = LSHAttention(9, 4, heads=2, bucket=2, form=form).double().eval()
    assert torch.autograd.gradcheck(module, features(2, 9, 4).requires_grad_())


def test_mistakes_are_named():
    with pytest.raises(ConfigError, match="multiple of heads, found 10 and 8"):
        LSHAttention(7, 10)
    with pytest.raises(ConfigError, match="form must be 'experiment' or 'paper'"):
        LSHAttention(7, 16, form="other")
    with pytest.raises(DataError, match="must have 7 tokens, found 8"):
        LSHAttention(7, 16)(torch.randn(1, 8, 16))
