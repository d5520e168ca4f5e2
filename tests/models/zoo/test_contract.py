"""What every registered model keeps: one suite over all of them and their variants."""

import pytest
import torch
from contract_parts import (
    CASES,
    HORIZON,
    LOOKBACK,
    N_SERIES,
    PERMUTE_SERIES,
    SMALL,
    VARIANTS,
    WINDOWS,
    few_windows,
    is_closed_form,
    lookbacks,
    make,
    rows,
    settled,
)
from safetensors.torch import load, save

from olinear.core import Batch, Card, DataError, Point, Registry, Traits
from olinear.data.windows import Windows
from olinear.models import MODELS, answer, build_model, for_inference, traits_of
from olinear.nn import OrthoTrans
from olinear.training import TrainingConfig, train

# Parameters without influence, which only sees rounding errors: softmax does not notice what all keys have in common.
SILENT = ("key.bias",)
# Whole parts that a published trap silences, by case: the LayerNorm of TiDE's step has one value to normalise, and
# returns only its bias. They are not even computed: no gradient reaches them.
CUT_OFF = {
    "TiDE": ("series_embedding", "encoder.", "decoder.", "step.hidden.", "step.linear.", "step.norm.weight"),
}


@pytest.fixture(params=CASES)
def case(request):
    if request.param == "LLMTime":
        request.getfixturevalue("tiny_llm")  # to be asked
    return request.param


def test_the_variants_are_of_registered_models():
    assert {case.split()[0] for case in VARIANTS} | set(SMALL) <= set(MODELS)
    assert set(CUT_OFF) <= set(CASES)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_shape_and_dtype(case, dtype):
    model, x = make(case).to(dtype), lookbacks().to(dtype)
    for module in (model.train(), model.eval()):
        y = module(x)
        assert y.shape == (WINDOWS, HORIZON, N_SERIES)
        assert y.dtype == dtype
        assert y.isfinite().all()


@pytest.mark.parametrize(("lookback", "horizon", "n_series"), [(33, 5, 3), (32, 8, 1), (33, 1, 2)])
def test_other_sizes(case, lookback, horizon, n_series):
    """Odd lengths, one series, one step: where halves, differences and averages over series go wrong."""
    model = make(case, lookback, horizon, n_series)
    x, _ = few_windows(lookback, horizon, n_series).batch(torch.arange(WINDOWS)).pair
    for module in (model.train(), model.eval()):
        y = module(x)
        assert y.shape == (WINDOWS, horizon, n_series)
        assert y.isfinite().all()
    assert model(x[:1]).shape == (1, horizon, n_series)


def test_the_gradient_reaches_every_parameter(case):
    """One that is left out is carried along, saved and counted for nothing."""
    model = settled(case)
    if is_closed_form(model):
        assert not list(model.parameters())
        assert list(model.buffers())
        return
    y = model(lookbacks())
    (y * torch.randn_like(y)).sum().backward()
    for name, parameter in model.named_parameters():
        if name.startswith(CUT_OFF.get(case, ())):
            assert parameter.grad is None, name
            continue
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert name.endswith(SILENT) or parameter.grad.any(), name


def test_a_saved_model_forecasts_the_same_to_the_last_bit(case):
    """All it learnt is in its state: a fresh one with that state is the same function."""
    model, x = settled(case).float(), lookbacks().float()
    torch.manual_seed(1)
    fresh = make(case)
    fresh.load_state_dict(load(save(model.state_dict())))
    assert torch.equal(fresh.eval()(x), model(x))


def test_it_can_learn_one_batch_by_heart(case):
    """What cannot fit four windows of noise has a broken path from input or to a parameter.

    What says that it learns nothing forecasts the same whatever the windows were.
    """
    windows = few_windows()
    x, y = windows.batch(torch.arange(WINDOWS)).pair
    model = make(case)
    if traits_of(model).zero_shot:
        forecasts = []
        for seen in (windows, Windows(rows(200, seed=2), LOOKBACK, HORIZON)):
            torch.manual_seed(0)
            model.solve(seen)
            forecasts.append(model(x))
        assert torch.equal(*forecasts)
        return
    if is_closed_form(model):
        start, end = y.square().mean(), (model.eval()(x) - y).square().mean()
    else:
        losses = fit(model.train(), x, y)
        start, end = losses[0], losses[-1]
    assert end < 0.01 * start


