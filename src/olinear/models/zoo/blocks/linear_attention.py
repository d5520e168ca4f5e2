"""Attention at a cost linear in the number of tokens.

`form="experiment"` computes what the paper's comparison did, `form="paper"` what the mixer's own authors describe.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from olinear.core import ConfigError
from olinear.models.zoo.blocks.attention import Form, HeadMixer, check_form


class FlowAttention(HeadMixer):
    """Flowformer: attention as a flow network whose incoming and outgoing flows are conserved, in O(k d²).

    H. Wu, J. Wu, J. Xu, J. Wang, M. Long: Flowformer: Linearizing Transformers with Conservation Flows. ICML 2022.

        I_i = q_i·Σk,   O_j = k_j·Σq,   Î_i = q_i·Σ_j k_j/O_j,   Ô_j = k_j·Σ_i q_i/I_i        (q, k after a sigmoid)
        y_i = σ(Î_i) · q_i/I_i · Σ_j k_jᵀ (n softmax_j(Ô)_j v_j)        (n tokens)

    Simplified: nothing drops out. Not checked: a causal form, which the authors have too.

    Args:
        model_dim, heads: m and H.
        form: `paper` clips Ô to [-1, 1] as the authors do; `experiment` does not.
        eps: is added to each factor of I, O, Î and Ô.
    """

    def __init__(self, model_dim: int, *, heads: int = 8, form: Form = "experiment", eps: float = 1e-6):
        super().__init__(model_dim, heads=heads)
        check_form(form)
        self.form, self.eps = form, eps

    def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:  # ... H k d
        query, key = query.sigmoid(), key.sigmoid()
        incoming = self.flow(query, key)  # ... H k 1
        outgoing = self.flow(key, query)
        conserved_in = self.flow(query, key / outgoing)
        conserved_out = self.flow(key, query / incoming)
        if self.form == "paper":
            conserved_out = conserved_out.clamp(-1, 1)
        competing = value * (key.shape[-2] * conserved_out.softmax(-2))
        return conserved_in.sigmoid() * (query / incoming @ (key.mT @ competing))

    def flow(self, at: Tensor, through: Tensor) -> Tensor:  # ... H k d
        """What passes each token: `(at + ε)·(Σ through + ε)`, `... H k 1`."""
        return (at + self.eps) @ (through.sum(-2, keepdim=True) + self.eps).mT


class FocusedAttention(HeadMixer):
    """FLatten: linear attention whose features are sharpened by a power, in O(k d²).

    D. Han, X. Pan, Y. Han, S. Song, G. Huang: FLatten Transformer: Vision Transformer using Focused Linear Attention.
    ICCV 2023.

        g(x) = ‖r‖ rᵖ / ‖rᵖ‖,  r = ReLU(x);        y_i = g(q_i)·Σ_j g(k_j)ᵀ v_j / (g(q_i)·Σ_j g(k_j))

    Args:
        model_dim, heads: m and H.
        power: p, 3 in both forms.
        form: `experiment` takes the norms within a head and nothing else, so that a query without a positive entry
            gets zero. `paper` takes them over all heads, learns a scale of r and a position for each key, and adds a
            depthwise convolution of v over neighbouring tokens (in the authors' images over a 5 × 5 neighbourhood).
        tokens: k, which only `paper` needs.
        eps: is added to denominators, and to r in `paper`.
    """

    def __init__(
        self,
        model_dim: int,
        *,
        heads: int = 8,
        power: float = 3.0,
        form: Form = "experiment",
        tokens: int | None = None,
        eps: float = 1e-6,
    ):
        super().__init__(model_dim, heads=heads)
        check_form(form)
        self.power, self.form, self.eps = power, form, eps
        if form == "paper":
            if tokens is None:
                raise ConfigError("form='paper' learns a position for each key: pass tokens")
            head_dim = model_dim // heads
            self.scale = nn.Parameter(torch.zeros(heads, 1, head_dim))
            self.position = nn.Parameter(torch.zeros(heads, tokens, head_dim))
            self.local = nn.Conv1d(head_dim, head_dim, 5, padding=2, groups=head_dim)

    def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:  # ... H k d
        if self.form == "paper":
            key = key + self.position
        query, key = self.focus(query), self.focus(key)
        total = query @ key.sum(-2, keepdim=True).mT + self.eps  # ... H k 1
        mixed = query @ (key.mT @ value) / total
        if self.form == "paper":
            mixed = mixed + self.local(value.flatten(0, -3).mT).mT.view_as(value)
        return mixed

    def focus(self, x: Tensor) -> Tensor:  # ... H k d
        """g: a power that turns a vector towards its largest entries and keeps its length."""
        axes: tuple[int, ...] = (-1,)
        x = x.relu()
        if self.form == "paper":
            axes = (-3, -1)
            x = (x + self.eps) / F.softplus(self.scale)
        sharp = x**self.power
        length, sharp_length = (torch.linalg.vector_norm(each, dim=axes, keepdim=True) for each in (x, sharp))
        return length * sharp / (sharp_length + self.eps)


class SoftmaxAttention(HeadMixer):
    """Sub-adjacent Transformer: linear attention whose features are a softmax of a learnt sharpness, in O(k d²).

    W. Yue, X. Ying, R. Guo, D. Chen, Y. Zhu, J. Shi, B. Xing, T. Chen: Sub-adjacent Transformer: Improving Time Series
    Anomaly Detection with Reconstruction Error from Sub-adjacent Neighborhoods. IJCAI 2024.

        g(x) = softmax(s_H x) over a head's features;     y_i = g(q_i)·Σ_j g(k_j)ᵀ v_j / (g(q_i)·Σ_j g(k_j))

    That this is the column of the paper's comparison that has no name is an inference from its bibliography, and so is
    the form: the paper says no more of it than that the softmax is learnt. Nothing drops out.

    Args:
        model_dim, heads: m and H, each head with a sharpness s of its own, 1 at the start.
    """

    def __init__(self, model_dim: int, *, heads: int = 8):
        super().__init__(model_dim, heads=heads)
        self.sharpness = nn.Parameter(torch.ones(heads, 1, 1))

    def mix(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:  # ... H k d
        query, key = (self.sharpness * query).softmax(-1), (self.sharpness * key).softmax(-1)
        total = query @ key.sum(-2, keepdim=True).mT  # ... H k 1
        return query @ (key.mT @ value) / total
