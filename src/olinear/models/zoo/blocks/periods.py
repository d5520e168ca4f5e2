"""Windows as images: periods from a spectrum, folding by a period, Inception layers."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core import ConfigError

Rows = Literal["keep", "halve", "double"]
_square = ContextVar("square", default=False)


@contextmanager
def square_images() -> Iterator[None]:
    """Inside, periods are such that images are about square, whatever the spectrum.

    For comparing costs: what a convolution takes depends on the image, and noise has other periods than data.
    """
    before = _square.set(True)
    try:
        yield
    finally:
        _square.reset(before)


def strongest_periods(x: Tensor, top_k: int) -> dict[int, Tensor]:  # b t m
    """The periods of a batch's k strongest frequencies, and the weight `[b]` of each in every window.

        A_b = mean_m |rFFT(x_b)|,     φ_1, …, φ_k = the places of the largest values of mean_b A_b, 0 left out
        period_j = ⌊t / φ_j⌋,     weight_bj = softmax_j(A_b[φ_j])

    The batch has its periods in common, its windows their own weights. Frequencies that fold to the same image are one
    entry, with the sum of their weights. With less than k frequencies, all are taken.
    """
    length = x.shape[1]
    top_k = min(top_k, length // 2)
    signal = x if x.dtype == torch.float64 else x.float()  # no spectrum in half precision
    amplitude = torch.fft.rfft(signal, dim=1).abs().mean(-1)  # b frequencies
    if _square.get():
        first = min(math.isqrt(length), length // 2 - top_k + 1)
        frequencies = list(range(first, first + top_k))
    else:
        frequencies = (amplitude.detach().mean(0)[1:].topk(top_k).indices + 1).tolist()
    weights = amplitude[:, frequencies].softmax(1).to(x.dtype)  # b k
    periods: dict[int, Tensor] = {}
    for frequency, weight in zip(frequencies, weights.unbind(1), strict=True):
        period = length // frequency
        periods[period] = periods[period] + weight if period in periods else weight
    return periods


def check_top_k(top_k: int) -> None:
    if top_k < 1:
        raise ConfigError(f"top_k must be at least 1, found {top_k}")


def fold(x: Tensor, period: int) -> Tensor:  # b t m -> b r p m
    """One period a row, zeros at the end of the last: a view, unless zeros are needed."""
    missing = -x.shape[1] % period
    if missing:
        x = F.pad(x, (0, 0, 0, missing))
    return x.unflatten(1, (-1, period))


def unfold(image: Tensor, length: int) -> Tensor:  # b r p m -> b t m
    """The rows one after another, cut to `length`."""
    return image.flatten(1, 2)[:, :length]


class Inception(nn.Module):
    """The mean of square convolutions of sizes 1, 3, 5, …, kept as weights `[c, a, size, size]` for images.

        w = (1/K) Σ_i pad(w_i),     b = (1/K) Σ_i b_i

    A mean of convolutions is one convolution, with the mean of their weights, the smaller ones framed by zeros: less
    than half the multiplications of six, and no six results in memory. Starts from Kaiming's normal of the outputs,
    √(2 / (c size²)), and biases of zero.

    Args:
        in_dim, out_dim: a and c.
        kernels: K.
    """

    def __init__(self, in_dim: int, out_dim: int, *, kernels: int = 6):
        super().__init__()
        if kernels < 1:
            raise ConfigError(f"kernels must be at least 1, found {kernels}")
        self.weights = nn.ParameterList()
        for size in range(1, 2 * kernels, 2):
            start = torch.randn(out_dim, in_dim, size, size) * math.sqrt(2 / (out_dim * size**2))
            self.weights.append(nn.Parameter(start))
        self.biases = nn.Parameter(torch.zeros(kernels, out_dim))

    def merged(self) -> tuple[Tensor, Tensor]:
        """w `[c, a, 2K-1, 2K-1]` and b `[c]`."""
        kernel, *larger = self.weights
        for weight in larger:
            kernel = F.pad(kernel, (1, 1, 1, 1)) + weight
        return kernel / len(self.weights), self.biases.mean(0)


def convolve(image: Tensor, kernel: Tensor, bias: Tensor, *, stride: int = 1) -> Tensor:  # b r p a -> b ⌈r/stride⌉ p c
    """The image, framed by zeros, convolved with kernel `[c, a, k, k]` at every column and every `stride`-th row."""
    kernel, reach = _within(kernel, image.shape[1], image.shape[2])
    return F.conv2d(image.movedim(-1, 1), kernel, bias, stride=(stride, 1), padding=reach).movedim(1, -1)


def spread(image: Tensor, kernel: Tensor, bias: Tensor, *, rows: int) -> Tensor:  # b r p a -> b rows p c
    """The transposed convolution to twice as many rows, or to one less: what `convolve` with stride 2 came from."""
    kernel, reach = _within(kernel, rows, image.shape[2])
    extra = rows - (2 * image.shape[1] - 1)
    kernel = kernel.transpose(0, 1)  # a c k k
    spread = F.conv_transpose2d(
        image.movedim(-1, 1), kernel, bias, stride=(2, 1), padding=reach, output_padding=(extra, 0)
    )
    return spread.movedim(1, -1)


class ImageMixer(nn.Module):
    """Inception from m to f features, GELU, Inception from f to m: images `b r p m -> b r' p m`.

    Args:
        model_dim, ff_dim: m and f.
        kernels: K of both.
        rows: what the first Inception makes of the rows: `keep`, `halve` (every second one; an odd last one counts) or
            `double`, a transposed convolution.
    """

    def __init__(self, model_dim: int, ff_dim: int, *, kernels: int = 6, rows: Rows = "keep"):
        super().__init__()
        self.rows = rows
        self.widen = Inception(model_dim, ff_dim, kernels=kernels)
        self.narrow = Inception(ff_dim, model_dim, kernels=kernels)

    def merged(self) -> Callable[..., Tensor]:
        """A function of an image, and of the rows wanted where they are doubled; its kernels are merged only once."""
        widen, narrow = self.widen.merged(), self.narrow.merged()

        def mix(image: Tensor, rows: int = 0) -> Tensor:  # b r p m
            if self.rows == "double":
                hidden = spread(image, *widen, rows=rows)
            else:
                hidden = convolve(image, *widen, stride=2 if self.rows == "halve" else 1)
            return convolve(F.gelu(hidden), *narrow)  # b r' p m

        return mix


def _within(kernel: Tensor, rows: int, columns: int) -> tuple[Tensor, tuple[int, int]]:
    """The taps of a square kernel that can meet a pixel of so large an image, and how far they reach.

    The others only ever see the zeros around it: an image of one row needs no more than one row of the kernel.
    """
    middle = kernel.shape[-1] // 2
    down, right = min(middle, rows - 1), min(middle, columns - 1)
    kept = kernel[..., middle - down : middle + down + 1, middle - right : middle + right + 1]
    return kept, (down, right)
