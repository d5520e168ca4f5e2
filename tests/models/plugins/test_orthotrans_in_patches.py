"""OrthoTrans in each patch: the same functions as before, reached from another start."""

import numpy as np
import pytest
import torch

from olinear.core.errors import ConfigError
from olinear.models import build_model
from olinear.models.plugins import orthotrans_in_patches
from olinear.nn import OrthoTrans

ROWS = np.random.default_rng(0).normal(size=(80, 3)).cumsum(0)
WINDOWS = torch.from_numpy(np.random.default_rng(1).normal(size=(4, 24, 3)))


def host(model="PatchTST"):
    options = {"patch_length": 8, "stride": 4, "model_dim": 8, "heads": 2} if model == "PatchTST" else {}
    return build_model(model, ROWS, 24, 6, **options).double().eval()


def test_each_patch_is_seen_in_the_basis_of_its_size():
    plain = host()
    changed = orthotrans_in_patches(plain, ROWS)
    basis = OrthoTrans.fit(ROWS, 8).basis.double()
    torch.testing.assert_close(changed.embed[0].basis, basis)
    assert not torch.allclose(changed(WINDOWS), plain(WINDOWS))
    plain.embed.weight.data = plain.embed.weight.data @ basis  # the same map, of steps
    torch.testing.assert_close(changed(WINDOWS), plain(WINDOWS), atol=1e-5, rtol=1e-5)


def test_the_host_is_copied_unless_it_may_be_changed():
    plain = host()
    before = plain(WINDOWS)
    orthotrans_in_patches(plain, ROWS)
    assert torch.equal(plain(WINDOWS), before)
    assert orthotrans_in_patches(plain, ROWS, copy=False) is plain


def test_gradient_reaches_every_parameter_and_the_basis_stays():
    changed = orthotrans_in_patches(host(), ROWS, copy=False).train()
    changed(WINDOWS).square().sum().backward()
    assert (changed.embed[1].weight.grad != 0).any()
    assert "embed.0.basis" not in dict(changed.named_parameters())


@pytest.mark.parametrize("model", ["RLinear", "iTransformer"])
def test_a_model_without_patches_is_refused(model):
    with pytest.raises(ConfigError, match="has no linear map of patches: with_orthotrans stands around it"):
        orthotrans_in_patches(host(model), ROWS)
