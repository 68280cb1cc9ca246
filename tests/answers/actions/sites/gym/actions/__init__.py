"""The actions of the gym."""

from . import membership

__all__ = ["membership"]
