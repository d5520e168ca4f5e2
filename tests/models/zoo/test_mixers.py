"""Token mixers: each against a slow formula, and what all of them promise."""

from functools import partial

import numpy as np
import pytest
import torch
from scipy.special import expit, softmax

from olinear.core.errors import ConfigError
from olinear.models import MIXERS, MODELS, build_model, default_options, empty_model, traits_of
from olinear.models.zoo.blocks.attention import EnhancedAttention
from olinear.models.zoo.blocks.linear_attention import FlowAttention, FocusedAttention
from olinear.models.zoo.blocks.mixers import TOKEN_MIXERS
from olinear.models.zoo.itransformer import ITransformer
from olinear.nn import OLinear
from olinear.nn.mixers import find_mixer

ROWS = np.random.default_rng(0).normal(size=(60, 5))
WITHOUT_ORDER = {"attention", "flowformer", "flatten", "sub-adjacent"}
# The softmax does not see what all keys have in common.
BLIND = {"attention": {"key.bias"}, "enhanced": {"key.bias"}}


def features(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def build(name, tokens=7, model_dim=16, **options):
    torch.manual_seed(1)
    module = TOKEN_MIXERS[name](tokens, model_dim, heads=4, **options).double().eval()
    with torch.no_grad():
        for parameter in module.parameters():  # so that no 0 or 1 hides a mistake
            parameter += 0.1 * torch.randn_like(parameter)
    return module


def by_heads(module, x):
    """Query, key and value of each head, `[H, n, d]`, of one window in NumPy, and the weights."""
    w = {name: value.numpy() for name, value in module.state_dict().items()}
    maps = [x @ w[f"{name}.weight"].T + w[f"{name}.bias"] for name in ("query", "key", "value")]
    return [each.reshape(len(x), module.heads, -1).swapaxes(0, 1) for each in maps], w


def through_output(w, heads):
    side_by_side = np.swapaxes(heads, 0, 1).reshape(heads.shape[1], -1)
    return side_by_side @ w["output.weight"].T + w["output.bias"]


def assert_equals_slow(module, head_of, tokens=7):
    x = features(3, tokens, 16)
    for window, output in zip(x.numpy(), module(x).detach().numpy(), strict=True):
        (query, key, value), w = by_heads(module, window)
        heads = np.stack([head_of(w, number, *qkv) for number, qkv in enumerate(zip(query, key, value, strict=True))])
        np.testing.assert_allclose(output, through_output(w, heads), atol=1e-10)


class TestAgainstSlowFormulas:
    def test_attention(self):
        assert_equals_slow(
            build("attention"), lambda w, number, q, k, v: softmax(q @ k.T / np.sqrt(q.shape[1]), axis=1) @ v
        )

    @pytest.mark.parametrize("form", ["experiment", "paper"])
    def test_flowformer(self, form):
        def head(w, number, q, k, v):
            q, k, eps, n = expit(q), expit(k), 1e-6, len(q)
            incoming = [(q[i] + eps) @ (k.sum(0) + eps) for i in range(n)]
            outgoing = [(k[j] + eps) @ (q.sum(0) + eps) for j in range(n)]
            conserved_in = [(q[i] + eps) @ (sum(k[j] / outgoing[j] for j in range(n)) + eps) for i in range(n)]
            conserved_out = np.array(
                [(k[j] + eps) @ (sum(q[i] / incoming[i] for i in range(n)) + eps) for j in range(n)]
            )
            if form == "paper":
                conserved_out = conserved_out.clip(-1, 1)
            share = n * softmax(conserved_out)
            return [
                expit(conserved_in[i]) * sum((q[i] / incoming[i] @ k[j]) * share[j] * v[j] for j in range(n))
                for i in range(n)
            ]

        assert_equals_slow(build("flowformer", form=form), lambda *each: np.array(head(*each)))

    def test_clipping_tells_the_forms_of_flowformer_apart(self):
        experiment, paper = build("flowformer"), build("flowformer", form="paper")
        paper.load_state_dict(experiment.state_dict())
        x = features(1, 7, 16)
        assert not torch.allclose(experiment(x), paper(x), atol=1e-6)

    def test_flatten(self):
        def focus(x):
            r = np.maximum(x, 0)
            return np.linalg.norm(r) * r**3 / (np.linalg.norm(r**3) + 1e-6)

        def head(w, number, q, k, v):
            rows = []
            for row in q:
                weights = [focus(row) @ focus(other) for other in k]
                rows.append(sum(a * b for a, b in zip(weights, v, strict=True)) / (sum(weights) + 1e-6))
            return np.array(rows)

        assert_equals_slow(build("flatten"), head)

    def test_sub_adjacent(self):
        def head(w, number, q, k, v):
            sharp = w["sharpness"][number, 0, 0]
            weights = softmax(sharp * q, axis=1) @ softmax(sharp * k, axis=1).T
            return weights / weights.sum(1, keepdims=True) @ v

        assert_equals_slow(build("sub-adjacent"), head)

    def test_flatten_as_its_authors_have_it(self):
        """Norms over all heads, a scale, key positions, and the values of two neighbours on each side."""
        module, x = build("flatten", form="paper"), features(7, 16)
        (q, k, v), w = by_heads(module, x.numpy())

        def focus(heads):  # H n d
            r = (np.maximum(heads, 0) + 1e-6) / np.log1p(np.exp(w["scale"]))
            for token in range(heads.shape[1]):
                sharp = r[:, token] ** 3
                r[:, token] = np.linalg.norm(r[:, token]) * sharp / (np.linalg.norm(sharp) + 1e-6)
            return r

        q, k = focus(q), focus(k + w["position"])
        heads = np.empty_like(v)
        for number, (query, key, value) in enumerate(zip(q, k, v, strict=True)):
            weights = query @ key.T
            padded = np.pad(value, ((2, 2), (0, 0)))
            local = [(padded[i : i + 5] * w["local.weight"][:, 0].T).sum(0) + w["local.bias"] for i in range(7)]
            heads[number] = weights @ value / (weights.sum(1, keepdims=True) + 1e-6) + local
        np.testing.assert_allclose(module(x[None])[0].detach(), through_output(w, heads), atol=1e-10)

    def test_enhanced(self):
        def head(w, number, q, k, v):
            matrix = softmax(q @ k.T / np.sqrt(q.shape[1]), axis=1) + np.log1p(np.exp(w["weight"]))
            return matrix / abs(matrix).sum(1, keepdims=True) @ v

        assert_equals_slow(build("enhanced"), head)


class TestEveryMixer:
    pytestmark = pytest.mark.parametrize("name", TOKEN_MIXERS)

    @pytest.mark.parametrize("tokens", [1, 7, 8, 13])
    def test_keeps_the_shape(self, name, tokens):
        module = build(name, tokens)
        for leading in [(2,), (2, 3)]:
            output = module(features(*leading, tokens, 16))
            assert output.shape == (*leading, tokens, 16)
            assert output.dtype == torch.float64
            assert output.isfinite().all()

    def test_windows_of_a_batch_do_not_meet(self, name):
        module, x = build(name), features(4, 7, 16)
        together = module(x)
        for window, output in zip(x, together, strict=True):
            torch.testing.assert_close(module(window[None])[0], output)
        torch.testing.assert_close(module(x.view(2, 2, 7, 16)), together.view(2, 2, 7, 16))

    @pytest.mark.parametrize("tokens", [7, 13])
    def test_gradient_reaches_every_parameter(self, name, tokens):
        """No map is made that the mixer does not use."""
        module, x = build(name, tokens).train(), features(2, tokens, 16).requires_grad_()
        (module(x) * features(2, tokens, 16, seed=1)).sum().backward()
        gradients = {name: parameter.grad for name, parameter in module.named_parameters()}
        assert all(gradient is not None and gradient.isfinite().all() for gradient in gradients.values())
        still = {key for key, gradient in gradients.items() if gradient.abs().max() < 1e-12}
        assert still == BLIND.get(name, set())
        assert (x.grad != 0).any(-1).all()

    def test_evaluation_is_deterministic(self, name):
        module, x = build(name, dropout=0.5), features(2, 7, 16)
        torch.testing.assert_close(module(x), module(x), rtol=0, atol=0)

    def test_order_counts_where_it_must(self, name):
        module, x = build(name, 24), features(2, 24, 16)  # enough tokens for a hash to part some
        order = torch.randperm(24)
        same = torch.allclose(module(x[:, order]), module(x)[:, order], atol=1e-10)
        assert same == (name in WITHOUT_ORDER)

    def test_every_token_hears_of_others(self, name):
        module, x = build(name), features(1, 7, 16).requires_grad_()
        module(x)[0, -1].sum().backward()
        assert (x.grad[0, :-1] != 0).any(-1).sum() >= 3  # a hash may keep some apart

    def test_state_can_be_saved(self, name):
        module, other, x = build(name), TOKEN_MIXERS[name](7, 16, heads=4).double().eval(), features(2, 7, 16)
        other.load_state_dict(module.state_dict())
        torch.testing.assert_close(other(x), module(x), rtol=0, atol=0)


class TestInsideOLinear:
    pytestmark = pytest.mark.parametrize("name", TOKEN_MIXERS)

    @staticmethod
    def model(name, **options):
        torch.manual_seed(2)
        return OLinear(5, 12, 6, model_dim=16, embed_dim=3, mixer=partial(MIXERS[name], heads=2), **options).double()

    def test_the_folded_walk_is_the_plain_one(self, name):
        model, x = self.model(name).train(), features(9, 12, 5)
        seen = []
        for model.fold in (False, True):
            torch.manual_seed(3)  # the hash draws in training
            model.zero_grad()
            output = model(x)
            output.square().sum().backward()
            seen.append([output.detach(), *(parameter.grad for parameter in model.parameters())])
        torch.testing.assert_close(*seen, rtol=1e-8, atol=1e-8)

    def test_the_compact_form_is_the_same(self, name):
        model, x = self.model(name).eval(), features(9, 12, 5)
        torch.testing.assert_close(model.compact()(x), model(x).detach(), rtol=1e-9, atol=1e-9)

    def test_the_block_adds_nothing_but_its_own_layers(self, name):
        """CSL's own two maps are left out: LayerNorms and ISL stand around the mixer, as in the comparison."""
        for model in (self.model(name, blocks=1), OLinear(5, 12, 6, model_dim=16, blocks=1, mixer=name)):
            names = {key.split(".")[0] for key in model.blocks[0].csl.state_dict()}
            assert names == {"mixer", "norm"}

    def test_a_name_is_enough(self, name):
        """The same model as from the factory, number by number."""
        models = []
        for mixer in (name, find_mixer(name), MIXERS[name]):
            torch.manual_seed(4)
            models.append(build_model("OLinear", ROWS, 12, 6, model_dim=16, mixer=mixer).eval())
        x = features(3, 12, 5).float()
        for model in models[1:]:
            assert torch.equal(model(x), models[0](x))
        again = empty_model("OLinear", 5, 12, 6, model_dim=16, mixer=name).eval()
        again.load_state_dict(models[0].state_dict())
        assert torch.equal(again(x), models[0](x))


# Small hosts, and what they ask a factory for: tokens, width, dropout.
HOSTS = {
    "OLinear": ({"model_dim": 12, "embed_dim": 2, "blocks": 2, "dropout": 0.2}, (5, 12, 0.2)),
    "iTransformer": ({"model_dim": 12, "heads": 2, "blocks": 2, "dropout": 0.2}, (5, 12, 0.2)),
    "PatchTST": ({"patch_length": 4, "stride": 2, "heads": 2, "blocks": 2, "dropout": 0.2}, (6, 16, 0.0)),
    "Leddam": ({"model_dim": 12, "roll": 4, "blocks": 2, "dropout": 0.2}, (5, 12, 0.0)),
    "Fredformer": ({"model_dim": 12, "heads": 2, "head_dim": 3, "blocks": 2, "dropout": 0.2}, (5, 12, 0.0)),
}
DECODERS = {"PatchDecoder"}  # whose mixers must be causal, and which tests of their own hold to that


class TestInEveryHost:
    pytestmark = pytest.mark.parametrize("host", HOSTS)

    @staticmethod
    def model(host, mixer, **options):
        return build_model(host, ROWS, 12, 6, **HOSTS[host][0] | options, mixer=mixer)

    def test_these_are_all_that_take_a_mixer(self, host):
        assert {name for name in MODELS if "mixer" in default_options(name)} == set(HOSTS) | DECODERS

    @pytest.mark.parametrize("name", MIXERS)
    def test_it_takes_every_name(self, host, name):
        options = {"model_dim": 16} if host == "OLinear" else {}  # eight heads
        model = self.model(host, name, **options).eval()
        x = torch.randn(2, 12, 5)
        assert model(x).shape == (2, 6, 5)
        again = self.model(host, name, **options).eval()
        again.load_state_dict(model.state_dict())
        assert torch.equal(again(x), model(x))

    def test_it_asks_a_factory_for_tokens_width_and_dropout(self, host):
        asked = []

        def mixer(tokens, model_dim, *, dropout):
            asked.append((tokens, model_dim, dropout))
            return torch.nn.Identity()

        assert self.model(host, mixer)(torch.randn(2, 12, 5)).shape == (2, 6, 5)
        assert asked == [HOSTS[host][1]] * 2

    def test_a_mixer_by_name_has_the_heads_of_its_host(self, host):
        """A factory brings its own."""
        found = [self.heads(self.model(host, "flowformer", model_dim=16))]
        found.append(self.heads(self.model(host, partial(MIXERS["flowformer"], heads=4), model_dim=16)))
        assert found == [{"OLinear": 8, "Leddam": 1}.get(host, 2), 4]

    @staticmethod
    def heads(model):
        return next(module.heads for module in model.modules() if isinstance(module, FlowAttention))

    def test_others_are_refused(self, host):
        with pytest.raises(ConfigError, match=r"one of normlin, linear, .* or a factory, found 'nothing'"):
            self.model(host, "nothing")


class TestEnhancedDropout:
    def test_without_any_both_ways_agree(self):
        """In training A is formed, so that entries of it can drop; otherwise it is not."""
        module, x = EnhancedAttention(7, 16, heads=4, dropout=1e-9).double(), features(3, 7, 16)
        torch.testing.assert_close(module.train()(x), module.eval()(x))

    def test_falls_on_the_entries_of_the_matrix(self):
        module = EnhancedAttention(40, 40, heads=1, dropout=0.25).double().train()
        query, key = features(1, 40, 40), features(1, 40, 40, seed=1)
        dropped = module.mix(query, key, torch.eye(40).double()[None])
        matrix = module.eval().mix(query, key, torch.eye(40).double()[None])
        zero = dropped == 0
        assert 0.15 < zero.double().mean() < 0.35
        torch.testing.assert_close(dropped[~zero], matrix[~zero] / 0.75)

    def test_rows_sum_to_one(self):
        module = EnhancedAttention(7, 16, heads=4).double().eval()
        ones = torch.ones(4, 7, 1, dtype=torch.float64)
        torch.testing.assert_close(module.mix(features(4, 7, 4), features(4, 7, 4), ones), ones)


def test_a_query_without_positive_entry_gets_zero_in_flatten():
    """So the paper's comparison had it, where the authors' form has their convolution; no gradient may break on it."""
    module = FocusedAttention(16, heads=4).double()
    value = features(4, 7, 4)
    query = -features(4, 7, 4).abs().requires_grad_()
    mixed = module.mix(query, features(4, 7, 4), value)
    assert (mixed == 0).all()
    mixed.sum().backward()
    assert all(parameter.grad is None or parameter.grad.isfinite().all() for parameter in module.parameters())


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FlowAttention(10, heads=4), "multiple of heads, found 10 and 4"),
        (lambda: FlowAttention(16, form="other"), "form must be 'experiment' or 'paper', found 'other'"),
        (lambda: FocusedAttention(16, form="other"), "form must be"),
        (lambda: FocusedAttention(16, form="paper"), "pass tokens"),
        (lambda: find_mixer("informer"), "one of normlin, linear, attention, .*found 'informer'"),
        (
            lambda: TOKEN_MIXERS["mamba"](7, 16, causal=True),
            "the mixer mamba has no causal form: causal are normlin, attention",
        ),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


def test_a_mixer_says_whether_tokens_have_an_order():
    assert {name for name, mixer in MIXERS.items() if mixer.permutes} == WITHOUT_ORDER


@pytest.mark.parametrize("name", sorted(WITHOUT_ORDER))
def test_a_host_with_such_a_mixer_forecasts_any_series(name):
    model = ITransformer(5, 12, 6, model_dim=12, mixer=name, heads=2).eval()
    assert model(torch.randn(2, 12, 3)).shape == (2, 6, 3)
    assert traits_of(model).any_series
