"""The actions of the utility."""

from . import supply

__all__ = ["supply"]
