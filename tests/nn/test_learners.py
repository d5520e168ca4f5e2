"""The two halves of a block against hand-written formulas, and where their dropout falls."""

import numpy as np
import pytest
import torch
from olinear_parts import count, randomised
from scipy.special import erf
from torch import nn

from olinear.core.errors import ConfigError
from olinear.nn import CrossSeriesLearner, IntraSeriesLearner, NormLin, SeriesLinear


def moved(module):
    return randomised(module.double(), scale=0.5)


def weights_of(module):
    return {name: value.numpy() for name, value in module.state_dict().items()}


def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * weight + bias


def gelu(x):
    return x * (1 + erf(x / np.sqrt(2))) / 2


def normlin(weight):
    positive = np.log1p(np.exp(weight))
    return positive / positive.sum(1, keepdims=True)


def features(*shape):
    return torch.from_numpy(np.random.default_rng(0).normal(size=shape))


class TestCrossSeriesLearner:
    def test_equals_numpy(self):
        learner, x = moved(CrossSeriesLearner(6, NormLin(4))), features(3, 4, 6)
        w = weights_of(learner)
        branch = normlin(w["mixer.weight"]) @ (x.numpy() @ w["pre.weight"].T + w["pre.bias"])
        branch = branch @ w["post.weight"].T + w["post.bias"]
        expected = layer_norm(x.numpy() + branch, w["norm.weight"], w["norm.bias"])
        np.testing.assert_allclose(learner(x).detach(), expected, atol=1e-12)

    def test_equals_numpy_without_its_linear_layers(self):
        learner = moved(CrossSeriesLearner(6, SeriesLinear(4), pre_linear=False, post_linear=False))
        x, w = features(3, 4, 6), weights_of(learner)
        branch = w["mixer.weight"] @ x.numpy() + w["mixer.bias"][:, None]
        expected = layer_norm(x.numpy() + branch, w["norm.weight"], w["norm.bias"])
        np.testing.assert_allclose(learner(x).detach(), expected, atol=1e-12)

    @pytest.mark.parametrize(("pre", "post"), [(True, True), (True, False), (False, True), (False, False)])
    def test_linear_layers_can_be_left_out_one_by_one(self, pre, post):
        """Each holds m² + m parameters; what is left is the mixer and the LayerNorm."""
        learner = CrossSeriesLearner(6, NormLin(4), pre_linear=pre, post_linear=post)
        assert count(learner) == (pre + post) * (36 + 6) + 16 + 12
        names = {name.split(".")[0] for name, _ in learner.named_parameters()}
        assert ("pre" in names, "post" in names) == (pre, post)

    def test_dropout_falls_on_the_branch(self):
        learner = moved(CrossSeriesLearner(20, SeriesLinear(10), dropout=0.5))
        learner.norm = nn.Identity()
        x = features(4, 10, 20)
        branch = (learner(x) - x).detach()
        dropped = (learner.train()(x) - x).detach()
        zero = dropped == 0
        assert 0.4 < zero.double().mean() < 0.6
        torch.testing.assert_close(dropped[~zero], 2 * branch[~zero])


class TestIntraSeriesLearner:
    def test_equals_numpy(self):
        learner, x = moved(IntraSeriesLearner(6, 9)), features(3, 4, 6)
        w = weights_of(learner)
        hidden = gelu(x.numpy() @ w["expand.weight"].T + w["expand.bias"])
        branch = hidden @ w["contract.weight"].T + w["contract.bias"]
        expected = layer_norm(x.numpy() + branch, w["norm.weight"], w["norm.bias"])
        np.testing.assert_allclose(learner(x).detach(), expected, atol=1e-12)

    def test_normlin_along_the_width_equals_numpy(self):
        learner, x = moved(IntraSeriesLearner(6, 6, temporal="normlin")), features(3, 4, 6)
        w = weights_of(learner)
        hidden = gelu(x.numpy() @ normlin(w["expand.mixer.weight"]).T)
        branch = hidden @ normlin(w["contract.mixer.weight"]).T
        expected = layer_norm(x.numpy() + branch, w["norm.weight"], w["norm.bias"])
        np.testing.assert_allclose(learner(x).detach(), expected, atol=1e-12)

    def test_parameter_counts(self):
        assert count(IntraSeriesLearner(6, 9)) == (6 * 9 + 9) + (9 * 6 + 6) + 12
        assert count(IntraSeriesLearner(6, 6, temporal="normlin")) == 2 * 36 + 12

    def test_series_do_not_meet(self):
        """Intra-series: what happens to one series must not reach another."""
        learner, x = moved(IntraSeriesLearner(6, 9)), features(1, 4, 6)
        changed = x.clone()
        changed[0, 2] += 1
        same = [0, 1, 3]
        torch.testing.assert_close(learner(changed)[0, same], learner(x)[0, same], rtol=0, atol=0)
        assert not torch.allclose(learner(changed)[0, 2], learner(x)[0, 2])

    def test_dropout_falls_on_the_hidden_features_and_on_the_branch(self):
        learner = moved(IntraSeriesLearner(20, 20, dropout=0.5))
        learner.norm = nn.Identity()
        learner.contract.weight.data = torch.eye(20, dtype=torch.float64)
        learner.contract.bias.data.zero_()
        x = features(4, 10, 20)
        branch = (learner(x) - x).detach()
        dropped = (learner.train()(x) - x).detach()
        zero = dropped.abs() < 1e-12
        assert 0.65 < zero.double().mean() < 0.85  # 1 - 0.5²
        torch.testing.assert_close(dropped[~zero], 4 * branch[~zero])

    def test_dropout_of_normlin_along_the_width_falls_on_its_matrix_too(self):
        learner = IntraSeriesLearner(6, 6, temporal="normlin", dropout=0.3)
        assert [layer.dropout for layer in learner.modules() if isinstance(layer, NormLin)] == [0.3, 0.3]

    def test_normlin_keeps_the_width(self):
        with pytest.raises(ConfigError, match="set ff_dim=6, found 9"):
            IntraSeriesLearner(6, 9, temporal="normlin")

    def test_unknown_layers_are_refused(self):
        with pytest.raises(ConfigError, match="temporal must be 'linear' or 'normlin', found 'conv'"):
            IntraSeriesLearner(6, 9, temporal="conv")
