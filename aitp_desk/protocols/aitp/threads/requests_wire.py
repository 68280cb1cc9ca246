"""Writes a thread's open requests as JSON. Pure: no I/O, no clock."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.model.calls.open_request import OpenRequest
from aitp_desk.protocols.aitp.addresses import request_path
from aitp_desk.protocols.aitp.threads import objects
from aitp_desk.protocols.aitp.wire import encode_list
from aitp_desk.protocols.base.open_requests_wire import write_request
from aitp_desk.protocols.base.protocol import Reply


def encode_requests(requests: Sequence[OpenRequest], thread: str) -> Reply:
    """Encode the open requests of a thread, in the OpenAI API's list form.

    Parameters:
        thread: its address.
    """
    return encode_list([_body(one, thread) for one in requests], has_more=False)


def _body(request: OpenRequest, thread: str) -> objects.OpenRequest:
    return objects.OpenRequest(
        **msgspec.structs.asdict(write_request(request)),
        answer_at=request_path(thread, request),
        asked_by=request.by,
        actor=request.of or None,
        may_answer=request.answers_as is not None,
        rejected_answers=request.rejected,
    )
