"""Serves A2A over JSON-RPC: one address with methods.

Source: JSON-RPC 2.0; A2A 1.0, section 9; A2A 0.3, section 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.model.errors import DeskError, InvalidRequest, UnknownVersion
from aitp_desk.model.strict_json import decode_json
from aitp_desk.protocols.a2a import operations
from aitp_desk.protocols.a2a.card import AgentCards
from aitp_desk.protocols.a2a.dialect import VERSION_HEADER, Dialect, read_version
from aitp_desk.protocols.a2a.errors_wire import make_error_info, render_call_error
from aitp_desk.protocols.a2a.operations import A2aRequest, Operation
from aitp_desk.protocols.a2a.tasks_wire import TaskWriter
from aitp_desk.protocols.base.json_rpc import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    is_request_id,
    make_error,
    make_result,
)
from aitp_desk.protocols.base.protocol import Call, Reply

_encode = msgspec.json.encode


_REASONS = {
    PARSE_ERROR: "PARSE_ERROR",
    INVALID_REQUEST: "INVALID_REQUEST",
    METHOD_NOT_FOUND: "METHOD_NOT_FOUND",
}
METHODS: Mapping[str, Operation] = MappingProxyType(
    {
        "SendMessage": operations.send,
        "SendStreamingMessage": operations.stream,
        "GetTask": operations.get_task,
        "ListTasks": operations.list_tasks,
        "CancelTask": operations.cancel_task,
        "SubscribeToTask": operations.subscribe,
        "CreateTaskPushNotificationConfig": operations.set_push,
        "GetTaskPushNotificationConfig": operations.get_push,
        "ListTaskPushNotificationConfigs": operations.list_pushes,
        "DeleteTaskPushNotificationConfig": operations.delete_push,
        "GetExtendedAgentCard": operations.get_extended_card,
    }
)
METHODS_03: Mapping[str, Operation] = MappingProxyType(
    {
        "message/send": operations.send,
        "message/stream": operations.stream,
        "tasks/get": operations.get_task,
        "tasks/cancel": operations.cancel_task,
        "tasks/resubscribe": operations.subscribe,
        "tasks/pushNotificationConfig/set": operations.set_push,
        "tasks/pushNotificationConfig/get": operations.get_push,
        "tasks/pushNotificationConfig/list": operations.list_pushes,
        "tasks/pushNotificationConfig/delete": operations.delete_push,
        "agent/getAuthenticatedExtendedCard": operations.get_extended_card,
    }
)


async def answer(desk: Desk, call: Call, cards: AgentCards, below: str) -> Reply:
    """Answer a JSON-RPC request.

    Parameters:
        below: the address of the desk, without a trailing slash.
    """
    try:
        given = decode_json(call.body)
    except InvalidRequest as error:
        return _wrong(None, PARSE_ERROR, f"Invalid JSON payload: {error.message}")
    id_ = given.get("id") if isinstance(given, dict) else None
    if (wrong := _wrong_envelope(given)) is not None:
        return _wrong(id_ if _is_id(id_) else None, INVALID_REQUEST, wrong)
    try:
        version = read_version(call.headers, call.query)
        dialect = Dialect.V1 if version == Dialect.V1.version else Dialect.V03
        methods = METHODS if dialect is Dialect.V1 else METHODS_03
        method = methods.get(given["method"])
        if method is None:
            if given["method"] in METHODS:
                raise UnknownVersion(
                    f"{given['method']} is a method of A2A 1.0; send {VERSION_HEADER}:"
                    " 1.0 (a request without it is of 0.3).",
                    param=VERSION_HEADER,
                )
            named = ", ".join(methods)
            return _wrong(id_, METHOD_NOT_FOUND, f"Method not found. The methods are {named}.")
        words, params = TaskWriter(dialect, below), given.get("params")
        reply, event = partial(_reply, id_), partial(_event, id_)
        return await method(A2aRequest(desk, call, cards, params, words, reply, event))
    except DeskError as error:
        return render_call_error(error, id_)


def _reply(id_: Any, result: Any) -> Reply:
    return Reply(200, _encode(make_result(id_, result)))


def _event(id_: Any, body: dict[str, Any]) -> bytes:
    return b"data: %b\n\n" % _encode(make_result(id_, body))


def _wrong_envelope(given: Any) -> str | None:
    """Return what is wrong with a request apart from its method; None for nothing."""
    if not isinstance(given, dict):
        return "Invalid request: batches are not supported. Send one JSON object."
    if given.get("jsonrpc") != "2.0":
        return "Invalid request: 'jsonrpc' must be \"2.0\"."
    if not isinstance(given.get("method"), str):
        return "Invalid request: 'method' must be a text."
    if not _is_id(given.get("id")):
        return "Invalid request: 'id' must be a text, a whole number or null."
    return None


def _is_id(value: Any) -> bool:
    return value is None or is_request_id(value)


def _wrong(id_: Any, code: int, message: str) -> Reply:
    return Reply(200, _encode(make_error(id_, code, message, [make_error_info(_REASONS[code])])))
