"""From a name, a class or a module to a model, and what is known of it."""

import numbers
from collections.abc import Mapping
from copy import deepcopy
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from torch import nn

from olinear.core import Card, ConfigError, DataError, Traits, options_of, own_traits
from olinear.models.cards import MODELS
from olinear.models.zoo.blocks.mixers import MIXERS as MIXERS  # all of them, so that options name them

Source = str | type[nn.Module] | nn.Module  # what can be asked for as a model


def find_model(name: str) -> str:
    """The registered name, however it is capitalised."""
    return MODELS.find(name).name


def card_of(source: Source) -> Card:
    """The registered card, or one made up for a class or module from outside."""
    if isinstance(source, str):
        return MODELS.find(source)
    kind: type = source if isinstance(source, type) else type(source)
    if not issubclass(kind, nn.Module):
        found = repr(source) if len(repr(source)) < 80 else f"a {kind.__name__}"
        raise ConfigError(
            f"a model is a name, a class of torch modules or a module, found {found}: olinear models lists the names"
        )
    card = MODELS.card_of(kind) if isinstance(source, type) else None
    if card is not None and card.load() is kind:
        return card
    place = f"{kind.__module__}:{kind.__qualname__}"
    about = (kind.__doc__ or "").strip().partition("\n")[0]
    return Card(place, place, about, own_traits(source), package=kind.__module__.partition(".")[0])


def traits_of(model: object) -> Traits:
    """What a model can do: as it says itself, else by its class's card, else as `b t n -> b h n` and no more."""
    card = MODELS.card_of(type(model))
    return own_traits(model, Traits() if card is None else card.traits)


def default_options(name: str) -> dict[str, Any]:
    """What a model takes besides its sizes, and the defaults."""
    return MODELS.find(name).options()


def check_options(source: Source, options: Mapping[str, Any]) -> None:
    """Refuse an option that the model does not take, and a size or count below the least there can be."""
    card = card_of(source)
    known = _options(source, card)
    for option, value in options.items():
        if option not in known:
            raise ConfigError(f"{card.name} has no option {option!r}: it takes {', '.join(known) or 'none'}")
        least = card.least.get(option, 1)
        counts = type(known[option]) is int or option.endswith("_dim")
        if counts and isinstance(value, numbers.Real) and value < least:
            raise ConfigError(f"{option} must be at least {least}, found {value}")


def _options(source: Source, card: Card) -> dict[str, Any]:
    """What a model can be given; a class is asked itself, for not every class can be imported by its name."""
    if isinstance(source, nn.Module):
        return {}
    return card.options() if isinstance(source, str) else options_of(source, card.traits)


def build_model(source: Source, train: ArrayLike, lookback: int, horizon: int, **options: Any) -> nn.Module:
    """A model for training rows `[rows, series]`; a module given is copied as it is."""
    shape = np.shape(train)
    if len(shape) != 2:
        raise DataError(f"train must have shape (rows, series), found {shape}")
    check_options(source, options)
    if isinstance(source, nn.Module):
        return deepcopy(source)
    card = card_of(source)
    model: Any = card.load() if isinstance(source, str) else source
    if card.traits.from_rows:
        return model.for_data(train, lookback, horizon, **options)
    return model(shape[1], lookback, horizon, **options)


def empty_model(source: Source, n_series: int, lookback: int, horizon: int, **options: Any) -> nn.Module:
    """A model whose weights are still to be loaded, without training rows."""
    if isinstance(source, nn.Module):
        return deepcopy(source)
    model: Any = card_of(source).load() if isinstance(source, str) else source
    known = {name: value for name, value in options.items() if name in _of_constructor(model)}
    return model(n_series, lookback, horizon, **known)


def _of_constructor(model: Any) -> set[str]:
    """The options of the constructor alone: those of `for_data`, such as a basis, are in the weights."""
    return set(signature(model).parameters)


def summary(name: str) -> str:
    """What a model is, in one line."""
    return MODELS.find(name).about
