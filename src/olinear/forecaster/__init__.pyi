from olinear.forecaster.backtesting import Backtest as Backtest
from olinear.forecaster.choosing import default_lookback as default_lookback
from olinear.forecaster.export import export_onnx as export_onnx
from olinear.forecaster.fitted import Fitted as Fitted
from olinear.forecaster.forecaster import Forecaster as Forecaster
from olinear.forecaster.intervals import check_level as check_level
from olinear.forecaster.prediction import Prediction as Prediction
from olinear.forecaster.publishing import check_target as check_target
