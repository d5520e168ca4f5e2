from olinear.models.zoo.blocks.periods import square_images as square_images
