"""Answers requests of the handshake's era that need no session.

The SDK's transport of that era runs several tasks for every request, for the streams of a session.
A desk keeps no session and answers in JSON, so that a request for one of its methods needs none of
them: it takes the SDK's path for requests of 2026-07-28. The transport answers everything else,
including ``initialize`` and requests with wrong headers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import msgspec
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_one
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from pydantic import ValidationError
from starlette.requests import Request

from aitp_desk.protocols.base.door import JSON, Call, Reply
from aitp_desk.protocols.base.json_rpc import INVALID_PARAMS, make_error, make_result
from aitp_desk.protocols.mcp.caller import Caller
from aitp_desk.protocols.mcp.methods import Methods
from aitp_desk.protocols.mcp.server.asgi import make_scope
from aitp_desk.protocols.mcp.server.plain_rpc import VERSIONS

_VERSION = "MCP-Protocol-Version"
_TRANSPORT = TransportContext(kind="streamable-http", can_send_request=False)
_encode = msgspec.json.Encoder().encode


def is_stateless(call: Call, methods: Methods, message: Mapping[str, Any]) -> bool:
    """Return whether a message is a request that needs only its response."""
    return (
        "id" in message
        and message.get("method") in methods
        and call.headers.get(_VERSION) in VERSIONS
        and JSON in call.headers.get("Accept", "").lower()
    )


async def answer_stateless(
    server: Server[Any], call: Call, caller: Caller, message: Mapping[str, Any]
) -> Reply:
    """Answer a request without a session (:func:`is_stateless`)."""
    id_ = message["id"]
    context = _StatelessChannel(
        id_, ServerMessageMetadata(request_context=Request(make_scope(call, caller)))
    )
    connection = Connection.from_envelope(call.headers[_VERSION], None, None)
    method, params = message["method"], message.get("params")
    try:
        result = await serve_one(
            server, context, method, params, connection=connection, lifespan_state={}
        )
    except MCPError as error:
        told = error.error
        return Reply(200, _encode(make_error(id_, told.code, told.message, told.data)))
    except ValidationError:
        return Reply(
            200, _encode(make_error(id_, INVALID_PARAMS, "Invalid request parameters", ""))
        )
    return Reply(200, _encode(make_result(id_, result)))


@dataclass
class _StatelessChannel:
    """Presents such a request to the SDK's server; it can send nothing first."""

    request_id: str | int
    message_metadata: ServerMessageMetadata
    transport: TransportContext = _TRANSPORT
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)
    can_send_request: bool = False

    async def send_raw_request(
        self,
        method: str,
        _params: Mapping[str, Any] | None,
        _opts: CallOptions | None = None,
    ) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(
        self,
        _method: str,
        _params: Mapping[str, Any] | None,
        _opts: CallOptions | None = None,
    ) -> None:
        """Drops the notification."""

    async def progress(
        self, _progress: float, _total: float | None = None, _message: str | None = None
    ) -> None:
        """Drops the notification."""
