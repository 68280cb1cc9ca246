"""Where threads stand, and what is answered on them."""

from __future__ import annotations

from urllib.parse import quote

from aitp_desk.desk.desk import Desk
from aitp_desk.model.calls.open_request import OpenRequest


def thread_path(desk: Desk, thread_id: str) -> str:
    """The address of a thread."""
    return f"{desk.base_path}/v1/threads/{quote(thread_id, safe='')}"


def request_path(thread: str, request: OpenRequest) -> str:
    """Where a request is answered.

    Parameters:
        thread: the address of its thread.
    """
    return f"{thread}/requests/{request.capability}/{quote(request.id, safe='')}"
