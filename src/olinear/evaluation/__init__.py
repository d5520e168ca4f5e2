"""How good a forecast is."""

from olinear.evaluation.metrics import Scores, evaluate, last_value, window_errors
from olinear.evaluation.significance import holm, least_p, sign_flip_test

__all__ = ["Scores", "evaluate", "holm", "last_value", "least_p", "sign_flip_test", "window_errors"]
