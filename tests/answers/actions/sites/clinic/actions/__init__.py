"""The actions of the practice."""

from . import practice

__all__ = ["practice"]
