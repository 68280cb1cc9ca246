"""Serves JSON-RPC without the transport's conditions: no ``Accept``, no version, no session.

Programs that are written against a description, and later drafts of AHP, send such messages. The
same table of methods answers them, in the form of MCP 2024-11-05.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from aitp_desk import own_version
from aitp_desk.desk.desk import Desk
from aitp_desk.protocols.base.discovery_links import MANIFEST_PATH
from aitp_desk.protocols.base.json_rpc import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    make_error,
    make_result,
)
from aitp_desk.protocols.base.protocol import EVENT_STREAM, Reply
from aitp_desk.protocols.mcp.caller import Caller, RpcError
from aitp_desk.protocols.mcp.methods import Methods
from aitp_desk.protocols.mcp.tools import Item

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The revisions that begin with ``initialize``, the oldest first."""
_encode = msgspec.json.Encoder().encode


def is_plain_rpc(headers: Mapping[str, str]) -> bool:
    """Return whether a request meets none of the transport's conditions.

    The SDK would refuse it. MCP 2025-11-25, basic/transports: a client names both JSON and event
    streams.
    """
    return "MCP-Protocol-Version" not in headers and EVENT_STREAM not in headers.get("Accept", "")


async def answer_plain_rpc(
    desk: Desk, methods: Methods, caller: Caller, message: Mapping[str, Any]
) -> Reply:
    """Answer one validated message.

    Raises:
        DeskError: as the method raises it; an RpcError becomes a response.
    """
    id_, method, params = message.get("id"), message.get("method"), message.get("params")
    if id_ is None:
        return Reply(202)
    if method is None:
        return make_error_reply(
            id_, INVALID_REQUEST, "A message must have a method; the server sends no requests."
        )
    try:
        result = await _answer(desk, methods, caller, method, params or {})
    except RpcError as error:
        return make_error_reply(id_, error.code, error.message, error.data, status=200)
    return Reply(200, _encode(make_result(id_, result)))


async def _answer(
    desk: Desk, methods: Methods, caller: Caller, method: str, params: Mapping[str, Any]
) -> Item:
    if method == "initialize":
        return _greet(desk, params)
    if method == "ping":
        return {}
    found = methods.get(method)
    if found is None:
        known = ", ".join(("initialize", "ping", *methods))
        raise RpcError(METHOD_NOT_FOUND, f"There is no such method. The methods are: {known}.")
    return await found(desk, caller, params)


def _greet(desk: Desk, params: Mapping[str, Any]) -> Item:
    wanted = params.get("protocolVersion")
    return {
        "protocolVersion": wanted if wanted in VERSIONS else VERSIONS[0],
        "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        "serverInfo": {
            "name": desk.site.name,
            "version": own_version(),
            "manifest": f"{desk.site.url}{MANIFEST_PATH}",
        },
    }


def make_error_reply(
    id_: str | int | None, code: int, message: str, data: Any = None, *, status: int = 400
) -> Reply:
    """Return the response to a refused message, in JSON-RPC's form (section 5.1)."""
    return Reply(status, _encode(make_error(id_, code, message, data)))
