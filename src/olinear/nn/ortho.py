"""OrthoTrans: a time axis seen in an orthogonal basis."""

from typing import Self

import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from olinear.core import DataError
from olinear.nn.bases import make_basis
from olinear.nn.products import multiply


class OrthoTrans(nn.Module):
    """The orthogonal transform of the last axis (Section 4.2).

        forward:  z = x Qᵀ        inverse:  x = z Q        (rows of Q are the basis vectors)

    With the Pearson basis, the features z of the training windows are uncorrelated. The matrix is a buffer:
    it is saved and moved with the module and never trained.

    Args:
        basis: Q, `[size, size]`, orthogonal.
    """

    basis: Tensor

    def __init__(self, basis: ArrayLike | Tensor):
        super().__init__()
        matrix = torch.as_tensor(basis).to(torch.get_default_dtype()).clone(memory_format=torch.contiguous_format)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
            raise DataError(f"basis must have shape (size, size), found {tuple(matrix.shape)}")
        error = matrix @ matrix.mT - torch.eye(len(matrix), device=matrix.device)
        if not matrix.is_meta and not error.abs().max() <= 1e-3:  # so that NaN is refused too
            raise DataError("basis must be orthogonal, with Q Qᵀ = I: the rows given are not orthonormal")
        self.register_buffer("basis", matrix)

    @classmethod
    def fit(cls, train: ArrayLike | None, size: int, basis: str = "pearson") -> Self:
        """The transform of a named basis (`olinear.nn.bases.BASES`) from training rows `[rows, series]`."""
        return cls(make_basis(basis, size, train))

    @property
    def size(self) -> int:
        return len(self.basis)

    def forward(self, x: Tensor) -> Tensor:  # ... t
        return multiply(x, self.basis.mT)

    def inverse(self, z: Tensor) -> Tensor:  # ... t
        return multiply(z, self.basis)

    def extra_repr(self) -> str:
        return f"size={self.size}"
