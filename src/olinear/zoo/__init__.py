"""The other forecasters, one file each, all from `b t n` to `b h n`; `MODELS` is the one registry."""

from olinear.zoo.registry import MODELS, build_model, default_options, find_model, summary

__all__ = ["MODELS", "build_model", "default_options", "find_model", "summary"]
