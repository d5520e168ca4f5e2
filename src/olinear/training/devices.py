"""Where to compute."""

import torch

from olinear.errors import ConfigError


def pick_device(name: str = "auto") -> torch.device:
    """The device of that name; `auto` takes CUDA, then Apple's MPS, then the CPU."""
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, ImportError) as error:
        raise ConfigError(f"device {name!r} is not available here: use device='auto' or 'cpu'") from error
    return device
