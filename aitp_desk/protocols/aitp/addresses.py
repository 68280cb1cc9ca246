"""Builds the addresses of threads and of their open requests."""

from __future__ import annotations

from urllib.parse import quote

from aitp_desk.desk.desk import Desk
from aitp_desk.model.calls.open_request import OpenRequest


def thread_path(desk: Desk, thread_id: str) -> str:
    """Return the address of a thread."""
    return f"{desk.base_path}/v1/threads/{quote(thread_id, safe='')}"


def request_path(thread: str, request: OpenRequest) -> str:
    """Return the address at which a request is answered.

    Parameters:
        thread: the address of its thread.
    """
    return f"{thread}/requests/{request.capability}/{quote(request.id, safe='')}"
