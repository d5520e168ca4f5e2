"""OLinear for inference: every fold computed once, nothing left of bases, copies, offsets and layer pairs."""

from copy import deepcopy
from typing import TYPE_CHECKING, Self

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core.runtime import to_bfloat16
from olinear.nn.folding import fold_decoder, fold_encoder, fold_mixing, series_first
from olinear.nn.learners import AlongWidth, CrossSeriesLearner, IntraSeriesLearner
from olinear.nn.normlin import LowRankNormLin, SeriesMixer
from olinear.nn.products import Linear, curved_linear, linear, multiply
from olinear.nn.revin import RevIN

if TYPE_CHECKING:
    from olinear.nn.olinear import OLinear


class CompactOLinear(nn.Module):
    """The function of a trained OLinear in evaluation mode, `b t n -> b h n`, with fewer and smaller matrices.

    It has no parameters to train; make a new one after the model has changed. RevIN's affine part is folded too: its
    bias into the encoder, its weight into the scales. `bfloat16()` is the form whose products are in bfloat16.
    """

    gain: Tensor
    inverse_gain: Tensor
    shift: Tensor

    def __init__(self, model: "OLinear"):
        super().__init__()
        self.n_series, self.lookback, self.horizon = model.n_series, model.lookback, model.horizon
        self.is_narrow = False
        self.revin = RevIN(model.n_series, affine=False, eps=model.revin.eps)
        with torch.no_grad():
            gain, shift = torch.ones(model.n_series), torch.zeros(model.n_series)
            if model.revin.weight is not None and model.revin.bias is not None:
                gain, shift = model.revin.weight.detach().clone(), model.revin.bias.detach()
            self.register_buffer("gain", gain.to(model.extension))
            self.register_buffer("inverse_gain", torch.reciprocal(self.gain + model.revin.eps**2))
            self.register_buffer("shift", -shift.to(self.gain))
            weight, bias = fold_encoder(model)
            self.encode = FoldedLinear(weight, bias - torch.outer(self.shift, weight.sum(1)))
            self.blocks = nn.ModuleList()
            for block in model.blocks:
                for learner in block.children():
                    self.blocks.append(_compact_learner(learner, model.n_series))
            self.norm = deepcopy(model.norm)
            self.decode = FoldedLinear(*fold_decoder(model))
            self.output = None if model.head.hidden is None else deepcopy(model.head.output)
        self.requires_grad_(False).eval()

    def bfloat16(self) -> Self:
        """Its matrices, and what is added to their products, in bfloat16; RevIN and the norms stay float32."""
        self.is_narrow = True
        for module in self.modules():
            if isinstance(module, (nn.Linear, FoldedLinear)):
                module.to(torch.bfloat16)
            elif isinstance(module, CompactMixing):
                module.narrow()
        return self

    def forward(self, x: Tensor) -> Tensor:  # b t n
        if not self.is_narrow:
            return self.walk(x)
        # On the CPU all is of the right kind already, and to ask at every operation takes longer than some of them do.
        with to_bfloat16(x.device, x.device.type != "cpu"):
            return self.walk(x)

    def walk(self, x: Tensor) -> Tensor:  # b t n
        x, stats = self.revin(x)  # b t n
        hidden = self.encode(series_first(x * self.gain).to(self.encode.weight.dtype))  # n b m
        for block in self.blocks:
            hidden = block(hidden)  # n b m
        y = self.decode(self.norm(hidden))  # n b f, or n b h
        if self.output is not None:
            y = self.output(F.gelu(y))  # n b h
        y = y.permute(1, 2, 0).contiguous()  # b h n
        scale = stats.deviation * self.inverse_gain  # b 1 n
        return torch.addcmul(torch.addcmul(stats.mean, scale, self.shift), y, scale)  # b h n


