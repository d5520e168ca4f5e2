from olinear.models.zoo.blocks.mamba import mamba_olinear as mamba_olinear
from olinear.models.zoo.blocks.periods import square_images as square_images
