from olinear.models.plugins.normlin import NormLinAttention as NormLinAttention
from olinear.models.plugins.normlin import swap_attention as swap_attention
from olinear.models.plugins.ortho import OrthoForecaster as OrthoForecaster
from olinear.models.plugins.ortho import orthotrans_in_patches as orthotrans_in_patches
from olinear.models.plugins.ortho import with_orthotrans as with_orthotrans
