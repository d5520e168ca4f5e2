"""The other forecasters, one file each, all from `b t n` to `b h n`; `MODELS` is the one registry."""

from olinear.zoo.registry import MAIN, MODELS, build_model, check_options, default_options, find_model, summary

__all__ = ["MAIN", "MODELS", "build_model", "check_options", "default_options", "find_model", "summary"]
