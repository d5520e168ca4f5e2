"""Inception layers by SciPy, one convolution and one pair of channels at a time."""

import numpy as np
from scipy.signal import convolve2d, correlate2d


def layers_of(w, name):
    """Weights `[c, a, size, size]` and biases `[c]`, from the smallest convolution on."""
    biases = w[f"{name}biases"]
    return [(w[f"{name}weights.{index}"], bias) for index, bias in enumerate(biases)]


def inception(images, w, name, stride=1):  # b r p a
    """The mean of convolutions of all sizes; every `stride`-th row."""
    results = [mapped(images, kernel, bias, correlate2d)[:, ::stride] for kernel, bias in layers_of(w, name)]
    return np.mean(results, axis=0)


def transposed_inception(images, w, name, rows):  # b r p a
    """Rows of zeros between the rows, then convolutions with kernels the other way round."""
    apart = np.zeros((len(images), 2 * images.shape[1], *images.shape[2:]))
    apart[:, ::2] = images
    results = [mapped(apart[:, :rows], kernel, bias, convolve2d) for kernel, bias in layers_of(w, name)]
    return np.mean(results, axis=0)


def mapped(images, kernel, bias, operation):  # b r p a -> b r p c
    outputs = np.empty((*images.shape[:-1], len(kernel)))
    for sample, image in enumerate(images):
        for channel, taps in enumerate(kernel):
            planes = [operation(image[..., source], plane, mode="same") for source, plane in enumerate(taps)]
            outputs[sample, ..., channel] = sum(planes) + bias[channel]
    return outputs


def circular_embedding(rows, kernel):  # t c, [m, c, 3]
    """Each step by itself and its neighbours, the ends being neighbours."""
    length = len(rows)
    return np.stack(
        [sum(kernel[:, :, tap] @ rows[(step + tap - 1) % length] for tap in range(3)) for step in range(length)]
    )


def fold_by_hand(row, period):  # t m -> r p m
    rows = -(-len(row) // period)
    image = np.zeros((rows * period, row.shape[-1]))
    image[: len(row)] = row
    return image.reshape(rows, period, -1)


def frequencies_of(features, top_k):  # b t m
    """The k strongest frequencies of the batch, and the amplitude of each window at all of them."""
    amplitude = np.abs(np.fft.rfft(features, axis=1)).mean(2)
    return np.argsort(-amplitude[:, 1:].mean(0))[:top_k] + 1, amplitude
