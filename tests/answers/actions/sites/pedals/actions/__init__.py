"""The actions of Quay Pedals."""

from . import service

__all__ = ["service"]
