from olinear.data.datasets.demo import load_demo as load_demo
from olinear.forecaster.forecaster import Forecaster as Forecaster
from olinear.forecaster.service.side_by_side import fit_side_by_side as fit_side_by_side
from olinear.models.zoo.blocks.mixers import OLinear as OLinear

__version__: str
