"""Metrics of point forecasts: ŷ the forecast, y the target; where y is missing, it is left out."""

from torch import Tensor

from olinear.evaluation.case import Case, Ratio

# Errors in the units of the data


def squared_error(case: Case) -> Ratio:
    """MSE = mean (ŷ - y)², over windows, steps and series."""
    return case.mean(case.error.square())


def absolute_error(case: Case) -> Ratio:
    """MAE = mean |ŷ - y|, over windows, steps and series."""
    return case.mean(case.error.abs())


# Scale-free, each window and series by itself; a window without movement or with a missing target is left out


def unexplained(case: Case) -> Ratio:
    """1 - R² = mean over windows and series of Σ (ŷ - y)² / Σ (y - ȳ)², the sums and ȳ over the horizon."""
    return case.mean_ratio(case.error.square().sum(1), _total(case))


def correlation(case: Case) -> Ratio:
    """r = mean over windows and series of Σ (y - ȳ)(ŷ - mean ŷ) / √(Σ (y - ȳ)² · Σ (ŷ - mean ŷ)²)."""
    moves = case.forecast - case.forecast.mean(1, keepdim=True)
    return case.mean_ratio((case.moves * moves).sum(1), (_total(case) * moves.square().sum(1)).sqrt())


def window_scaled_error(case: Case) -> Ratio:
    """Mean over windows and series of mean |ŷ - y| / mean |y_i - y_(i-1)|, both over the same horizon.

    It is what forecasting papers with long horizons often call MASE; the naive error is that of the target itself.
    """
    return case.mean_ratio(case.error.abs().mean(1), case.target.diff(dim=1).abs().mean(1))


def _total(case: Case) -> Tensor:  # b n
    return case.moves.square().sum(1)


# Scaled by the past or by size, each value by itself


def scaled_error(case: Case) -> Ratio:
    """MASE = mean |ŷ - y| / s, with s = mean |y_t - y_(t-m)| of the series before the forecast and m its season.

    The past is the rows given (of training, or before the first forecast), else the window's own lookback. Series
    whose past does not move are left out.
    """
    return _scaled(case, case.error.abs(), case.scale.absolute)


def scaled_squared_error(case: Case) -> Ratio:
    """RMSSE = √ mean (ŷ - y)² / s², with s² = mean (y_t - y_(t-m))² of the series before the forecast, as in MASE."""
    return _scaled(case, case.error.square(), case.scale.squared)


def symmetric_error(case: Case) -> Ratio:
    """sMAPE = mean 2 |ŷ - y| / (|ŷ| + |y|), between 0 and 2; 0 where both are zero."""
    size = case.forecast.abs() + case.target.abs()
    return case.mean((2 * case.error.abs() / size).masked_fill(size == 0, 0.0))


def _scaled(case: Case, error: Tensor, scale: Tensor) -> Ratio:
    return case.mean(error / scale, case.present & ~scale.isnan())
