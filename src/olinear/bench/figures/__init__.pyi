from olinear.bench.figures.registry import FIGURES as FIGURES
from olinear.bench.figures.registry import Figure as Figure
from olinear.bench.figures.registry import Places as Places
from olinear.bench.figures.registry import find_figure as find_figure
from olinear.bench.figures.verdicts import Verdict as Verdict
from olinear.bench.figures.verdicts import judge as judge
