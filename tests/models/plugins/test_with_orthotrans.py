"""OrthoTrans around other forecasters: where it stands, and that nothing else changes."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from olinear.core.errors import ConfigError, DataError
from olinear.models import MODELS
from olinear.models.plugins import OrthoForecaster, with_orthotrans
from olinear.nn import OrthoTrans, RevIN

T, H, N = 24, 12, 5
SMALL = {
    "iTransformer": {"model_dim": 16, "heads": 2},
    "PatchTST": {"patch_length": 6, "stride": 3},
    "RLinear": {},
    "DLinear": {"window": 5},
    "CARD": {"patch_length": 6, "stride": 3},
}
SOLVED = {"Ridge", "Gaussian", "LLMTime"}
UNNORMALISED = {"DLinear", "FreTS", "Crossformer", "FEDformer"}
BY_STEPS = {"PatchDecoder"}  # normalised step after step; refused
SEVERAL = {"TimeMixer", "TimeMixer++"}  # one a scale


@pytest.fixture
def train():
    steps = np.arange(300)[:, None]
    noise = np.random.default_rng(0).normal(size=(300, N)).cumsum(0)
    return np.sin(2 * np.pi * steps / [6, 8, 12, 24, 24]) + 0.1 * noise


def make_host(name):
    model = MODELS.find(name).load()(N, T, H, **SMALL[name]).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():  # RevIN's weight and bias too
            parameter += 0.1 * torch.randn_like(parameter)
    return model


def windows(batch=3):
    return torch.from_numpy(np.random.default_rng(1).normal(3, 2, size=(batch, T, N)))


@pytest.mark.parametrize("name", SMALL)
class TestEveryHost:
    def test_in_the_time_domain_it_is_the_host(self, name):
        """With Q = I nothing is left of the plug-in, and the normalisation it moved outside works as it did inside."""
        host = make_host(name)
        wrapped = with_orthotrans(host, T, H, basis="identity", normalise=name != "DLinear").double()
        torch.testing.assert_close(wrapped(windows()), host(windows()))

    def test_equals_the_host_on_transformed_windows(self, name, train):
        """Normalise, analyse, forecast, synthesise, undo: the host sees features of windows already normalised."""
        wrapped = with_orthotrans(make_host(name), T, H, train).double().eval()
        q_in, q_out = (each.basis.numpy() for each in (wrapped.input_transform, wrapped.output_transform))
        weight, bias = (np.ones(N), np.zeros(N))
        if name == "RLinear":
            weight, bias = wrapped.norm.weight.detach().numpy(), wrapped.norm.bias.detach().numpy()
        for window, output in zip(windows().numpy(), wrapped(windows()).detach().numpy(), strict=True):
            mean, deviation = window.mean(0), np.sqrt(window.var(0) + 1e-5)
            if name == "CARD":
                deviation = window.std(0, ddof=1) + 1e-4
            analysed = q_in @ ((window - mean) / deviation * weight + bias)
            answer = wrapped.model(torch.from_numpy(analysed)[None])[0].detach().numpy()
            expected = (q_out.T @ answer - bias) / (weight + 1e-10) * deviation + mean
            np.testing.assert_allclose(output, expected, atol=1e-10)

    def test_only_normalised_features_reach_the_host(self, name, train):
        """Level and scale of the data must pass around the host, whatever its own normalisation was."""
        wrapped, x = with_orthotrans(make_host(name), T, H, train).double().eval(), windows()
        torch.testing.assert_close(wrapped(1000 + 5 * x), 1000 + 5 * wrapped(x), rtol=1e-5, atol=1e-5)

    def test_gradient_reaches_every_parameter_and_no_basis(self, name, train):
        wrapped = with_orthotrans(make_host(name), T, H, train).double().train()
        (wrapped(windows()) * torch.randn(3, H, N)).sum().backward()
        blind = {"key.bias"}  # the softmax does not see what all keys have in common
        for key, parameter in wrapped.named_parameters():
            assert parameter.grad is not None, key
            assert (parameter.grad != 0).any() or any(key.endswith(end) for end in blind), key
        assert {"input_transform.basis", "output_transform.basis"} <= set(dict(wrapped.named_buffers()))

    def test_the_hosts_parameters_are_all_there_is(self, name, train):
        host = make_host(name)
        wrapped = with_orthotrans(host, T, H, train)
        assert sum(p.numel() for p in wrapped.parameters()) == sum(p.numel() for p in host.parameters())

    def test_state_can_be_saved(self, name, train):
        wrapped = with_orthotrans(make_host(name), T, H, train).double().eval()
        other = with_orthotrans(make_host(name), T, H, basis="fourier").double().eval()
        other.load_state_dict(wrapped.state_dict())
        torch.testing.assert_close(other(windows()), wrapped(windows()), rtol=0, atol=0)

    def test_the_host_is_left_alone(self, name, train):
        host = make_host(name)
        before, modules = copy.deepcopy(host.state_dict()), [type(each) for each in host.modules()]
        with_orthotrans(host, T, H, train)
        assert [type(each) for each in host.modules()] == modules
        torch.testing.assert_close(host.state_dict(), before, rtol=0, atol=0)


def test_around_rlinear_it_is_one_linear_layer(train):
    """ŷ = Q_oᵀ W Q_i z + Q_oᵀ b, another parametrisation of the same family, as the paper says of RLinear."""
    host = MODELS.find("RLinear").load()(N, T, H, affine=False).double().eval()
    wrapped = with_orthotrans(host, T, H, train).double().eval()
    q_in, q_out = wrapped.input_transform.basis, wrapped.output_transform.basis
    folded = copy.deepcopy(host)
    folded.linear.weight.data = q_out.mT @ host.linear.weight.data @ q_in
    folded.linear.bias.data = q_out.mT @ host.linear.bias.data
    torch.testing.assert_close(wrapped(windows()), folded(windows()))


class TestNormalisation:
    def test_a_revin_moves_outside_with_its_weights(self, train):
        host = MODELS.find("RLinear").load()(N, T, H)
        wrapped = with_orthotrans(host, T, H, train, copy=False)
        assert isinstance(wrapped.norm, RevIN)
        assert wrapped.norm.weight.shape == (N,)
        assert wrapped.model is host
        assert not any(isinstance(module, RevIN) for module in host.modules())

    @pytest.mark.parametrize("name", sorted(set(MODELS) - {"OLinear"} - SOLVED - BY_STEPS))
    def test_which_of_the_zoo_have_one(self, name):
        """One that normalised by hand would do so to features, behind a second norm: the mistake this is to avoid."""
        with torch.device("meta"):
            host = MODELS.find(name).load()(N, 96, H)
        found = sum(isinstance(module, RevIN) for module in host.modules())
        assert found == 0 if name in UNNORMALISED else found > 1 if name in SEVERAL else found == 1

    def test_a_host_without_any_gets_a_plain_one(self, train):
        wrapped = with_orthotrans(MODELS.find("DLinear").load()(N, T, H), T, H, train)
        assert isinstance(wrapped.norm, RevIN)
        assert not list(wrapped.norm.parameters())

    def test_it_can_be_left_to_the_host(self, train):
        host = make_host("RLinear")
        wrapped = with_orthotrans(host, T, H, train, normalise=False).double()
        q_in, q_out = wrapped.input_transform.basis, wrapped.output_transform.basis
        torch.testing.assert_close(wrapped(windows()), q_out.mT @ host(q_in @ windows()))

    def test_a_host_that_normalises_in_two_places_is_refused(self, train):
        host = nn.Sequential(MODELS.find("RLinear").load()(N, T, T), MODELS.find("RLinear").load()(N, T, H))
        with pytest.raises(ConfigError, match=r"in 2 places \(0.norm, 1.norm\).*normalise=False"):
            with_orthotrans(host, T, H, train)

    def test_missing_values_are_filled_before_they_spread(self, train):
        """A NaN that reached the transform would become a window of them."""
        wrapped, x = with_orthotrans(make_host("iTransformer"), T, H, train).double(), windows()
        x[0, 3, 2] = torch.nan
        assert wrapped(x).isfinite().all()


@pytest.mark.parametrize(("name", "depends"), [("TimesNet", True), ("RLinear", False)])
def test_says_whether_a_forecast_depends_on_its_batch(name, depends):
    """Who forecasts must know of it, whatever stands around the host."""
    assert with_orthotrans(MODELS.find(name).load()(N, T, H), T, H, basis="fourier").traits.batch_dependent is depends


class TestTransforms:
    def test_come_from_training_rows(self, train):
        wrapped = with_orthotrans(make_host("RLinear"), T, H, train)
        torch.testing.assert_close(wrapped.input_transform.basis, OrthoTrans.fit(train, T).basis.double())
        torch.testing.assert_close(wrapped.output_transform.basis, OrthoTrans.fit(train, H).basis.double())

    def test_can_be_given(self):
        """One side in the time domain, the other not: the appendix's ablation."""
        given = OrthoTrans.fit(None, T, "fourier"), OrthoTrans.fit(None, H, "identity")
        wrapped = with_orthotrans(make_host("RLinear"), T, H, input_transform=given[0], output_transform=given[1])
        torch.testing.assert_close(wrapped.input_transform.basis, given[0].basis.double())
        assert wrapped.input_transform is not given[0]

    def test_one_given_the_other_fitted(self, train):
        wrapped = with_orthotrans(make_host("RLinear"), T, H, train, output_transform=OrthoTrans(torch.eye(H)))
        torch.testing.assert_close(wrapped.input_transform.basis, OrthoTrans.fit(train, T).basis.double())

    def test_of_another_size_are_refused(self):
        with pytest.raises(DataError, match=r"input_transform must have size 24, found 12"):
            with_orthotrans(make_host("RLinear"), T, H, input_transform=OrthoTrans(torch.eye(12)))

    def test_need_rows_or_a_fixed_basis(self):
        with pytest.raises(DataError, match="pass the training rows, or use a fixed basis"):
            with_orthotrans(make_host("RLinear"), T, H)


