"""How good a forecast is."""

from olinear.evaluation.metrics import Scores, evaluate, last_value

__all__ = ["Scores", "evaluate", "last_value"]
