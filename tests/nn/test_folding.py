"""Folding must not change the function: outputs and every gradient equal those of the plain walk."""

from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from olinear.nn import LowRankNormLin, NormLin, OLinear
from olinear.nn.folding import Shapes, shapes_of

VARIANTS = {
    "default": {},
    "linear head": {"head": "linear"},
    "text's form without affine": {"head": "linear", "affine": False},
    "OLinear-C": {
        "mixer": lambda n, m, dropout: NormLin(n, fixed=torch.eye(n) + 0.1, transform="softmax", dropout=dropout)
    },
    "causal": {"mixer": partial(NormLin, causal=True)},
    "series linear": {"mixer": "linear"},
    "no csl": {"mixer": None},
    "no isl": {"temporal": None},
    "temporal normlin": {"temporal": "normlin"},
    "no pre": {"pre_linear": False},
    "no post": {"post_linear": False},
    "no pre, no post": {"pre_linear": False, "post_linear": False},
    "low rank": {"mixer": lambda n, m, dropout: LowRankNormLin(n, rank=min(n, 2), dropout=dropout)},
    "no blocks": {"blocks": 0},
    **{
        f"{transform} {norm}": {"mixer": partial(NormLin, transform=transform, norm=norm)}
        for transform in ("softplus", "softmax", "sigmoid", "relu", "identity")
        for norm in ("l1", "l2")
    },
}


def make_model(n: int, t: int, h: int, m: int, d: int, dtype: torch.dtype = torch.float64, **options) -> OLinear:
    """A model with every parameter away from its start, and dropout on NormLin's matrix only."""
    model = OLinear(n, t, h, model_dim=m, embed_dim=d, **options).to(dtype)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    for module in model.modules():
        if isinstance(module, NormLin | LowRankNormLin):
            module.dropout = 0.3
    return model.train()


def outputs_and_gradients(model: OLinear, x: torch.Tensor, fold: bool) -> dict[str, torch.Tensor]:
    """With one seed both walks draw the same dropout of A, block by block."""
    model.fold = fold
    model.zero_grad()
    torch.manual_seed(1)
    y = model(x)
    (y * torch.arange(y.numel(), dtype=y.dtype).view_as(y).sin()).sum().backward()
    return {"output": y.detach()} | {name: parameter.grad for name, parameter in model.named_parameters()}


def assert_same(model: OLinear, x: torch.Tensor, tolerance: float):
    plain, folded = (outputs_and_gradients(model, x, fold) for fold in (False, True))
    largest = max(tensor.abs().max() for name, tensor in plain.items() if name != "output")
    for name, expected in plain.items():
        scale = expected.abs().max() if name == "output" else torch.maximum(expected.abs().max(), 1e-3 * largest)
        assert (folded[name] - expected).abs().max() <= tolerance * scale, name


@pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS.keys())
@pytest.mark.parametrize("shape", [(1, 1, 6, 3), (1, 4, 6, 3), (30, 4, 6, 20)], ids=str)
def test_every_variant_is_the_same_function(options: dict, shape: tuple[int, int, int, int]):
    batch, n, t, h = shape
    assert_same(make_model(n, t, h, 6, 3, **options), torch.randn(batch, t, n, dtype=torch.float64), 1e-9)


@given(
    batch=st.integers(1, 12),
    n=st.integers(1, 9),
    t=st.integers(1, 12),
    h=st.integers(1, 12),
    m=st.integers(1, 12),
    d=st.integers(1, 5),
)
@settings(max_examples=60)
def test_any_shape_is_the_same_function(batch: int, n: int, t: int, h: int, m: int, d: int):
    torch.manual_seed(batch + 10 * n + 100 * t)
    assert_same(make_model(n, t, h, m, d), torch.randn(batch, t, n, dtype=torch.float64), 1e-9)


def test_single_precision_agrees_to_1e_4():
    model = make_model(9, 24, 12, 32, 16, torch.float32)
    assert_same(model, torch.randn(40, 24, 9), 1e-4)


def paper_shapes(rows: int, h: int) -> Shapes:
    return Shapes(batch=rows, n_series=1, lookback=96, horizon=h, embed_dim=16, model_dim=512, head_dim=512)


@pytest.mark.parametrize(("h", "rows"), [(96, 330), (720, 370)])
def test_decode_pays_from_about_the_published_number_of_rows(h: int, rows: int):
    """The break-even follows from the counts: about 330 rows at h=96 and 370 at h=720 for m = f = 512."""
    assert not paper_shapes(int(0.95 * rows), h).decode().pays
    assert paper_shapes(int(1.05 * rows), h).decode().pays


def test_mixing_pays_when_rows_exceed_the_width():
    assert not paper_shapes(512, 96).mix().pays
    assert paper_shapes(513, 96).mix().pays


def test_encode_pays_but_for_a_handful_of_rows():
    assert not paper_shapes(1, 96).encode().pays
    assert paper_shapes(20, 96).encode().pays


def test_counts_are_those_of_the_matrix_products():
    """Plain encode of one row: extension d·t, transform d·t², encoder d·t·m."""
    shapes = Shapes(batch=2, n_series=3, lookback=5, horizon=7, embed_dim=2, model_dim=4, head_dim=6)
    assert shapes.encode() == (6 * (10 + 10 * 5 + 10 * 4), 6 * 5 * 4 + 2 * 10 * 4 + 4 * 25 + 3 * 5 * 4)
    assert shapes.mix() == (2 * 6 * 16, 6 * 16 + 64)
    assert shapes.decode() == (6 * 14 * (4 + 7 + 6), 6 * 4 * 6 + 14 * 6 * (4 + 7) + 3 * 7 * 6)


def test_shapes_of_a_model():
    model = OLinear(3, 5, 7, model_dim=4, ff_dim=6, embed_dim=2, head="linear")
    assert shapes_of(model, 2) == Shapes(2, 3, 5, 7, 2, 4, head_dim=7)


@pytest.mark.parametrize("options", VARIANTS.values(), ids=VARIANTS.keys())
def test_compact_is_the_model_in_evaluation(options: dict):
    model = make_model(5, 8, 4, 6, 3, **options).eval()
    model.fold = False
    x = torch.randn(3, 8, 5, dtype=torch.float64)
    compact = model.compact()
    torch.testing.assert_close(compact(x), model(x), rtol=1e-9, atol=1e-9)
    assert not any(parameter.requires_grad for parameter in compact.parameters())


def test_compact_keeps_nothing_of_the_folded_parts():
    """No basis, no copies: what is shipped for inference is smaller than the model, and independent of it."""
    model = OLinear(5, 24, 12, model_dim=8)
    compact = model.compact()
    names = "".join(compact.state_dict())
    assert not any(part in names for part in ("basis", "extension", "offset", "pre.", "post."))
    assert (
        sum(t.numel() for t in compact.state_dict().values()) < sum(t.numel() for t in model.state_dict().values()) / 2
    )
    x = torch.randn(2, 24, 5)
    before = compact(x)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()
    assert torch.equal(compact(x), before)
