"""What mixes tokens: one signature, and names."""

import subprocess
import sys
from functools import partial

import pytest
from torch import nn

from olinear.core.errors import ConfigError
from olinear.nn import MIXERS, LowRankNormLin, NamedMixer, NormLin, OLinear, SeriesLinear, find_mixer, has_own_maps

OWN = NamedMixer("own", lambda k, m, dropout, **options: nn.Identity(), takes=frozenset({"heads"}), own_maps=True)


def test_alone_the_paper_knows_its_own_two():
    done = subprocess.run(
        [sys.executable, "-c", "from olinear.nn import MIXERS; print(*MIXERS)"], capture_output=True, text=True
    )
    assert done.stdout.split() == ["normlin", "linear"]


@pytest.mark.parametrize(("name", "kind"), [("normlin", NormLin), ("linear", SeriesLinear)])
def test_by_name(name, kind):
    mixer = find_mixer(name)(4, 16, dropout=0.1)
    assert type(mixer) is kind
    assert mixer.weight.shape == (4, 4)


def test_normlin_gets_the_dropout_and_may_be_causal():
    assert find_mixer("normlin")(4, 16, dropout=0.3).dropout == 0.3
    assert MIXERS["normlin"](4, 16, causal=True).causal
    with pytest.raises(ConfigError, match=r"the mixer linear has no causal form: causal are .*normlin"):
        MIXERS["linear"](4, 16, causal=True)


@pytest.mark.parametrize("factory", [NormLin, partial(NormLin, norm="l2"), partial(LowRankNormLin, rank=2)], ids=str)
def test_a_factory_is_itself(factory):
    assert find_mixer(factory) is factory
    assert factory(4, 16, dropout=0.2).dropout == 0.2


def test_every_host_calls_it_with_tokens_width_and_dropout():
    seen = []

    def factory(tokens, model_dim, *, dropout):
        seen.append((tokens, model_dim, dropout))
        return nn.Identity()

    OLinear(5, 12, 6, model_dim=8, embed_dim=2, blocks=2, dropout=0.2, mixer=factory)
    assert seen == [(5, 8, 0.2)] * 2


def test_a_wish_that_a_mixer_has_no_use_for_is_not_passed_on():
    seen = {}

    def build(tokens, model_dim, *, dropout, **options):
        seen.update(options)
        return nn.Identity()

    NamedMixer("one", build, takes=frozenset({"heads"}))(4, 16, heads=2, head_dim=3)
    assert seen == {"heads": 2}


@pytest.mark.parametrize("mixer", [OWN, partial(OWN, heads=2)], ids=["named", "with options"])
def test_a_mixer_with_maps_of_its_own_has_none_around_it(mixer):
    assert has_own_maps(mixer)
    csl = OLinear(5, 12, 6, model_dim=8, embed_dim=2, blocks=1, mixer=mixer).blocks[0].csl
    assert type(csl.pre) is type(csl.post) is nn.Identity
    assert not has_own_maps(NormLin)


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"mixer must be one of normlin, linear.* or a factory, found 'blender'"):
        find_mixer("blender")
