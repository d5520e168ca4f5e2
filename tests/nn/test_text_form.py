"""The paper's text, equation by equation: each copy is encoded, mixed and decoded for itself."""

import pytest
import torch
import torch.nn.functional as F
from olinear_parts import H, N, T, count, randomised, small, windows
from torch import nn

from olinear.core.errors import ConfigError
from olinear.nn import CompactOLinear

TEXT = {"form": "text", "head": "linear"}


def by_equation(model, x):
    """Section 4, one copy at a time, from the parameters alone."""
    mean, deviation = x.mean(1, keepdim=True), (x.var(1, correction=0, keepdim=True) + 1e-5).sqrt()
    normal = ((x - mean) / deviation * model.revin.weight + model.revin.bias).mT  # b n t
    decoded = []
    for phi in model.extension:
        hidden = model.encoder(phi * normal @ model.input_transform.basis.T)  # b n m
        for block in model.blocks:
            csl, isl = block.csl, block.isl
            weight = F.softplus(csl.mixer.weight)
            mixed = torch.einsum("ij,bjm->bim", weight / weight.sum(1, keepdim=True), csl.pre(hidden))
            hidden = csl.norm(hidden + csl.post(mixed))
            hidden = isl.norm(hidden + isl.contract(F.gelu(isl.expand(hidden))))
        decoded.append(model.decoder(hidden) @ model.output_transform.basis)  # b n h
    y = model.head(torch.cat(decoded, -1)).mT  # b h n
    return (y - model.revin.bias) / (model.revin.weight + 1e-10) * deviation + mean


@pytest.mark.parametrize("batch", [1, 40])
def test_equals_the_equations(batch):
    model, x = randomised(small(**TEXT)), windows(batch)
    torch.testing.assert_close(model(x), by_equation(model, x))


@pytest.mark.parametrize(("width", "copies", "blocks"), [(8, 4, 2), (5, 3, 1), (8, 1, 0)])
def test_parameters(width, copies, blocks):
    """RevIN, φ, t → m, CSL and ISL, m → h, d·h → h; no offsets, no last LayerNorm, no copy with layers of its own."""
    square = width * width + width
    block = N * N + 2 * square + 2 * width + 2 * square + 2 * width
    ends = (T * width + width) + (width * H + H) + (copies * H * H + H)
    model = small(**TEXT, model_dim=width, embed_dim=copies, blocks=blocks)
    assert count(model) == 2 * N + copies + blocks * block + ends
    assert sum(isinstance(each, nn.LayerNorm) for each in model.modules()) == 2 * blocks


def test_nothing_drops_out_of_the_forecast():
    model = small(**TEXT, dropout=0.5, blocks=0).train()
    torch.testing.assert_close(model(windows()), model(windows()))


def test_it_is_never_folded_and_its_compact_form_is_itself():
    model = randomised(small(**TEXT, fold=True))
    assert not model.fold
    compact = model.compact()
    assert not isinstance(compact, CompactOLinear)
    assert compact is not model
    torch.testing.assert_close(compact(windows()), model(windows()), rtol=0, atol=0)


def test_a_form_is_one_of_two():
    with pytest.raises(ConfigError, match="form must be 'experiment' or 'text', found 'code'"):
        small(form="code")