def fit(model, x, y, steps=100):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    losses = []
    for _ in range(steps):
        loss = (model(x) - y).square().mean()
        losses.append(loss.detach())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return losses


def test_evaluation_is_deterministic_and_leaves_no_trace(case):
    model, x = settled(case), lookbacks()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    assert torch.equal(model(x), model(x))
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)


def test_a_forecast_does_not_depend_on_its_batch(case):
    """Or, where a model says so, only through what the windows have in common: copies have nothing else."""
    model, x = settled(case), lookbacks()
    depends = traits_of(model).batch_dependent
    for index in range(WINDOWS):
        alone = x[index : index + 1]
        together = model(alone.expand_as(x) if depends else x)
        torch.testing.assert_close(model(alone)[0], together[index])
    torch.testing.assert_close(model(x.flip(0)), model(x).flip(0))


def test_permuted_series_have_permuted_forecasts_where_that_is_promised(case):
    model, x, order = settled(case), lookbacks(), torch.tensor([2, 0, 1])
    promised = getattr(model, "permutes_series", False)
    assert promised == (case in PERMUTE_SERIES)
    if promised:
        torch.testing.assert_close(model(x[..., order]), model(x)[..., order])


@pytest.mark.parametrize("shape", [(WINDOWS, LOOKBACK + 1, N_SERIES), (LOOKBACK, N_SERIES), (WINDOWS, LOOKBACK, 1)])
def test_windows_of_another_size_are_refused(case, shape):
    """They may not be stretched silently; but what forecasts each series alike takes any number of them, and what
    serves any lookback all but none."""
    model = make(case).eval()
    named = f"lookback={LOOKBACK}"
    if traits_of(model).any_length:
        named = "lookback"
        shape = tuple(0 if size == LOOKBACK + 1 else size for size in shape)
    if shape[-1] == 1 and case in PERMUTE_SERIES:
        assert model(torch.randn(shape)).shape == (WINDOWS, HORIZON, 1)
        return
    with pytest.raises(DataError, match=rf"shape \(batch, {named}, series.*found \({shape[0]}, {shape[1]}"):
        model(torch.randn(shape))


def test_it_trains_with_the_one_loop(case, tmp_path):
    """With all the loop can do: validation, averaged weights, a checkpoint that holds the whole state."""
    model, x = make(case), lookbacks().float()
    before = model.eval()(x)
    windows = Windows(rows(LOOKBACK + HORIZON + 20, seed=1), LOOKBACK, HORIZON)
    config = TrainingConfig(max_epochs=1, batch_size=8, average_decay=0.9, device="cpu")
    report = train(model, windows, windows, config, checkpoint=tmp_path / "run", progress=False)
    assert report.epochs == 1
    assert report.best_loss == report.history[0][report.best_averaged * "averaged_" + "validation_loss"]
    assert not model.training
    assert traits_of(model).zero_shot or not torch.equal(model(x), before)
    again = make(case)
    resumed = train(again, windows, windows, config, checkpoint=tmp_path / "run", resume=True, progress=False)
    assert resumed.best_loss == report.best_loss
    assert torch.equal(again(x), model(x))


