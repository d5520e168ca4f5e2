"""All forecasters by name."""

from collections.abc import Mapping
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from torch import nn

from olinear.core import ConfigError, DataError
from olinear.models.zoo.card import CARD
from olinear.models.zoo.crossformer import Crossformer
from olinear.models.zoo.dlinear import DLinear
from olinear.models.zoo.fedformer import FEDformer
from olinear.models.zoo.filternet import FilterNet
from olinear.models.zoo.fits import FITS
from olinear.models.zoo.fredformer import Fredformer
from olinear.models.zoo.frets import FreTS
from olinear.models.zoo.gaussian import Gaussian
from olinear.models.zoo.itransformer import ITransformer
from olinear.models.zoo.leddam import Leddam
from olinear.models.zoo.patchtst import PatchTST
from olinear.models.zoo.ridge import Ridge
from olinear.models.zoo.rlinear import RLinear
from olinear.models.zoo.tide import TiDE
from olinear.models.zoo.timemixer import TimeMixer
from olinear.models.zoo.timemixerpp import TimeMixerPP
from olinear.models.zoo.timesnet import TimesNet
from olinear.nn import OLinear

MAIN = "OLinear"  # what the others are compared with
MODELS: dict[str, type[nn.Module]] = {
    MAIN: OLinear,
    "DLinear": DLinear,
    "RLinear": RLinear,
    "iTransformer": ITransformer,
    "PatchTST": PatchTST,
    "Leddam": Leddam,
    "Fredformer": Fredformer,
    "FITS": FITS,
    "FreTS": FreTS,
    "FilterNet": FilterNet,
    "TiDE": TiDE,
    "CARD": CARD,
    "Crossformer": Crossformer,
    "FEDformer": FEDformer,
    "TimeMixer": TimeMixer,
    "TimesNet": TimesNet,
    "TimeMixer++": TimeMixerPP,
    "Ridge": Ridge,
    "Gaussian": Gaussian,
}
MAY_BE_ZERO = {"blocks", "encoder_blocks", "decoder_blocks", "halvings", "label_length", "series_dim"}


def find_model(name: str) -> str:
    """The registered spelling of a name, however it is capitalised."""
    for known in MODELS:
        if known.casefold() == name.casefold():
            return known
    raise ConfigError(f"no model is called {name!r}: there are {', '.join(MODELS)}")


def default_options(name: str) -> dict[str, Any]:
    """What a model takes besides its sizes, and the defaults."""
    model: Any = MODELS[find_model(name)]
    makers = [model, model.for_data] if hasattr(model, "for_data") else [model]
    arguments = [argument for maker in makers for argument in signature(maker).parameters.values()]
    return {argument.name: argument.default for argument in arguments if argument.kind is argument.KEYWORD_ONLY}


def check_options(name: str, options: Mapping[str, Any]) -> None:
    """Refuse an option that the model does not take, and a size or count below the least there can be."""
    known = default_options(name)
    for option, value in options.items():
        if option not in known:
            raise ConfigError(f"{find_model(name)} has no option {option!r}: it takes {', '.join(known) or 'none'}")
        least = 0 if option in MAY_BE_ZERO else 1
        counts = type(known[option]) is int or option.endswith("_dim")
        if counts and isinstance(value, int | float | np.number) and value < least:
            raise ConfigError(f"{option} must be at least {least}, found {value}")


def build_model(name: str, train: ArrayLike, lookback: int, horizon: int, **options: Any) -> nn.Module:
    """A model for training rows `[rows, series]`; one that learns from them before training has a `for_data`."""
    name = find_model(name)
    check_options(name, options)
    model: Any = MODELS[name]
    if hasattr(model, "for_data"):
        return model.for_data(train, lookback, horizon, **options)
    shape = np.shape(train)
    if len(shape) != 2:
        raise DataError(f"train must have shape (rows, series), found {shape}")
    return model(shape[1], lookback, horizon, **options)


def summary(name: str) -> str:
    """The first line of a model's docstring."""
    return (MODELS[find_model(name)].__doc__ or "").partition("\n")[0]
