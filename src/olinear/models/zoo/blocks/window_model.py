"""What every forecaster of the zoo is. Their provenance, settings and doubts are pages in `docs/models`."""

from dataclasses import replace

from torch import Tensor, nn

from olinear.core import Traits
from olinear.models.cards import MODELS
from olinear.nn import check_windows


class WindowModel(nn.Module):
    """What every forecaster here is: `b t n -> b h n`, for windows of the sizes it was made for, or as its card says.

    Args:
        n_series, lookback, horizon: n, t, h.
    """

    permutes_series = False  # are permuted series forecast alike? Then nothing ties the model to n of them

    def __init__(self, n_series: int, lookback: int, horizon: int):
        super().__init__()
        self.n_series, self.lookback, self.horizon = n_series, lookback, horizon
        self.register_forward_pre_hook(_check_input)

    @property
    def traits(self) -> Traits:
        """Those of its card, and whether it takes any number of series, which may hang on its options."""
        card = MODELS.card_of(type(self))
        return replace(Traits() if card is None else card.traits, any_series=self.permutes_series)


def _check_input(model: WindowModel, inputs: tuple[Tensor, ...]) -> None:
    if inputs:  # not by name
        traits = model.traits
        lookback = None if traits.any_length else model.lookback
        check_windows(inputs[0], lookback, None if traits.any_series else model.n_series)
