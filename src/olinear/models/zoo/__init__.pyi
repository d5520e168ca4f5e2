from olinear.models.zoo.blocks.mixers import token_mixer as token_mixer
from olinear.models.zoo.blocks.periods import square_images as square_images
from olinear.models.zoo.blocks.watching import Attention as Attention
from olinear.models.zoo.blocks.watching import watching as watching
from olinear.models.zoo.skip_olinear import SkipOLinear as SkipOLinear
