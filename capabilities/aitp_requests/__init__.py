"""AITP-02, requests: decisions are requested and made on a thread."""

from aitp_requests.capability import Requests

__all__ = ["Requests"]
