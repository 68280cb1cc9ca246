"""The actions of the library."""

from . import lending

__all__ = ["lending"]
