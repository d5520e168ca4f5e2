from olinear.models.registry import MAIN as MAIN
from olinear.models.registry import MODELS as MODELS
from olinear.models.registry import build_model as build_model
from olinear.models.registry import check_options as check_options
from olinear.models.registry import default_options as default_options
from olinear.models.registry import find_model as find_model
from olinear.models.registry import summary as summary
