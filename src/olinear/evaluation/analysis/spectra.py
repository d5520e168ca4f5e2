"""How the variance of the windows is shared among the features of a basis."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from olinear.core import ConfigError, DataError
from olinear.models import traits_of
from olinear.nn import OrthoTrans, lag_correlation


@dataclass(frozen=True)
class Spectrum:
    """The variance of each feature; empty (and false) where no series varies enough to have a correlation."""

    variances: Sequence[float]

    def __len__(self) -> int:
        return len(self.variances)

    @property
    def shares(self) -> NDArray[np.float64]:
        """What the first features hold together of the whole variance, up to 1."""
        return np.cumsum(self.variances) / np.sum(self.variances)

    def features_for(self, share: float) -> int:
        """How many of the first features hold a share of the variance."""
        return min(int(np.searchsorted(self.shares, share)) + 1, len(self))

    def rounded(self, digits: int = 6) -> list[float]:
        """For a file."""
        return [round(float(variance), digits) for variance in self.variances]


def spectrum(model_or_basis: nn.Module | ArrayLike, rows: ArrayLike) -> Spectrum:
    """The variances of the features of windows: the diagonal of Q C Qᵀ.

    Args:
        model_or_basis: a model with orthogonal bases (then Q is the one of its input), an `OrthoTrans`, or Q itself,
            `[t, t]`, whose rows are the basis vectors.
        rows: `[rows, series]`, from which the correlation C of t steps is taken.
    """
    basis = _basis(model_or_basis)
    try:
        correlation = lag_correlation(rows, len(basis))
    except DataError:
        return Spectrum(())
    return Spectrum(np.einsum("ft,ts,fs->f", basis, correlation, basis, optimize=True).tolist())


def _basis(source: nn.Module | ArrayLike) -> NDArray[np.float64]:
    if isinstance(source, nn.Module) and not isinstance(source, OrthoTrans):
        if not traits_of(source).orthogonal:
            raise ConfigError(f"{type(source).__name__} has no orthogonal basis: give the basis itself")
        source = source.input_transform
    matrix = source.basis if isinstance(source, OrthoTrans) else source
    if isinstance(matrix, Tensor):
        matrix = matrix.detach().cpu().double().numpy()
    return np.asarray(matrix, dtype=np.float64)
