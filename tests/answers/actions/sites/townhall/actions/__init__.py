"""The actions of Elmstead Town Hall."""

from . import service

__all__ = ["service"]
