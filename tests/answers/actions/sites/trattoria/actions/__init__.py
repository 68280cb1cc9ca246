"""The actions of Olive Yard."""

from . import service

__all__ = ["service"]
