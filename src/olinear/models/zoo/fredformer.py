"""Fredformer: attention over series in each band of frequencies."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core import ConfigError
from olinear.models.zoo.blocks.layers import Dropout
from olinear.models.zoo.blocks.mixers import permutes_tokens, token_mixer
from olinear.models.zoo.blocks.transformer import PreNormBlock
from olinear.models.zoo.blocks.window_model import WindowModel
from olinear.nn import MixerFactory, RevIN


class Fredformer(WindowModel):
    """Attention over series in each band of the spectrum, and a forecast of the spectrum.

    X. Piao, Z. Chen, T. Murayama, Y. Matsubara, Y. Sakurai: Fredformer: Frequency Debiased Transformer for Time Series
    Forecasting. KDD 2024.

        F_p = p-th patch of FFT(IN(x)),     H_p = W_h Blocks(W_e [Re F_p, Im F_p])
        z = IFFT(Stream_re([H_p]) + i Stream_im([H_p])),     ŷ = IN⁻¹(W_o [Re z, Im z])

    The blocks see each band alone, all series in it as tokens; the two streams see all bands of one series. The whole
    spectrum is used, both of its mirrored halves. Where the patch does not divide the lookback, the spectrum's last
    patch is filled up with zeros: the frequencies stay those of the lookback.

    With 7 series, 96 → 96: 8,536,048 parameters, 8.19 M of them in the streams. The authors' release has 8,591,951, of
    which 55,903 are never used and left out here; with `mixer="normlin"` it loses 197,790, to the 8.39 M printed in
    the paper. Simplified: full attention where the release takes Nyström's approximation for some datasets, and no
    contrastive loss, which the release holds but does not use; as in the release, nothing is normalised within a patch,
    which the authors' text does. Not checked: settings other than ETTh1's.

    Args:
        n_series, lookback, horizon: n, t, h.
        patch_length: frequencies in a patch.
        model_dim, ff_dim: m and f of the blocks.
        patch_dim: what a patch of a series becomes for the streams.
        blocks, heads, head_dim: L, H and the width of each head.
        dropout: of the embedding, the branches and the hidden features; not of the mixer's matrix.
        mixer: what mixes series: `attention`, `normlin`, or a factory `mixer(n, m, dropout=0)`.
    """

    def __init__(
        self,
        n_series: int,
        lookback: int,
        horizon: int,
        *,
        patch_length: int = 4,
        model_dim: int = 128,
        ff_dim: int = 96,
        patch_dim: int = 48,
        blocks: int = 2,
        heads: int = 8,
        head_dim: int = 32,
        dropout: float = 0.2,
        mixer: str | MixerFactory = "attention",
    ):
        super().__init__(n_series, lookback, horizon)
        if patch_length < 1:
            raise ConfigError(f"patch_length must be at least 1, found {patch_length}")
        self.permutes_series = permutes_tokens(mixer)
        self.patch_length = patch_length
        self.norm = RevIN(n_series, affine=False)
        self.embed = nn.Linear(2 * patch_length, model_dim)
        self.blocks = nn.Sequential(
            *(
                PreNormBlock(
                    token_mixer(mixer, n_series, model_dim, heads=heads, head_dim=head_dim),
                    model_dim,
                    ff_dim,
                    dropout=dropout,
                )
                for _ in range(blocks)
            )
        )
        self.project = nn.Linear(model_dim, patch_dim)
        patches = math.ceil(lookback / patch_length)
        self.real, self.imaginary = (SpectrumStream(patches, patch_dim, horizon) for _ in range(2))
        self.output = nn.Linear(2 * horizon, horizon)
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:  # b t n
        x, stats = self.norm(x)
        patches = spectrum_patches(x.mT, self.patch_length).transpose(1, 2)  # b p n 2l
        tokens = self.dropout(self.embed(patches.flatten(0, 1)))  # b·p n m
        tokens = self.project(self.dropout(self.blocks(tokens)))
        features = tokens.unflatten(0, patches.shape[:2]).transpose(1, 2)  # b n p k
        real, imaginary = self.real(features).to(x.dtype), self.imaginary(features).to(x.dtype)  # no complex bfloat16
        signal = torch.fft.ifft(torch.complex(real, imaginary))  # b n h
        y = self.output(torch.cat([signal.real, signal.imag], -1))  # b n h
        return self.norm.inverse(y.mT, stats)  # b h n


def spectrum_patches(x: Tensor, length: int) -> Tensor:  # ... t -> ... p 2l
    """The whole spectrum in patches of `length` frequencies, real parts before imaginary ones, zeros at its end."""
    parts = torch.view_as_real(torch.fft.fft(x))  # ... t 2
    padded = F.pad(parts, (0, 0, 0, -x.shape[-1] % length))
    return padded.unflatten(-2, (-1, length)).mT.flatten(-2)


class SpectrumStream(nn.Module):
    """From the features of all patches to the real, or the imaginary, part of the forecast's spectrum.

        v = [W_p H_p]_patches,     three times  v = v + ReLU(W v),     y = W_h v

    `... p k -> ... h`
    """

    def __init__(self, patches: int, patch_dim: int, horizon: int):
        super().__init__()
        width = patches * patch_dim
        self.embed = nn.Linear(patch_dim, patch_dim)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(3))
        self.output = nn.Linear(width, horizon)

    def forward(self, features: Tensor) -> Tensor:  # ... p k
        v = self.embed(features).flatten(-2)  # ... p·k
        for layer in self.layers:
            v = v + layer(v).relu()
        return self.output(v)  # ... h
