"""Metrics of quantiles and intervals: q_τ is the forecast's quantile of level τ, y the target."""

import torch

from olinear.evaluation.case import Case, Ratio


def weighted_quantile_loss(case: Case) -> Ratio:
    """WQL = Σ mean over τ of 2 max(τ (y - q_τ), (τ - 1) (y - q_τ)) / Σ |y|, the sums over all targets."""
    return Ratio(case.mean(case.pinball).above, torch.where(case.present, case.target.abs(), 0.0))


def ranked_probability_score(case: Case) -> Ratio:
    """CRPS ≈ mean over targets and τ of 2 max(τ (y - q_τ), (τ - 1) (y - q_τ)), from the quantiles asked for."""
    return case.mean(case.pinball)


def coverage(case: Case, level: float) -> Ratio:
    """The share of targets with low ≤ y ≤ high, the bounds of the central interval of the level."""
    low, high = case.interval(level)
    return case.mean(((case.target >= low) & (case.target <= high)).to(case.error))


def width(case: Case, level: float) -> Ratio:
    """The mean of high - low, the bounds of the central interval of the level, where there is a target."""
    low, high = case.interval(level)
    return case.mean(high - low)