class FoldedLinear(nn.Module):
    """One weight `[out, in]` for all series and a bias `[n, 1, out]` for each: `n b in -> n b out`."""

    weight: Tensor
    bias: Tensor

    def __init__(self, weight: Tensor, bias: Tensor):
        super().__init__()
        self.register_buffer("weight", weight.detach().clone())
        self.register_buffer("bias", bias.detach()[:, None].clone())

    def forward(self, x: Tensor) -> Tensor:  # n b in
        return linear(x, self.weight).add_(self.bias)


class CompactMixing(nn.Module):
    """CSL with A normalised and its two linear layers multiplied together: `n b m -> n b m`."""

    matrix: Tensor
    share: Tensor
    left: Tensor
    right: Tensor

    def __init__(self, csl: CrossSeriesLearner, mixer: SeriesMixer, n_series: int):
        super().__init__()
        self.low_rank = isinstance(mixer, LowRankNormLin)
        if isinstance(mixer, LowRankNormLin):
            for name, factor in zip(("share", "left", "right"), mixer.factors(drop=False), strict=True):
                self.register_buffer(name, factor.detach().clone())
        else:
            self.register_buffer("matrix", mixer.matrix().detach().clone())
        pre, post = csl.pre, csl.post
        self.linear: nn.Module
        if isinstance(pre, nn.Linear) and isinstance(post, nn.Linear):
            self.linear = FoldedLinear(*fold_mixing(pre, post, self.mix(pre.weight.new_ones(n_series, 1))))
        else:
            self.linear = deepcopy(post if isinstance(post, nn.Linear) else pre)
        self.first = isinstance(pre, nn.Linear) and not isinstance(post, nn.Linear)
        self.norm = deepcopy(csl.norm)

    def narrow(self) -> None:
        """What multiplies in bfloat16; a diagonal of shares does not."""
        for name in ("left", "right") if self.low_rank else ("matrix",):
            setattr(self, name, getattr(self, name).bfloat16())

    def mix(self, x: Tensor) -> Tensor:  # n k
        if self.low_rank:
            return (self.share * x + multiply(self.left, multiply(self.right.mT, x))).to(x.dtype)
        return multiply(self.matrix, x)

    def forward(self, x: Tensor) -> Tensor:  # n b m
        mixed = self.linear(x) if self.first else x
        mixed = self.mix(mixed.flatten(1)).view_as(x)
        return self.norm((mixed if self.first else self.linear(mixed)).add_(x))


class CompactWidth(nn.Module):
    """ISL without its dropout: `n b m -> n b m`."""

    def __init__(self, isl: IntraSeriesLearner):
        super().__init__()
        self.expand, self.contract = _as_linear(isl.expand), _as_linear(isl.contract)
        self.norm = deepcopy(isl.norm)

    def forward(self, x: Tensor) -> Tensor:  # n b m
        return self.norm(self.contract(curved_linear(x, self.expand.weight, self.expand.bias)).add_(x))


class Transposed(nn.Module):
    """A learner of the layout `b n m` in the layout `n b m`."""

    def __init__(self, learner: nn.Module):
        super().__init__()
        self.learner = learner

    def forward(self, x: Tensor) -> Tensor:  # n b m
        with to_bfloat16(x.device, x.dtype == torch.bfloat16):
            return self.learner(x.transpose(0, 1)).transpose(0, 1).to(x.dtype)


def _compact_learner(learner: nn.Module, n_series: int) -> nn.Module:
    if isinstance(learner, CrossSeriesLearner) and isinstance(learner.mixer, SeriesMixer):
        return CompactMixing(learner, learner.mixer, n_series)
    return CompactWidth(learner) if isinstance(learner, IntraSeriesLearner) else Transposed(deepcopy(learner))


def _as_linear(layer: nn.Module) -> nn.Linear:
    """A NormLin along the width is a linear layer with its normalised matrix."""
    if not (isinstance(layer, AlongWidth) and isinstance(layer.mixer, SeriesMixer)):
        return deepcopy(layer)  # type: ignore[return-value]
    matrix = layer.mixer.matrix().detach()
    same = Linear(matrix.shape[1], matrix.shape[0], bias=False).to(matrix)
    same.weight.data.copy_(matrix)
    return same
