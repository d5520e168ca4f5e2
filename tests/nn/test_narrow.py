"""Products in bfloat16: the compact form of it, and what stays in float32."""

from functools import partial

import pytest
import torch

from olinear.nn import LowRankNormLin, NormLin, OLinear
from olinear.nn.compact import CompactOLinear
from olinear.nn.folding import FEW_WINDOWS, mix_series, series_first

VARIANTS = [
    {},
    {"rank": 2},
    {"head": "linear"},
    {"temporal": "normlin"},
    {"pre_linear": False},
    {"mixer": "linear"},
    {"mixer": None},
    {"mixer": partial(NormLin, norm="l2")},
    {"affine": False},
]


def made(**options) -> OLinear:
    torch.manual_seed(0)
    return OLinear(5, 24, 8, model_dim=32, embed_dim=4, **options).eval()


@pytest.mark.parametrize("options", VARIANTS, ids=str)
def test_the_narrow_form_is_near_the_plain_walk(options):
    model, x = made(**options), torch.randn(20, 24, 5)
    with torch.no_grad():
        plain, narrow = model.plain_walk(x), model.compact().bfloat16()(x)
    assert narrow.dtype == torch.float32
    assert 0 < (narrow - plain).abs().max() < 0.03 * plain.abs().max()


def test_a_level_far_from_zero_is_kept():
    """RevIN computes in float32, where 10,000 and a deviation of 1 fit together."""
    model, x = made(), torch.randn(20, 24, 5)
    with torch.no_grad():
        plain, far = model.plain_walk(x), model.compact().bfloat16()(x + 10_000)
    assert (far - 10_000 - plain).abs().max() < 0.03 * plain.abs().max() + 0.01


def test_it_keeps_its_matrices_in_half_the_memory():
    def size(module: CompactOLinear) -> int:
        return sum(buffer.numel() * buffer.element_size() for buffer in [*module.buffers(), *module.parameters()])

    model = made()
    assert size(model.compact().bfloat16()) < 0.6 * size(model.compact())
    assert all(buffer.dtype == torch.float32 for buffer in model.compact().buffers())


def test_sums_of_rows_stay_float32_under_autocast():
    mixer = LowRankNormLin(40, rank=8)
    plain = mixer.factors(drop=False)
    with torch.autocast("cpu", torch.bfloat16):
        for expected, found in zip(plain, mixer.factors(drop=False), strict=True):
            assert torch.equal(expected, found)


def test_the_sums_of_a_dropped_matrix_meet_the_bias_in_float32():
    csl, seen = made().blocks[0].csl, []
    apply = csl.mixer.operator()
    csl.mixer.operator = lambda: lambda x: (seen.append(x.dtype), apply(x))[1]
    with torch.autocast("cpu", torch.bfloat16):
        mix_series(csl, torch.randn(5, 4, 32).bfloat16(), fold=True)
    assert seen[0] == torch.float32


def test_series_come_first_in_memory_for_one_product():
    many, few = series_first(torch.randn(FEW_WINDOWS, 7, 3)), series_first(torch.randn(FEW_WINDOWS - 1, 7, 3))
    assert many.is_contiguous()
    assert not few.is_contiguous(), "else a saved model would forecast a few windows with other last bits"
