"""OrthoTrans around any forecaster, or in the patches of one that has some."""

from copy import deepcopy

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from olinear.core import ConfigError, DataError, Traits
from olinear.models.building import traits_of
from olinear.nn import OrthoTrans, RevIN, WindowStats, check_windows


class OrthoForecaster(nn.Module):
    """A forecaster that reads and writes its series in an orthogonal basis: `b t n -> b h n` (the paper's
    plug-in experiment).

        ŷ = Norm⁻¹(Model(Norm(x) Q_iᵀ) Q_o)

    The model sees t features of each series where it used to see t steps, and answers with h features.

    Args:
        model: any module `b t n -> b h n` that does not normalise its windows itself.
        input_transform, output_transform: OrthoTrans with Q_i `[t, t]` and Q_o `[h, h]`.
        norm: `z, stats = norm(x)` and `norm.inverse(y, stats)`, such as `RevIN`; None for none.
    """

    def __init__(
        self, model: nn.Module, input_transform: OrthoTrans, output_transform: OrthoTrans, norm: nn.Module | None
    ):
        super().__init__()
        self.traits = Traits(batch_dependent=traits_of(model).batch_dependent)
        self.norm = Unnormalised() if norm is None else norm
        self.input_transform = input_transform
        self.model = model
        self.output_transform = output_transform

    def forward(self, x: Tensor) -> Tensor:  # b t n
        lookback, horizon = self.input_transform.size, self.output_transform.size
        check_windows(x, lookback)
        x, stats = self.norm(x)  # b t n
        y = self.model(self.input_transform(x.mT).mT)  # b h n
        if y.shape != (len(x), horizon, x.shape[2]):
            raise DataError(f"the model must answer {(len(x), horizon, x.shape[2])}, found {tuple(y.shape)}")
        y = self.output_transform.inverse(y.mT).mT  # b h n
        return self.norm.inverse(y, stats)  # type: ignore[operator]


class Unnormalised(nn.Module):
    """What stands where a RevIN was: the window as it is."""

    def forward(self, x: Tensor) -> tuple[Tensor, WindowStats]:  # b t n
        mean = torch.zeros_like(x[:, :1])  # b 1 n, for a host that undoes its norm by hand
        return x, WindowStats(mean, torch.ones_like(mean))

    def inverse(self, y: Tensor, stats: WindowStats) -> Tensor:  # b h n
        return y


def with_orthotrans(
    model: nn.Module,
    lookback: int,
    horizon: int,
    train: ArrayLike | None = None,
    *,
    basis: str = "pearson",
    input_transform: OrthoTrans | None = None,
    output_transform: OrthoTrans | None = None,
    normalise: bool = True,
    copy: bool = True,
) -> OrthoForecaster:
    """OrthoTrans around a forecaster `b t n -> b h n`.

    The transform must stand **between** the normalisation of a window and the model: a model that normalised
    transformed features would take the first of them, which is most of the window, for its level. So a `RevIN` found
    in the model moves outside with its weights; those of olinear's forecasters that normalise have one (TimeMixer and
    TimeMixer++ several, and are refused). A model that has none, as DLinear, FreTS, Crossformer and FEDformer, gets a
    RevIN without learnt part. One that normalises by other means should be made without that, or wrapped with
    `normalise=False`, its own normalisation then acting on transformed features.

    Args:
        model: the forecaster.
        lookback, horizon: t and h.
        train: training rows `[rows, series]`, never later ones, for the data-adaptive bases.
        basis: the name of both bases, one of `olinear.nn.bases.BASES`.
        input_transform, output_transform: Q_i and Q_o themselves, instead of those from `basis`; the identity,
            `OrthoTrans.fit(None, size, "identity")`, leaves one side in the time domain.
        normalise: False leaves normalisation alone: none outside, the model's own inside.
        copy: leave `model` as it is and wrap a copy; otherwise its `RevIN` is taken out of itself.
    """
    if traits_of(model).closed_form:
        raise ConfigError(f"{type(model).__name__} is solved, not trained, and finds the same forecast in any basis")
    if traits_of(model).any_length:
        raise ConfigError(
            f"{type(model).__name__} reads a window step after step, each normalised by those before it, and features "
            "have no such order: take a model of one lookback, such as PatchTST"
        )
    sides = {"input_transform": (input_transform, lookback), "output_transform": (output_transform, horizon)}
    transforms = []
    for name, (transform, size) in sides.items():
        if transform is not None and transform.size != size:
            raise DataError(f"{name} must have size {size}, found {transform.size}")
        transforms.append(OrthoTrans.fit(train, size, basis) if transform is None else deepcopy(transform))
    model = deepcopy(model) if copy else model
    whole = OrthoForecaster(model, transforms[0], transforms[1], _take_norm(model) if normalise else None)
    like = next((parameter for parameter in model.parameters() if parameter.is_floating_point()), None)
    for transform in () if like is None else (whole.input_transform, whole.output_transform):
        transform.to(like)  # the host's dtype and device
    return whole


def orthotrans_in_patches(
    model: nn.Module, train: ArrayLike | None = None, *, basis: str = "pearson", copy: bool = True
) -> nn.Module:
    """OrthoTrans in each patch of a forecaster that maps patches of its normalised windows, as PatchTST does.

        token = W_p (Q x_p) + b_p,     Q [l, l]

    The map of a patch is linear, so no other functions are reached than before: what differs is how it is trained.

    Args:
        model: one with `patch_length` l and `embed`, the linear map of a patch.
        train: training rows `[rows, series]`, never later ones, for the data-adaptive bases.
        basis: the name of Q, one of `olinear.nn.bases.BASES`.
        copy: leave `model` as it is and change a copy.
    """
    length, embed = getattr(model, "patch_length", None), getattr(model, "embed", None)
    if not isinstance(length, int) or not isinstance(embed, nn.Linear) or embed.in_features != length:
        raise ConfigError(f"{type(model).__name__} has no linear map of patches: with_orthotrans stands around it")
    model = deepcopy(model) if copy else model
    transform = OrthoTrans.fit(train, length, basis).to(embed.weight)
    model.embed = nn.Sequential(transform, model.embed)  # type: ignore[arg-type]
    return model


def _take_norm(model: nn.Module) -> nn.Module:
    """The model's own RevIN, taken out of it; a plain one if it has none."""
    places = model.named_modules(remove_duplicate=False)  # one RevIN may have several names
    found = {name: module for name, module in places if isinstance(module, RevIN)}
    norms = set(found.values())
    if not norms:
        return RevIN(1, affine=False)
    if len(norms) > 1:
        raise ConfigError(
            f"{type(model).__name__} normalises in {len(norms)} places ({', '.join(found)}), and which of them comes "
            "first cannot be seen from outside: use OrthoTrans as a layer inside it, or pass normalise=False"
        )
    for name in found:
        parent, _, leaf = name.rpartition(".")
        setattr(model.get_submodule(parent), leaf, Unnormalised())
    return norms.pop()
