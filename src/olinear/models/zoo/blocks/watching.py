"""What attention attends to, for those who ask: a fused kernel computes the matrix and does not hand it out."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from olinear.models.zoo.blocks.attention import HeadMixer, SelfAttention, attention_scores


@dataclass(frozen=True)
class Attention:
    """The matrices of one pass through one layer, `... H k l`: what each token takes from each, head by head.

    `scores` are what the softmax was taken of, where that is all that makes the weights.
    """

    name: str
    weights: Tensor
    scores: Tensor | None = None


@contextmanager
def watching(model: nn.Module) -> Iterator[list[Attention]]:
    """Inside, every pass through a layer of attention adds its matrices, without dropout, to the list.

    They are computed again beside the kernel. Outside nothing is: the layers are as they were.
    """
    seen: list[Attention] = []
    with ExitStack() as endings:
        for name, layer in model.named_modules():
            if not isinstance(layer, HeadMixer):
                continue
            _put(endings, layer, "mix", _watched_mix(name, layer, seen))
            if isinstance(layer, SelfAttention):
                _put(endings, layer, "scored", _watched_scores(name, layer, seen))
        yield seen


def _put(endings: ExitStack, layer: nn.Module, method: str, watched: Callable[..., Any]) -> None:
    """In the place of a method, on this layer alone."""
    vars(layer)[method] = watched
    endings.callback(vars(layer).pop, method)


def _watched_mix(name: str, layer: HeadMixer, seen: list[Attention]) -> Callable[..., Tensor]:
    mix = layer.mix

    def watched(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        weights = layer.weights(query, key)
        if weights is not None:
            scores = attention_scores(query, key).detach() if isinstance(layer, SelfAttention) else None
            seen.append(Attention(name, weights.detach(), scores))
        return mix(query, key, value)

    return watched


def _watched_scores(name: str, layer: SelfAttention, seen: list[Attention]) -> Callable[..., tuple[Tensor, Tensor]]:
    scored = layer.scored

    def watched(x: Tensor, earlier: Tensor | None = None) -> tuple[Tensor, Tensor]:
        mixed, scores = scored(x, earlier)
        seen.append(Attention(name, scores.detach().softmax(-1), scores.detach()))
        return mixed, scores

    return watched
