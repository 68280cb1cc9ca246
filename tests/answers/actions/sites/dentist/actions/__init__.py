"""The actions of Bright Lane Dental."""

from . import service

__all__ = ["service"]
