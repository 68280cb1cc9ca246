"""The actions of the parcel service."""

from . import parcels

__all__ = ["parcels"]
