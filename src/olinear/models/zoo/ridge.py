"""Ridge: the best linear forecast, in closed form."""

import torch

from olinear.core import ConfigError
from olinear.models.zoo.blocks.closed_form import ClosedForm, Moments


class Ridge(ClosedForm):
    """The linear map from lookback to horizon with the least squared error, solved without training.

    A. E. Hoerl, R. W. Kennard: Ridge Regression: Biased Estimation for Nonorthogonal Problems. Technometrics 12, 1970.

        W, b = argmin Σ |y - ŷ|² / Σ s² + λ |W|²,     ŷ = m + s (Wᵀ (x - m) / s + b)
             ⇒ W = (Σ_x + λ I)⁻¹ Σ_xy,   b = μ_y - Wᵀ μ_x,       λ = penalty · mean of Σ_x's diagonal

    The sums are over the training windows of all series; μ and Σ are the moments of the normalised windows, weighed by
    s² (`ClosedForm`). With `penalty=0` this is where RLinear without its affine part and its dropout would end, trained
    with the squared error; where Σ_x cannot be inverted (a normalised window sums to zero) W is the solution of least
    norm. A window and series with a missing target is left out.

    Args:
        n_series, lookback, horizon: n, t, h.
        penalty: λ as a share of the mean variance of an input.
        individual: one map for each series; otherwise one for all.
        normalise: remove each window's mean m and deviation s, as RLinear does; otherwise m is a constant and s is 1.
    """

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        penalty: float = 1e-4,
        individual: bool = False,
        normalise: bool = True,
    ):
        super().__init__(n_series, lookback, horizon, individual=individual, normalise=normalise)
        if not penalty >= 0:
            raise ConfigError(f"penalty must be 0 or more, found {penalty}")
        self.penalty = penalty

    def learn(self, group: int, moments: Moments) -> None:
        inputs, cross = moments.covariance[: self.lookback].split((self.lookback, self.horizon), 1)
        loading = self.penalty * inputs.diagonal().mean()
        inverse = torch.linalg.pinv(inputs + loading * torch.eye(len(inputs)).to(inputs), rtol=1e-12, hermitian=True)
        self.set_map(group, inverse @ cross, moments)
