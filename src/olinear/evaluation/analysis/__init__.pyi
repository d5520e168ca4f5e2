from olinear.evaluation.analysis.correlations import Decorrelation as Decorrelation
from olinear.evaluation.analysis.correlations import decorrelation as decorrelation
from olinear.evaluation.analysis.describing import SeriesSummary as SeriesSummary
from olinear.evaluation.analysis.describing import describe_series as describe_series
from olinear.evaluation.analysis.describing import find_outliers as find_outliers
from olinear.evaluation.analysis.mixing import mixing_matrices as mixing_matrices
from olinear.evaluation.analysis.spectra import Spectrum as Spectrum
from olinear.evaluation.analysis.spectra import spectrum as spectrum
