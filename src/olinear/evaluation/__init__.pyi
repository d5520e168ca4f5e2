from olinear.evaluation.metrics import Scores as Scores
from olinear.evaluation.metrics import evaluate as evaluate
from olinear.evaluation.metrics import last_value as last_value
from olinear.evaluation.metrics import window_errors as window_errors
from olinear.evaluation.significance import holm as holm
from olinear.evaluation.significance import least_p as least_p
from olinear.evaluation.significance import sign_flip_test as sign_flip_test
