"""Models by name: a card says what a model is and where to find it, and imports nothing until it is used."""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from olinear.core.errors import ConfigError, MissingDependencyError
from olinear.core.traits import Traits

if TYPE_CHECKING:
    from torch import nn

GROUP = "olinear.models"  # the entry points of other packages
logger = logging.getLogger("olinear.models")


@dataclass(frozen=True)
class Card:
    """What is known of a model before it is imported.

    Args:
        name: how it is asked for, and what results and folders call it.
        use: `module:Class`; built as `Class(n_series, lookback, horizon, **options)`.
        about: one line.
        traits: what it can do.
        sizes: `module:function`, which chooses options where the user gives none:
            `function(windows, n_series) -> {option: value}`.
        least: the least value of a whole-number option, where it is not 1.
        package: the distribution that brings it.
    """

    name: str
    use: str
    about: str = ""
    traits: Traits = field(default_factory=Traits)
    sizes: str = ""
    least: Mapping[str, int] = field(default_factory=dict)
    package: str = "olinear"

    def load(self) -> type["nn.Module"]:
        """The class, imported."""
        kind: type[nn.Module] = _import(self.use, self)
        return kind

    def options(self) -> dict[str, Any]:
        """What the model takes besides its sizes, and the defaults."""
        return options_of(self.load(), self.traits)

    def choose(self, windows: int, n_series: int) -> dict[str, Any]:
        """Options for data of this size."""
        return dict(_import(self.sizes, self)(windows, n_series)) if self.sizes else {}


class Registry:
    """Cards by name, however it is capitalised: those given, those added, and those of installed packages."""

    def __init__(self, cards: list[Card]):
        self._cards = {card.name: card for card in cards}
        self._by_class: dict[type, Card | None] = {}

    def add(self, card: Card) -> None:
        """Make a model known in this process."""
        if any(name.casefold() == card.name.casefold() and name != card.name for name in self._cards):
            raise ConfigError(f"a model is called {card.name!r} already, but for capitals: choose another name")
        self._cards[card.name] = card
        self._by_class.clear()

    def find(self, name: str) -> Card:
        """The card of that name; an error lists all names."""
        for known in self:
            if known.casefold() == name.casefold():
                return self._cards.get(known) or _card_of_entry(self._installed[known])
        raise ConfigError(f"no model is called {name!r}: there are {', '.join(self)}")

    def card_of(self, kind: type) -> Card | None:
        """The card of a class, or of the nearest one it derives from."""
        if kind not in self._by_class:
            self._by_class[kind] = self._find_class(kind)
        return self._by_class[kind]

    def _find_class(self, kind: type) -> Card | None:
        used = {card.use: card for card in (*self._from_packages(), *self._cards.values())}
        places = (f"{each.__module__}:{each.__qualname__}" for each in kind.__mro__)
        return next((used[place] for place in places if place in used), None)

    def __iter__(self) -> Iterator[str]:
        return iter([*self._cards, *(name for name in self._installed if name not in self._cards)])

    def __contains__(self, name: object) -> bool:
        return name in self._cards or name in self._installed

    def __len__(self) -> int:
        return len({*self._cards, *self._installed})

    @cached_property
    def _installed(self) -> dict[str, EntryPoint]:
        return {point.name: point for point in entry_points(group=GROUP)}

    def _from_packages(self) -> list[Card]:
        """The cards of installed packages; one that cannot be imported is left out, for no one has asked for it."""
        cards = []
        for point in self._installed.values():
            try:
                cards.append(_card_of_entry(point))
            except (MissingDependencyError, ConfigError) as error:
                logger.warning("%s", error)
        return cards


def _card_of_entry(point: EntryPoint) -> Card:
    """What an entry point names: a `Card`, or a class, which may say what it can do by an attribute `traits`."""
    package = point.dist.name if point.dist else point.module
    place = point.value.replace(" ", "")
    found = _import(place, Card(point.name, place, package=package))
    if isinstance(found, Card):
        return replace(found, name=point.name, package=package)
    about = (found.__doc__ or "").strip().partition("\n")[0]
    return Card(point.name, place, about, own_traits(found), package=package)


def options_of(kind: Any, traits: Traits) -> dict[str, Any]:
    """The keyword-only arguments of a class, and of its `for_data` if that builds it, with their defaults."""
    makers = [kind, kind.for_data] if traits.from_rows else [kind]
    arguments = [argument for maker in makers for argument in signature(maker).parameters.values()]
    return {each.name: each.default for each in arguments if each.kind is Parameter.KEYWORD_ONLY}


def own_traits(model: object, otherwise: Traits | None = None) -> Traits:
    """What a model, or a class of models, says of itself by an attribute `traits`."""
    said = getattr(model, "traits", None)
    return said if isinstance(said, Traits) else otherwise or Traits()


def _import(place: str, card: Card) -> Any:
    module, _, name = place.partition(":")
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except ImportError as error:
        raise MissingDependencyError(
            f"the model {card.name} comes from the package {card.package}, which cannot be imported ({error}): "
            f"pip install {card.package}"
        ) from error
    except AttributeError as error:
        raise ConfigError(f"the package {card.package} has no {place}, which the model {card.name} names") from error
    return found
