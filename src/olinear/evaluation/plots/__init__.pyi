from olinear.evaluation.plots.correlation import plot_correlation as plot_correlation
from olinear.evaluation.plots.forecasts import plot_forecast as plot_forecast
from olinear.evaluation.plots.models import plot_model as plot_model
from olinear.evaluation.plots.saving import require_matplotlib as require_matplotlib
from olinear.evaluation.plots.saving import save_figure as save_figure
from olinear.evaluation.plots.style import ACTUAL as ACTUAL
from olinear.evaluation.plots.style import FORECAST as FORECAST
from olinear.evaluation.plots.style import HISTORY as HISTORY