class TestTraits:
    """What a model says of itself is what it does, and what it does not say it does not do."""

    def test_its_card_says_it_of_the_default_options(self, case):
        if case in MODELS:
            assert traits_of(make(case)) == MODELS.find(case).traits

    def test_methods_are_there_where_they_are_promised(self, case):
        model = make(case)
        promised = {"solve": "closed_form", "for_data": "from_rows", "compact": "compact"}
        for method, trait in promised.items():
            assert callable(getattr(model, method, None)) == getattr(traits_of(model), trait), method

    def test_from_rows_is_built_by_the_class(self, case):
        model = make(case)
        if traits_of(model).from_rows:
            assert type(type(model).for_data(rows(60).numpy(), LOOKBACK, HORIZON)) is type(model)

    def test_compact_is_the_same_function(self, case):
        model, x = settled(case), lookbacks()
        quick = for_inference(model)
        assert (quick is not model) == traits_of(model).compact
        torch.testing.assert_close(quick(x), model(x).detach())

    def test_its_bases_are_where_the_plug_ins_look_for_them(self, case):
        model = make(case)
        sides = [getattr(model, name, None) for name in ("input_transform", "output_transform")]
        assert all(isinstance(side, OrthoTrans) for side in sides) == traits_of(model).orthogonal

    def test_it_takes_windows_and_answers_a_point(self, case):
        """`b t n -> b h n`; columns of other roles are not read, for no one claims to read them."""
        model, x = settled(case), lookbacks()
        traits = traits_of(model)
        assert (traits.takes_batch, traits.outputs, traits.covariates) == (False, {"point"}, frozenset())
        assert torch.is_tensor(model(x))
        seen = answer(model, Batch(x, past_covariates=torch.randn_like(x), static=torch.randn(N_SERIES, 2)))
        assert isinstance(seen, Point)
        assert torch.equal(seen.point, model(x))

    def test_it_depends_on_its_batch_where_it_says_so(self, case):
        model, steps = settled(case), torch.arange(LOOKBACK, dtype=torch.float64)
        periods = torch.tensor([2.0, 4.0, 8.0, 16.0], dtype=torch.float64) * 2
        x = 0.1 * lookbacks() + torch.sin(2 * torch.pi * steps[None, :, None] / periods[:, None, None])
        alone = torch.cat([model(window[None]) for window in x])
        assert torch.allclose(alone, model(x), rtol=1e-5, atol=1e-6) != traits_of(model).batch_dependent

    @pytest.mark.parametrize("n_series", [1, N_SERIES - 1, N_SERIES + 2])
    def test_any_number_of_series_where_it_says_so(self, case, n_series):
        """One object forecasts them as one made for them with the same weights; another model refuses them."""
        model, x = settled(case), torch.randn(WINDOWS, LOOKBACK, n_series, dtype=torch.float64)
        if not traits_of(model).any_series:
            with pytest.raises(DataError, match=f"series={N_SERIES}"):
                model(x)
            return
        made_for_it = make(case, n_series=n_series).double().eval()
        made_for_it.load_state_dict(model.state_dict())
        assert torch.equal(model(x), made_for_it(x))

    @pytest.mark.parametrize("lookback", [LOOKBACK - 1, LOOKBACK + 8])
    def test_another_lookback_and_horizon_where_it_says_so(self, case, lookback):
        """The same weights forecast from and to any length; another model refuses."""
        model = settled(case)
        if traits_of(model).any_length:
            x = torch.randn(WINDOWS, lookback, N_SERIES, dtype=torch.float64)
            for horizon in (1, HORIZON, 3 * HORIZON):
                model.horizon = horizon
                y = model(x)
                assert y.shape == (WINDOWS, horizon, N_SERIES)
                torch.testing.assert_close(y[:, :1], model(x)[:, :1])
            return
        with pytest.raises(DataError, match=f"lookback={LOOKBACK}"):
            model(torch.randn(WINDOWS, lookback, N_SERIES, dtype=torch.float64))


NEW_MODEL = """
from torch import nn
from olinear.core import Traits

class Repeat(nn.Module):
    def __init__(self, n_series, lookback, horizon, *, scale: float = 1.0):
        super().__init__()
        self.horizon, self.linear = horizon, nn.Linear(1, 1)

    def forward(self, x):
        return self.linear(x[:, -1:, :, None])[..., 0].expand(-1, self.horizon, -1)
"""


def test_a_new_model_is_one_file_and_one_card(tmp_path, monkeypatch):
    (tmp_path / "repeat_last.py").write_text(NEW_MODEL)
    monkeypatch.syspath_prepend(tmp_path)
    card = Card("Repeat", "repeat_last:Repeat", "The last value again.", Traits(any_series=True))
    monkeypatch.setattr("olinear.models.building.MODELS", Registry([card]))
    model = build_model("repeat", rows(60).numpy(), LOOKBACK, HORIZON, scale=2.0)
    assert traits_of(model) == card.traits
    windows = few_windows()
    report = train(model, windows, windows, TrainingConfig(max_epochs=1, device="cpu"), progress=False)
    assert report.epochs == 1
    assert answer(model, windows.batch(torch.arange(WINDOWS))).point.shape == (WINDOWS, HORIZON, N_SERIES)
