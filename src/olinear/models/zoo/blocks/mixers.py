"""Every mixer by name: those of the appendix's comparison join the paper's own in `MIXERS`.

Whoever takes `MIXERS`, `find_mixer` or `OLinear` from here has them all, where `olinear.nn` alone has the paper's.
They have their own maps for queries, keys, values and the output, which take the place of the two linear layers around
NormLin. Dropout falls on the matrices of `attention` and `enhanced`; the others have none.
"""

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any

from torch import nn

from olinear.models.zoo.blocks.attention import EnhancedAttention, SelfAttention
from olinear.models.zoo.blocks.linear_attention import FlowAttention, FocusedAttention, SoftmaxAttention
from olinear.models.zoo.blocks.mamba import Mamba, wide_mamba
from olinear.models.zoo.blocks.reformer import LSHAttention
from olinear.nn import MIXERS as MIXERS
from olinear.nn import MixerFactory, NamedMixer
from olinear.nn import OLinear as OLinear
from olinear.nn import find_mixer as find_mixer


def _taking(kind: Callable[..., nn.Module], *names: str) -> Callable[..., nn.Module]:
    """The one signature for a class that has a use only for some of `tokens`, `model_dim` and `dropout`."""

    def build(tokens: int, model_dim: int, *, dropout: float, **options: Any) -> nn.Module:
        shape = {"tokens": tokens, "model_dim": model_dim, "dropout": dropout}
        return kind(**{name: shape[name] for name in names}, **options)

    return build


TOKEN_MIXERS = {
    each.name: each
    for each in (
        NamedMixer(
            "attention",
            _taking(SelfAttention, "model_dim", "dropout"),
            takes=frozenset({"heads", "head_dim", "causal"}),
            own_maps=True,
            permutes=True,
        ),
        NamedMixer("reformer", _taking(LSHAttention, "tokens", "model_dim"), takes=frozenset({"heads"}), own_maps=True),
        NamedMixer(
            "flowformer", _taking(FlowAttention, "model_dim"), takes=frozenset({"heads"}), own_maps=True, permutes=True
        ),
        NamedMixer(
            "flatten",
            _taking(FocusedAttention, "tokens", "model_dim"),
            takes=frozenset({"heads"}),
            own_maps=True,
            permutes=True,
        ),
        NamedMixer(
            "sub-adjacent",
            _taking(SoftmaxAttention, "model_dim"),
            takes=frozenset({"heads"}),
            own_maps=True,
            permutes=True,
        ),
        NamedMixer("mamba", _taking(Mamba, "model_dim"), own_maps=True),
        NamedMixer("wide-mamba", _taking(wide_mamba, "model_dim"), own_maps=True),
        NamedMixer("enhanced", EnhancedAttention, takes=frozenset({"heads"}), own_maps=True),
    )
}
MIXERS.update(TOKEN_MIXERS)


def token_mixer(
    mixer: str | MixerFactory,
    tokens: int,
    model_dim: int,
    *,
    heads: int = 8,
    head_dim: int | None = None,
    dropout: float = 0.0,
    causal: bool = False,
) -> nn.Module:
    """What mixes the tokens of a forecaster.

    A mixer by name that has no maps of its own stands between two: W_post Mixer(W_pre x). A factory brings its own, and
    heads of its own; of a decoder it gets `causal=True`.
    """
    factory = find_mixer(mixer)
    if not isinstance(factory, NamedMixer):
        make: Callable[..., nn.Module] = factory
        return make(tokens, model_dim, dropout=dropout, **({"causal": True} if causal else {}))
    build = partial(factory, tokens, model_dim, dropout=dropout, heads=heads, head_dim=head_dim, causal=causal)
    if factory.own_maps:
        return build()
    pre, post = nn.Linear(model_dim, model_dim), nn.Linear(model_dim, model_dim)
    return nn.Sequential(OrderedDict({"pre": pre, factory.name: build(), "post": post}))


def permutes_tokens(mixer: str | MixerFactory) -> bool:
    """Are permuted tokens mixed alike, and any number of them?"""
    factory = find_mixer(mixer)
    return isinstance(factory, NamedMixer) and factory.permutes
