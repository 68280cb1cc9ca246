"""Writes a thread's open requests as JSON, and reads answers. Pure: no I/O, no clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from aitp_desk.model.calls.open_request import OpenRequest
from aitp_desk.model.strict_json import decode_json
from aitp_desk.protocols.aitp.addresses import request_path
from aitp_desk.protocols.aitp.shapes import read_object
from aitp_desk.protocols.aitp.threads import objects
from aitp_desk.protocols.aitp.wire import encode_list
from aitp_desk.protocols.base.open_requests_wire import write_request
from aitp_desk.protocols.base.protocol import Reply


def decode_answer(body: bytes) -> Mapping[str, Any]:
    """Decode a filled form.

    Raises:
        InvalidRequest: it is not an object.
    """
    return read_object(decode_json(body) if body.strip() else {}, None)


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
