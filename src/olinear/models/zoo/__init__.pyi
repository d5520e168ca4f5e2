from olinear.models.zoo.blocks.mamba import mamba_olinear as mamba_olinear
from olinear.models.zoo.blocks.mixers import TOKEN_MIXERS as TOKEN_MIXERS
from olinear.models.zoo.blocks.mixers import olinear_mixer as olinear_mixer
from olinear.models.zoo.blocks.periods import square_images as square_images
