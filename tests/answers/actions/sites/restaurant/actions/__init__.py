"""The actions of the restaurant."""

from . import service

__all__ = ["service"]
