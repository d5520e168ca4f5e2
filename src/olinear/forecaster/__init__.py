"""A forecast one can trust: fit, predict, backtest, save, load."""

from olinear.forecaster.backtesting import Backtest
from olinear.forecaster.forecaster import Forecaster, Prediction

__all__ = ["Backtest", "Forecaster", "Prediction"]
