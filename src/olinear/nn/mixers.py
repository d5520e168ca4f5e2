"""What mixes tokens, by one signature and by name."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, Protocol

from torch import nn

from olinear.core import ConfigError
from olinear.nn.normlin import NormLin, SeriesLinear


class MixerFactory(Protocol):
    """Builds a module that mixes `tokens` vectors of width `model_dim`: `... k m -> ... k m`.

    `NormLin`, `partial(NormLin, norm="l2")` and every `NamedMixer` are such factories. A decoder over time also passes
    `causal=True`.
    """

    def __call__(self, tokens: int, model_dim: int, /, *, dropout: float) -> nn.Module: ...


@dataclass(frozen=True)
class NamedMixer:
    """A factory that goes by a name, with what its host must know of it.

    Args:
        name: how it is asked for.
        build: `build(tokens, model_dim, dropout=p, **options)`.
        takes: which options of a host it has a use for.
        own_maps: it has linear maps of its own around the mixing, and its host makes none.
        permutes: it serves any number of tokens, and permuted tokens give the permuted result.
    """

    name: str
    build: Callable[..., nn.Module]
    takes: frozenset[Literal["heads", "head_dim", "causal"]] = frozenset()
    own_maps: bool = False
    permutes: bool = False

    def __call__(
        self,
        tokens: int,
        model_dim: int,
        /,
        *,
        dropout: float = 0.0,
        heads: int | None = None,
        head_dim: int | None = None,
        causal: bool = False,
        **options: object,
    ) -> nn.Module:
        """A mixer without heads ignores them; one that cannot be causal refuses to be."""
        if causal and "causal" not in self.takes:
            able = ", ".join(each.name for each in MIXERS.values() if "causal" in each.takes)
            raise ConfigError(f"the mixer {self.name} has no causal form: causal are {able}")
        wishes = {"heads": heads, "head_dim": head_dim, "causal": causal or None}
        heard = {name: wish for name, wish in wishes.items() if name in self.takes and wish is not None}
        return self.build(tokens, model_dim, dropout=dropout, **heard, **options)


# All mixers by name; `olinear.models` adds those of other papers.
MIXERS: dict[str, NamedMixer] = {
    each.name: each
    for each in (
        NamedMixer("normlin", NormLin, takes=frozenset({"causal"})),
        NamedMixer("linear", SeriesLinear),
    )
}


def find_mixer(mixer: str | MixerFactory) -> MixerFactory:
    """The mixer of that name; a factory is itself."""
    if not isinstance(mixer, str):
        return mixer
    if mixer not in MIXERS:
        raise ConfigError(f"mixer must be one of {', '.join(MIXERS)} or a factory, found {mixer!r}")
    return MIXERS[mixer]


def has_own_maps(mixer: MixerFactory) -> bool:
    """Has what it builds linear maps of its own around the mixing?"""
    if isinstance(mixer, partial):
        return has_own_maps(mixer.func)
    return isinstance(mixer, NamedMixer) and mixer.own_maps
