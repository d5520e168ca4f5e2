from olinear.data.windows.mixture import Mixture as Mixture
from olinear.data.windows.splits import Split as Split
from olinear.data.windows.windows import Windows as Windows
