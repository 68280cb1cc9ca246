"""AITP-03, data: forms that are requested and filled in on a thread."""

from aitp_data.capability import DataRequests

__all__ = ["DataRequests"]
