"""How the variance of the windows is shared among the features of a basis."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, nn

from olinear.core import ConfigError, DataError
from olinear.evaluation.analysis.correlations import split_known, window_covariance
from olinear.models import traits_of
from olinear.nn import OrthoTrans, lag_correlation, make_basis


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
    return Spectrum(_variances(basis, correlation).tolist())


def compaction(
    values: ArrayLike, lookback: int, bases: Sequence[str], known: float = 0.7, *, normalised: bool = False
) -> dict[str, Spectrum]:
    """How much of the variance of the newer rows the first features of some bases hold, by the name of the basis.

    Features come in the order of their variance in the older rows, which the adaptive bases are made from, so that a
    basis with another order of its own is not at a disadvantage, and none is ordered by the rows it is judged on.

    Args:
        values: `[rows, series]`, missing ones (NaN) bridged.
        lookback: the number of steps.
        bases: names in `olinear.nn.BASES`.
        known: the share of the rows that are the older ones.
        normalised: of windows as a model sees them behind RevIN, as in `decorrelation`.
    """
    older, newer = split_known(values, lookback, known)
    measure = window_covariance if normalised else lag_correlation
    before, after = measure(older, lookback), measure(newer, lookback)
    found = {}
    for name in bases:
        q = make_basis(name, lookback, older)
        order = np.argsort(-_variances(q, before), kind="stable")
        found[name] = Spectrum(np.maximum(_variances(q, after)[order], 0.0).tolist())
    return found


def _variances(basis: NDArray[np.floating], covariance: NDArray[np.floating]) -> NDArray[np.float64]:
    return np.asarray(np.einsum("ft,ts,fs->f", basis, covariance, basis, optimize=True))


def _basis(source: nn.Module | ArrayLike) -> NDArray[np.float64]:
    if isinstance(source, nn.Module) and not isinstance(source, OrthoTrans):
        if not traits_of(source).orthogonal:
            raise ConfigError(f"{type(source).__name__} has no orthogonal basis: give the basis itself")
        source = source.input_transform
    matrix = source.basis if isinstance(source, OrthoTrans) else source
    if isinstance(matrix, Tensor):
        matrix = matrix.detach().cpu().double().numpy()
    return np.asarray(matrix, dtype=np.float64)
