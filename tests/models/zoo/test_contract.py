"""What every registered model keeps: one suite over all of them and their variants."""

import pytest
import torch
from safetensors.torch import load, save
from zoo_parts import FEDFORMER_TSL, randomised, tsl_options

from olinear.core.errors import DataError
from olinear.data.windows import Windows
from olinear.models import MODELS, build_model, traits_of
from olinear.training import TrainingConfig, train

N_SERIES, LOOKBACK, HORIZON = 3, 32, 8
WINDOWS = 4

# Small sizes and no dropout; a model that is not named here is taken as it is.
SMALL = {
    "OLinear": {"model_dim": 16, "embed_dim": 2, "blocks": 1},
    "RLinear": {"dropout": 0.0},
    "iTransformer": {"model_dim": 16, "heads": 2, "dropout": 0.0},
    "PatchTST": {"model_dim": 16, "heads": 2, "ff_dim": 32, "blocks": 2, "dropout": 0.0},
    "Leddam": {"model_dim": 16, "kernel": 5, "roll": 4},
    "Fredformer": {"model_dim": 16, "ff_dim": 16, "patch_dim": 8, "heads": 2, "head_dim": 8, "dropout": 0.0},
    "FreTS": {"embed_dim": 8, "hidden_dim": 32},
    "FilterNet": {"embed_dim": 16, "hidden_dim": 32},
    "TiDE": {"model_dim": 16, "decoder_dim": 4, "step_dim": 8, "series_dim": 2, "dropout": 0.0},
    "CARD": {"dropout": 0.0},
    "Crossformer": {
        "segment_length": 4,
        "model_dim": 16,
        "ff_dim": 16,
        "blocks": 2,
        "heads": 2,
        "routers": 2,
        "dropout": 0.0,
    },
    "FEDformer": {"model_dim": 8, "ff_dim": 16, "heads": 2, "window": 6, "label_length": 12, "dropout": 0.0},
    "TimeMixer": {"model_dim": 8, "ff_dim": 8, "blocks": 1, "halvings": 2, "window": 5, "dropout": 0.0},
    "TimesNet": {"model_dim": 8, "ff_dim": 8, "blocks": 1, "top_k": 2, "kernels": 3, "dropout": 0.0},
    "TimeMixer++": {"model_dim": 4, "ff_dim": 4, "blocks": 1, "halvings": 2, "top_k": 2, "kernels": 2, "dropout": 0.0},
}
VARIANTS = {
    "DLinear individual": {"individual": True, "init": "mean"},
    "RLinear individual": {"individual": True},
    "RLinear plain": {"affine": False},
    "iTransformer normlin": {"mixer": "normlin"},
    "PatchTST tsl": tsl_options("PatchTST") | SMALL["PatchTST"] | {"head_dropout": 0.0},
    "PatchTST normlin": {"mixer": "normlin"},
    "Leddam normlin": {"mixer": "normlin"},
    "Fredformer normlin": {"mixer": "normlin"},
    "FreTS full": {"weights": "full", "mix_series": True},
    "TiDE whole": {"step_norm": False, "encoder_blocks": 2, "decoder_blocks": 2},
    "TiDE plain": {"step_norm": False, "series_dim": 0, "affine": False},
    "CARD whole": {"smooth_all": True, "patch_length": 24, "stride": 24},
    "Crossformer tsl": tsl_options("Crossformer") | SMALL["Crossformer"] | {"add_mean": True},
    "FEDformer tsl": FEDFORMER_TSL,
    "FEDformer deep": {"modes": 5, "encoder_blocks": 1, "decoder_blocks": 2},
    "TimeMixer++ derived": {"halving": "average", "affine": False, "season_axis": "across", "ensemble": "mean"},
    "Ridge individual": {"individual": True},
    "Gaussian plain": {"normalise": False},
}
CASES = [*MODELS, *VARIANTS]
# Forecasters to which all series are alike.
PERMUTE_SERIES = {
    "DLinear",
    "RLinear plain",
    "iTransformer",
    "PatchTST",
    "PatchTST tsl",
    "PatchTST normlin",
    "Fredformer",
    "FITS",
    "FreTS",
    "TiDE plain",
    "TimeMixer++ derived",
    "Ridge",
    "Gaussian",
    "Gaussian plain",
}
# Parameters without influence, which only sees rounding errors: softmax does not notice what all keys have in common.
SILENT = ("key.bias",)
# Whole parts that a published trap silences, by case: the LayerNorm of TiDE's step has one value to normalise, and
# returns only its bias. They are not even computed: no gradient reaches them.
CUT_OFF = {
    "TiDE": ("series_embedding", "encoder.", "decoder.", "step.hidden.", "step.linear.", "step.norm.weight"),
}


def rows(count, n_series=N_SERIES, seed=0):
    return torch.randn(count, n_series, generator=torch.Generator().manual_seed(seed))


def few_windows(lookback=LOOKBACK, horizon=HORIZON, n_series=N_SERIES):
    return Windows(rows(lookback + horizon + WINDOWS - 1, n_series), lookback, horizon)


def is_closed_form(model):
    return hasattr(model, "solve")


def make(case, lookback=LOOKBACK, horizon=HORIZON, n_series=N_SERIES):
    """A small model, ready to forecast: what needs no gradient is solved."""
    name = case.split()[0]
    options = SMALL.get(name, {}) | VARIANTS.get(case, {})
    model = build_model(name, rows(200, n_series).numpy(), lookback, horizon, **options)
    if is_closed_form(model):
        model.solve(few_windows(lookback, horizon, n_series))
    return model


def settled(case):
    """A model in float64 and in evaluation mode, off its start, so that no 0 or 1 hides a mistake."""
    model = make(case)
    return model.double().eval() if is_closed_form(model) else randomised(model)


def lookbacks(batch=WINDOWS):
    return torch.randn(batch, LOOKBACK, N_SERIES, dtype=torch.float64)


@pytest.fixture(params=CASES)
def case(request):
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
    """What cannot fit four windows of noise has a broken path from input or to a parameter."""
    windows = few_windows()
    x, y = windows.batch(torch.arange(WINDOWS)).pair
    model = make(case)
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
    """They may not be stretched silently; but what forecasts each series alike takes any number of them."""
    model = make(case).eval()
    if shape[-1] == 1 and case in PERMUTE_SERIES:
        assert model(torch.randn(shape)).shape == (WINDOWS, HORIZON, 1)
        return
    with pytest.raises(DataError, match=rf"shape \(batch, lookback={LOOKBACK}, series.*found \({shape[0]}, {shape[1]}"):
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
    assert not torch.equal(model(x), before)
    again = make(case)
    resumed = train(again, windows, windows, config, checkpoint=tmp_path / "run", resume=True, progress=False)
    assert resumed.best_loss == report.best_loss
    assert torch.equal(again(x), model(x))
