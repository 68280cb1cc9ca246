"""The actions of the bicycle rental."""

from . import rental

__all__ = ["rental"]