class Shared(nn.Module):
    """One RevIN under two names, as a decoder may hold its encoder's, undone by hand or by its inverse."""

    def __init__(self, by_hand):
        super().__init__()
        self.by_hand, self.norm, self.linear = by_hand, RevIN(N), nn.Linear(T, H)
        self.decoder = nn.ModuleDict({"norm": self.norm})

    def forward(self, x):
        x, stats = self.norm(x)
        y = self.linear(x.mT).mT
        return y * stats.deviation + stats.mean if self.by_hand else self.decoder["norm"].inverse(y, stats)


@pytest.mark.parametrize("by_hand", [True, False])
def test_one_revin_in_two_places_moves_outside_from_both(by_hand):
    """With weights of 1 and 0 undoing by hand is the inverse but for rounding."""
    host = Shared(by_hand).double()
    wrapped = with_orthotrans(host, T, H, basis="identity")
    assert not any(isinstance(module, RevIN) for module in wrapped.model.modules())
    torch.testing.assert_close(wrapped(windows()), host(windows()))


class TestMistakes:
    def test_another_lookback(self, train):
        wrapped = with_orthotrans(make_host("RLinear"), T, H, train).double()
        with pytest.raises(DataError, match=r"lookback=24, series\), found \(3, 20, 5\)"):
            wrapped(windows()[:, :20])

    def test_another_horizon(self, train):
        wrapped = with_orthotrans(make_host("RLinear"), T, 10, train).double()
        with pytest.raises(DataError, match=r"must answer \(3, 10, 5\), found \(3, 12, 5\)"):
            wrapped(windows())

    def test_a_forecaster_that_is_solved(self, train):
        with pytest.raises(ConfigError, match="Ridge is solved, not trained"):
            with_orthotrans(MODELS.find("Ridge").load()(N, T, H), T, H, train)

    def test_a_model_that_reads_step_after_step(self, train):
        with pytest.raises(ConfigError, match="features have no such order"):
            with_orthotrans(MODELS.find("PatchDecoder").load()(N, T, H), T, H, train)


def test_the_bases_are_of_the_hosts_dtype(train):
    wrapped = with_orthotrans(make_host("RLinear").double(), T, H, train)
    assert wrapped(windows()).dtype == torch.float64


def test_a_module_of_ones_own(train):
    """Any module `b t n -> b h n` will do."""

    class Mine(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(T, H)

        def forward(self, x):
            return self.linear(x.mT).mT

    wrapped = with_orthotrans(Mine(), T, H, train)
    assert isinstance(wrapped, OrthoForecaster)
    assert wrapped(torch.randn(2, T, N)).shape == (2, H, N)
