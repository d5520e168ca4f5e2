"""Sampling numerals from a language model: only what can be read back as numbers is ever drawn."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from olinear.models.zoo.blocks.llama import Continuations, Llama
from olinear.models.zoo.blocks.numerals import DIGITS, MINUS, SEPARATOR, SYMBOLS, to_text


@dataclass(frozen=True)
class Sampling:
    """How continuations are drawn.

    Args:
        samples: continuations of each prompt.
        temperature: logits are divided by it.
        top_p: of the symbols, only the likeliest are drawn that together have this probability.
        widest: digits of a numeral at the most.
        seed: with a prompt's own symbols, what its draws begin with.
    """

    samples: int
    temperature: float
    top_p: float
    widest: int
    seed: int


class Numerals:
    """Where each continuation stands in its numeral, and which symbols may come next.

    A numeral is a minus or none, one digit or more, and a separator.
    """

    def __init__(self, shape: tuple[int, int], widest: int, device: torch.device):
        self.widest = widest
        self.digits = torch.zeros(shape, dtype=torch.int64, device=device)
        self.signed = torch.zeros(shape, dtype=torch.bool, device=device)
        self.finished = torch.zeros(shape, dtype=torch.int64, device=device)

    def allowed(self) -> Tensor:  # p s v
        begun = self.digits > 0
        digits = (self.digits < self.widest)[..., None].expand(*begun.shape, DIGITS)
        found = torch.zeros(*begun.shape, len(SYMBOLS), dtype=torch.bool, device=begun.device)
        found[..., :DIGITS], found[..., SEPARATOR], found[..., MINUS] = digits, begun, ~begun & ~self.signed
        return found

    def add(self, symbols: Tensor) -> None:  # p s
        ends = symbols == SEPARATOR
        self.finished += ends
        self.digits = torch.where(ends, 0, self.digits + (symbols < DIGITS))
        self.signed = (self.signed | (symbols == MINUS)) & ~ends


def draw(logits: Tensor, allowed: Tensor, uniform: Tensor, temperature: float, top_p: float) -> Tensor:
    """A symbol of each distribution `… v`, by where a uniform number `…` falls among those that are allowed and likely.

    Args:
        allowed: `… v`; one at the least.
    """
    scores = (logits.double() / temperature).masked_fill(~allowed, float("-inf"))
    likely, order = scores.softmax(-1).sort(dim=-1, descending=True, stable=True)
    up_to = likely.cumsum(-1)
    kept = likely.masked_fill(up_to - likely >= top_p, 0.0).cumsum(-1)
    place = (kept <= uniform[..., None] * kept[..., -1:]).sum(-1)
    last = (kept < kept[..., -1:]).sum(-1)  # beyond which rounding could lead
    return order.gather(-1, torch.minimum(place, last)[..., None])[..., 0]


def uniforms(prompts: Sequence[Tensor], sampling: Sampling, steps: int) -> Tensor:
    """The random numbers `p s steps` of some prompts: a prompt's own, whatever others are drawn beside it."""
    drawn = []
    for prompt in prompts:
        generator = torch.Generator().manual_seed((1_000_003 * sampling.seed + checksum(prompt)) % 2**63)
        drawn.append(torch.rand(steps, sampling.samples, generator=generator, dtype=torch.float64).T)
    return torch.stack(drawn)


def checksum(prompt: Tensor) -> int:
    return zlib.crc32(bytes(prompt.tolist()))


@torch.inference_mode()
def continue_prompts(
    model: Llama,
    prompts: Sequence[Tensor],
    budgets: Sequence[int],
    numerals: int,
    sampling: Sampling,
    progress: Callable[[float], None],
) -> list[list[str]]:
    """Texts that continue each prompt, with so many numerals each, or fewer where a budget of symbols ends before.

    Args:
        budgets: symbols of each prompt's continuations at the most.
        progress: hears of the share that is done.
    """
    device, room = model.head.device, max(budgets)
    prompts = [prompt.to(device) for prompt in prompts]
    logits, read = model.read(prompts)
    logits = logits[:, None].expand(-1, sampling.samples, -1)  # p s v
    written = Continuations(model.sizes, read, sampling.samples)
    state = Numerals((len(prompts), sampling.samples), sampling.widest, device)
    numbers, limits = uniforms(prompts, sampling, room).to(device), torch.tensor(budgets, device=device)[:, None]
    symbols: list[Tensor] = []
    for step in range(room):
        found = draw(
            logits[..., : len(SYMBOLS)], state.allowed(), numbers[..., step], sampling.temperature, sampling.top_p
        )
        symbols.append(found)
        state.add(found)
        progress((step + 1) / room)
        if bool(((state.finished >= numerals) | (step + 1 >= limits)).all()):
            break
        logits = model.write(found, read, written)
    rows = torch.stack(symbols, -1).tolist()  # p s steps
    return [[to_text(row[:budget]) for row in samples] for samples, budget in zip(rows, budgets, strict=True)]
