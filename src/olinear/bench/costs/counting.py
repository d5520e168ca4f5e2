"""The model of a case, its trainable parameters, and the multiplications of its forward pass."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from olinear import models as zoo
from olinear.bench.costs.cases import Case, entry_of
from olinear.core.runtime import count_multiplications
from olinear.models import MODELS
from olinear.models.zoo import square_images
from olinear.nn import NormLin, series_correlation

SPARE_ROWS = 64  # beyond one window, for what is computed from training rows

HOW_COUNTED = (
    "Parameters are those that are trained; what is compact or solved has none. Multiplications are those of matrix "
    "products and convolutions, for one window of a batch (the folded form multiplies its weights together once a "
    "batch). Attention counts as its two products, fused or not; an einsum as the product that it is; a product of "
    "complex numbers as one; Fourier transforms, norms and what acts on single numbers not at all. The paper's "
    "counts of OLinear, DLinear and iTransformer are these and 5 more for each number that a LayerNorm sees."
)
# Which frequencies are strong is not known without data, and what a convolution costs depends on them.
HOW_IMAGES_ARE_COUNTED = (
    "Counted and measured with images that are about square, as those of real data are, and with six convolutions "
    "merged into one, which takes less than half of the paper's multiplications"
)
OF_IMAGES = ("TimesNet", "TimeMixer++")


class Counts(NamedTuple):
    """Trainable parameters, and multiplications of the forward pass of one window."""

    parameters: int
    multiplications: int


def build(case: Case) -> nn.Module:
    """The model of a case, with made-up rows to learn from where it needs some before training."""
    torch.manual_seed(0)
    rows = torch.randn(case.lookback + case.horizon + SPARE_ROWS, case.series)
    options = case.options
    if case.form == "plain":
        options["fold"] = False
    if entry_of(case.model).correlation:
        options["mixer"] = partial(NormLin, fixed=series_correlation(rows), transform="softmax")
    if MODELS.find(case.registered).traits.orthogonal:  # which bases it has costs nothing, but finding some would
        model: Any = zoo.empty_model(case.registered, case.series, case.lookback, case.horizon, **options)
    else:
        model = zoo.build_model(case.registered, rows, case.lookback, case.horizon, **options)
    if "solved" in dict(model.named_buffers()):
        model.solved.fill_(True)  # a map of zeros costs as much as the solved one, and solving leaves memory behind
    return zoo.for_inference(model) if case.form == "compact" else model


def example(case: Case) -> tuple[Tensor, Tensor]:
    """A batch of lookbacks and what followed, all made up."""
    generator = torch.Generator().manual_seed(1)
    shapes = ((case.batch, length, case.series) for length in (case.lookback, case.horizon))
    x, y = (torch.randn(shape, generator=generator) for shape in shapes)
    return x, y


def count(case: Case) -> Counts:
    """Counted on tensors without memory where the model can be made of them, or moved to them."""

    def without_memory() -> nn.Module:
        with torch.device("meta"):
            return MODELS.find(case.registered).load()(case.series, case.lookback, case.horizon, **case.options)

    makers: list[Callable[[], nn.Module]] = [lambda: build(case).to("meta")]
    if not MODELS.find(case.registered).traits.orthogonal:  # whose bases are looked at when it is made
        makers.insert(0, without_memory)
    for make in makers:
        try:
            return _count(make(), case, "meta")
        except RuntimeError:  # it looks at numbers
            continue
    return _count(build(case), case, "cpu")


def _count(model: nn.Module, case: Case, device: str) -> Counts:
    model.eval()
    x = torch.zeros(case.batch, case.lookback, case.series, device=device)
    trained = sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
    with square_images():
        return Counts(trained, round(count_multiplications(model, x) / case.batch))
