"""Every registered model and its variants, small, for the suites that all of them pass."""

import torch
from zoo_parts import FEDFORMER_TSL, randomised, tsl_options

from olinear.data.windows import Windows
from olinear.models import MODELS, build_model, traits_of

N_SERIES, LOOKBACK, HORIZON = 3, 32, 8
WINDOWS = 4

# Small sizes and no dropout; a model that is not named here is taken as it is.
SMALL = {
    "OLinear": {"model_dim": 16, "embed_dim": 2, "blocks": 1},
    "RLinear": {"dropout": 0.0},
    "iTransformer": {"model_dim": 16, "heads": 2, "dropout": 0.0},
    "PatchTST": {"model_dim": 16, "heads": 2, "ff_dim": 32, "blocks": 2, "dropout": 0.0},
    "PatchDecoder": {"patch_length": 4, "model_dim": 16, "heads": 2, "blocks": 2, "dropout": 0.0},
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
    "LLMTime": {"samples": 3, "dtype": "float32"},
}
VARIANTS = {
    "DLinear individual": {"individual": True, "init": "mean"},
    "RLinear individual": {"individual": True},
    "RLinear plain": {"affine": False},
    "iTransformer normlin": {"mixer": "normlin"},
    "PatchTST tsl": tsl_options("PatchTST") | SMALL["PatchTST"] | {"head_dropout": 0.0},
    "PatchTST normlin": {"mixer": "normlin"},
    "PatchDecoder attention": {"mixer": "attention"},
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
# Forecasters to which all series are alike: by their cards, and the variants that are.
PERMUTE_SERIES = {name for name in MODELS if MODELS.find(name).traits.any_series} | {
    "RLinear plain",
    "PatchTST tsl",
    "PatchTST normlin",
    "PatchDecoder attention",
    "TiDE plain",
    "TimeMixer++ derived",
    "Gaussian plain",
}


def rows(count, n_series=N_SERIES, seed=0):
    return torch.randn(count, n_series, generator=torch.Generator().manual_seed(seed))


def few_windows(lookback=LOOKBACK, horizon=HORIZON, n_series=N_SERIES):
    return Windows(rows(lookback + horizon + WINDOWS - 1, n_series), lookback, horizon)


def is_closed_form(model):
    return traits_of(model).closed_form


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
