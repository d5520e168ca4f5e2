from olinear.evaluation.plots.forecasts import FORECAST as FORECAST
from olinear.evaluation.plots.forecasts import HISTORY as HISTORY
from olinear.evaluation.plots.forecasts import plot_correlation as plot_correlation
from olinear.evaluation.plots.forecasts import plot_forecast as plot_forecast
from olinear.evaluation.plots.forecasts import plot_model as plot_model
from olinear.evaluation.plots.forecasts import require_matplotlib as require_matplotlib
from olinear.evaluation.plots.forecasts import save_figure as save_figure
