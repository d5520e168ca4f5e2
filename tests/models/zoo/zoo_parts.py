"""Formulas in NumPy that the models are held to, and what their tests share."""

import numpy as np
import torch
from scipy.special import erf

from olinear.bench.spec.model_settings import find_setting

FEDFORMER_TSL = {"modes": 32, "split_tanh": True, "sinusoidal": True}


def tsl_options(model):
    """The form of Time-Series-Library, widths and dropout included: the benchmark's setting of that name."""
    return find_setting(model, "tsl").options


def randomised(module):
    """Every parameter off its initial value, so that no 0 or 1 hides a mistake; likewise BatchNorm's statistics."""
    generator = torch.Generator().manual_seed(1)
    module = module.double()
    for parameter in module.parameters():
        parameter.data += 0.5 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
    for name, buffer in module.named_buffers():
        if name.endswith(("running_mean", "running_var")):
            buffer += torch.rand(buffer.shape, generator=generator, dtype=torch.float64)
    return module.eval()


def weights_of(module):
    return {name: value.numpy() for name, value in module.state_dict().items()}


def windows(*shape, seed=0):
    """Random windows, each series on a level and a scale of its own."""
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.normal(size=shape) * rng.uniform(0.5, 5, shape[-1]) + 10 * rng.normal(size=shape[-1]))


def sines(steps, width):
    """Positions as sines and cosines in turn."""
    angle = np.arange(steps)[:, None] / 10_000 ** (np.arange(0, width, 2) / width)
    return np.stack([np.sin(angle), np.cos(angle)], -1).reshape(steps, width)


def gradients(module):
    """Of every parameter, after a backward pass; None where none came."""
    return {name: parameter.grad for name, parameter in module.named_parameters()}


def count(module):
    return sum(parameter.numel() for parameter in module.parameters())


def standardise(x):  # b t n
    """The window without its mean and deviation, and these."""
    mean, deviation = x.mean(1, keepdims=True), np.sqrt(x.var(1, keepdims=True) + 1e-5)
    return (x - mean) / deviation, mean, deviation


def linear(x, w, name):
    return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]


def layer_norm(x, w, name):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * w[f"{name}.weight"] + w[f"{name}.bias"]


def gelu(x):
    return x * (1 + erf(x / np.sqrt(2))) / 2


def softmax(x):
    raised = np.exp(x - x.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


def normlin(x, weight):
    positive = np.log1p(np.exp(weight))
    return positive / positive.sum(1, keepdims=True) @ x


def attention(x, w, name, heads, earlier=None):  # k m of one sequence
    """Self-attention head by head; the scores, with the earlier ones in them, come second."""
    query, key, value = (linear(x, w, f"{name}.{kind}") for kind in ("query", "key", "value"))
    width = query.shape[-1] // heads
    outputs, scores = [], []
    for head in range(heads):
        part = slice(head * width, (head + 1) * width)
        score = query[:, part] @ key[:, part].T / np.sqrt(width)
        if earlier is not None:
            score = score + earlier[head]
        scores.append(score)
        outputs.append(softmax(score) @ value[:, part])
    return linear(np.concatenate(outputs, axis=-1), w, f"{name}.output"), scores


def dropped_share(module, inside, x):
    """The share of zeros in what reaches the module `inside` when `module` is called on x in training mode."""
    seen = []
    handle = inside.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    module.train()(x)
    handle.remove()
    return float((seen[0] == 0).double().mean())
