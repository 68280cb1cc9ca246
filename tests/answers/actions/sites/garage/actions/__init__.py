"""The actions of the workshop."""

from . import workshop

__all__ = ["workshop"]
