from olinear.models.zoo.blocks.periods import square_images as square_images
from olinear.models.zoo.skip_olinear import SkipOLinear as SkipOLinear
