"""The actions of the hotel."""

from . import stay

__all__ = ["stay"]
