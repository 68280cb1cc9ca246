"""Serves A2A over JSON-RPC: one address with methods.

Source: JSON-RPC 2.0; A2A 1.0, section 9; A2A 0.3, section 7.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from aitp_desk.desk.desk import Desk
from aitp_desk.model.errors import DeskError, InvalidRequest, UnknownVersion
from aitp_desk.model.strict_json import decode_json
from aitp_desk.protocols.a2a import service as handling
from aitp_desk.protocols.a2a.card import AgentCards
from aitp_desk.protocols.a2a.dialect import VERSION_HEADER, Dialect, read_version
from aitp_desk.protocols.a2a.errors_wire import make_error_info, render_call_error
from aitp_desk.protocols.a2a.members import ObjectReader
from aitp_desk.protocols.a2a.requests_wire import read_push, read_send
from aitp_desk.protocols.a2a.tasks_wire import TaskWriter
from aitp_desk.protocols.base.json_rpc import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    is_request_id,
    make_error,
    make_result,
)
from aitp_desk.protocols.base.protocol import EVENT_STREAM, Call, Reply
from aitp_desk.protocols.base.sse import UNBUFFERED

_encode = msgspec.json.encode


class RpcCall(msgspec.Struct, frozen=True):
    """The call of a method.

    Parameters:
        id: of the request, for its response.
    """

    desk: Desk
    call: Call
    cards: AgentCards
    id: Any
    params: Any
    words: TaskWriter

    @property
    def dialect(self) -> Dialect:
        """The form of the call."""
        return self.words.dialect

    @property
    def members(self) -> ObjectReader:
        """Its parameters."""
        return ObjectReader({} if self.params is None else self.params)

    def reply(self, result: Any) -> Reply:
        """Return the response."""
        return Reply(200, _encode(make_result(self.id, result)))

    def event(self, body: dict[str, Any]) -> bytes:
        """Return one response of a stream."""
        return b"data: %b\n\n" % _encode(make_result(self.id, body))


_REASONS = {
    PARSE_ERROR: "PARSE_ERROR",
    INVALID_REQUEST: "INVALID_REQUEST",
    METHOD_NOT_FOUND: "METHOD_NOT_FOUND",
}
Method = Callable[[RpcCall], Awaitable[Reply]]


async def _send(rpc: RpcCall) -> Reply:
    params = read_send(rpc.params, rpc.dialect)
    task = await handling.send_message(rpc.desk, rpc.call, params)
    return rpc.reply(rpc.words.task_event(task, params.history_length))


async def _stream(rpc: RpcCall) -> Reply:
    params = read_send(rpc.params, rpc.dialect)
    stream = await handling.send_streaming(rpc.desk, rpc.call, params, rpc.words, rpc.event)
    return Reply(200, content_type=EVENT_STREAM, headers=UNBUFFERED, stream=stream)


async def _get(rpc: RpcCall) -> Reply:
    task_id, length = rpc.members.get_required_text("id"), rpc.members.get_count("historyLength")
    task = await rpc.desk.tasks.get_task(rpc.call.principal, task_id)
    return rpc.reply(rpc.words.task(task, length))


async def _list(rpc: RpcCall) -> Reply:
    return rpc.reply(await handling.list_tasks(rpc.desk, rpc.call, rpc.members, rpc.words))


async def _cancel(rpc: RpcCall) -> Reply:
    task = await rpc.desk.tasks.cancel_task(rpc.call.principal, rpc.members.get_required_text("id"))
    return rpc.reply(rpc.words.task(task))


async def _subscribe(rpc: RpcCall) -> Reply:
    task_id = rpc.members.get_required_text("id")
    stream = await handling.subscribe(rpc.desk, rpc.call, task_id, rpc.words, rpc.event)
    return Reply(200, content_type=EVENT_STREAM, headers=UNBUFFERED, stream=stream)


async def _set_push(rpc: RpcCall) -> Reply:
    task_id = rpc.members.get_required_text("taskId")
    config = rpc.members
    if rpc.dialect is not Dialect.V1:
        config = config.get_object("pushNotificationConfig")
    push = read_push(config, rpc.dialect, task_id)
    kept = await rpc.desk.task_receivers.set_receiver(rpc.call.principal, push, rpc.call.mark)
    return rpc.reply(rpc.words.push(kept))


async def _get_push(rpc: RpcCall) -> Reply:
    push = await handling.find_push(rpc.desk, rpc.call, *_push_of(rpc))
    return rpc.reply(rpc.words.push(push))


async def _list_pushes(rpc: RpcCall) -> Reply:
    task_id = rpc.members.get_required_text("taskId" if rpc.dialect is Dialect.V1 else "id")
    pushes = await rpc.desk.task_receivers.list_receivers(rpc.call.principal, task_id)
    told = [rpc.words.push(push) for push in pushes]
    return rpc.reply({"configs": told} if rpc.dialect is Dialect.V1 else told)


async def _delete_push(rpc: RpcCall) -> Reply:
    await rpc.desk.task_receivers.delete_receiver(rpc.call.principal, *_push_of(rpc))
    return rpc.reply({} if rpc.dialect is Dialect.V1 else None)


async def _extended_card(rpc: RpcCall) -> Reply:
    return rpc.reply(rpc.cards.get_extended(rpc.desk, rpc.call.principal, rpc.dialect))


def _push_of(rpc: RpcCall) -> tuple[str, str]:
    """Return the ids of a task and of its notification address."""
    if rpc.dialect is Dialect.V1:
        return rpc.members.get_required_text("taskId"), rpc.members.get_required_text("id")
    return rpc.members.get_required_text("id"), rpc.members.get_text("pushNotificationConfigId")


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "SendMessage": _send,
        "SendStreamingMessage": _stream,
        "GetTask": _get,
        "ListTasks": _list,
        "CancelTask": _cancel,
        "SubscribeToTask": _subscribe,
        "CreateTaskPushNotificationConfig": _set_push,
        "GetTaskPushNotificationConfig": _get_push,
        "ListTaskPushNotificationConfigs": _list_pushes,
        "DeleteTaskPushNotificationConfig": _delete_push,
        "GetExtendedAgentCard": _extended_card,
    }
)
METHODS_03: Mapping[str, Method] = MappingProxyType(
    {
        "message/send": _send,
        "message/stream": _stream,
        "tasks/get": _get,
        "tasks/cancel": _cancel,
        "tasks/resubscribe": _subscribe,
        "tasks/pushNotificationConfig/set": _set_push,
        "tasks/pushNotificationConfig/get": _get_push,
        "tasks/pushNotificationConfig/list": _list_pushes,
        "tasks/pushNotificationConfig/delete": _delete_push,
        "agent/getAuthenticatedExtendedCard": _extended_card,
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
        words = TaskWriter(dialect, below)
        return await method(RpcCall(desk, call, cards, id_, given.get("params"), words))
    except DeskError as error:
        return render_call_error(error, id_)


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
