"""The model of a case, its trainable parameters, and the multiplications of its forward pass."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from olinear import models as zoo
from olinear.bench.costs.cases import OWN, Case
from olinear.bench.run.counting import count_multiplications
from olinear.bench.spec.task import CORRELATION
from olinear.models import MODELS
from olinear.nn import NormLin, OLinear, series_correlation

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
    if case.model in OWN:
        return _build_own(case, rows)
    model: Any = zoo.build_model(case.model, rows, case.lookback, case.horizon, **case.options)
    if zoo.traits_of(model).closed_form:
        model.solved.fill_(True)  # a map of zeros costs as much as the solved one, and solving leaves memory behind
    return model


def _build_own(case: Case, rows: Tensor) -> nn.Module:
    options = case.options
    if case.model == CORRELATION:
        options["mixer"] = partial(NormLin, fixed=series_correlation(rows), transform="softmax")
    model = OLinear(case.series, case.lookback, case.horizon, fold=case.form != "plain", **options)
    return model.compact() if case.form == "compact" else model


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
            return MODELS.find(case.model).load()(case.series, case.lookback, case.horizon, **case.options)

    makers: list[Callable[[], nn.Module]] = [lambda: build(case).to("meta")]
    if case.model not in OWN:  # the bases of OLinear are looked at when it is made
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
    return Counts(trained, round(count_multiplications(model, x) / case.batch))
