"""Gaussian: the paper's Theorem 1 as a forecaster."""

from statistics import NormalDist

import torch
from torch import Tensor

from olinear.core import ConfigError, DataError
from olinear.models.zoo.blocks.closed_form import ClosedForm, Moments
from olinear.nn import gaussian_conditional


class Gaussian(ClosedForm):
    """The mean of the horizon given the lookback, windows taken as Gaussian: the paper's Theorem 1.

    W. Yue, Y. Liu, H. Li, H. Wang, X. Ying, R. Guo, B. Xing, J. Shi: OLinear: A Linear Model for Time Series
    Forecasting in Orthogonally Transformed Domain. NeurIPS 2025, Theorem 1.

        ŷ = μ_y + Σ_xyᵀ Σ_x⁻¹ (x - μ_x),     Var = diag(Σ_y - Σ_xyᵀ Σ_x⁻¹ Σ_xy)

    μ and Σ are the moments of training windows, normalised and weighed by s² (`ClosedForm`). The share `jitter` of its
    mean is added to the diagonal of Σ_x, which normalised windows make singular (each sums to zero). The mean is then
    `Ridge(penalty=jitter)`: a Gaussian's conditional mean is its linear regression. What the theorem adds is
    the variance, and `interval`.

    Not accounted for: the error of the estimated moments (short training rows make intervals too narrow), and that a
    normalised window is not quite Gaussian, its deviation being the window's own.

    Args:
        n_series, lookback, horizon: n, t, h.
        jitter: what is added to Σ_x, as a share of the mean variance of an input.
        individual: a distribution for each series; otherwise one for all.
        normalise: remove each window's mean and deviation; otherwise windows are taken as they are.
    """

    variance: Tensor

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        jitter: float = 1e-6,
        individual: bool = False,
        normalise: bool = True,
    ):
        super().__init__(n_series, lookback, horizon, individual=individual, normalise=normalise)
        if not jitter >= 0:
            raise ConfigError(f"jitter must be 0 or more, found {jitter}")
        self.jitter = jitter
        self.register_buffer("variance", torch.zeros_like(self.bias))

    def learn(self, group: int, moments: Moments) -> None:
        observed = torch.arange(len(moments.mean), device=moments.mean.device) < self.lookback
        level = float(moments.covariance.diagonal()[observed].mean()) or 1.0  # a constant series has no variance
        loaded = moments.covariance + torch.diag(self.jitter * level * observed.double())
        # From mean 0, the forecasts of the unit vectors are the rows of Σ_x⁻¹ Σ_xy.
        units = torch.eye(self.lookback).to(loaded)
        try:
            conditional = gaussian_conditional(torch.zeros_like(moments.mean), loaded, observed, units)
        except DataError as error:
            raise DataError(
                f"the covariance of the lookbacks is not positive definite with jitter={self.jitter:g}: pass a larger "
                "one, such as 1e-6"
            ) from error
        self.set_map(group, conditional.mean, moments)
        self.variance[:, group].copy_(conditional.variance.clamp(min=0.0))

    def interval(self, x: Tensor, level: float) -> tuple[Tensor, Tensor]:  # b t n
        """The bounds, `b h n` each and in the units of x, that hold a value with a probability of `level` per cent."""
        if not 1 <= level <= 99:
            raise ConfigError(f"a level must lie between 1 and 99 per cent, found {level:g}")
        forecast, (_, stats) = self(x), self.standardise(x)
        half = NormalDist().inv_cdf(0.5 + level / 200) * self.variance.sqrt() * stats.deviation  # b h n
        return forecast - half, forecast + half
