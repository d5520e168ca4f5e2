"""What mixing n tokens of width m costs, as the paper's table of complexities states it."""

from typing import NamedTuple


class MixingCost(NamedTuple):
    """Of one window: multiplications, and numbers that are kept while the tokens are mixed."""

    multiplications: int
    memory: int


def normlin_cost(n: int, m: int) -> MixingCost:
    """W_post (A (W_pre x)): two maps of the width and one product with A.

    n² m + 2 n m² multiplications;  A and the tokens, n² + n m numbers
    """
    return MixingCost(n * n * m + 2 * n * m * m, n * n + n * m)


def attention_cost(n: int, m: int, heads: int = 8) -> MixingCost:
    """Multi-head self-attention: four maps of the width, the scores, and the product with the values.

        2 n² m + 4 n m² multiplications;  a matrix a head and the tokens, h n² + n m numbers

    A fused kernel never forms the matrices of the heads, and does not need the first of the two.
    """
    return MixingCost(2 * n * n * m + 4 * n * m * m, heads * n * n + n * m)
