"""Runs the official SDK's server over a desk.

Only this module imports the SDK, and only when it is needed.

The server supports both eras of the wire: the one that requires ``initialize`` (2024-11-05 to
2025-11-25), and the one with everything in each request (2026-07-28). Requests go to the table of
``methods.py``. Over HTTP nothing is kept between requests and every response is one JSON document,
so each message is passed to the SDK separately. The SDK's own transport would start several tasks
for it and decode it again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, TextIO

import anyio
import mcp_types as types
import msgspec
import structlog
from mcp.server.caching import CacheHint
from mcp.server.connection import Connection
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_one
from mcp.server.stdio import stdio_server
from mcp.shared.dispatcher import CallOptions
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
    unsupported_protocol_version_rejection,
)
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from msgspec.structs import replace
from pydantic import BaseModel, ValidationError

from aitp_desk import own_version
from aitp_desk.desk.desk import Desk
from aitp_desk.model.access.principal import Principal
from aitp_desk.protocols.base.json_rpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    make_result,
)
from aitp_desk.protocols.base.protocol import JSON, Call, Reply
from aitp_desk.protocols.mcp.caller import Caller, RpcError
from aitp_desk.protocols.mcp.elicitation import ask_over_connection
from aitp_desk.protocols.mcp.methods import Method, Methods
from aitp_desk.protocols.mcp.resources import NOT_FOUND
from aitp_desk.protocols.mcp.server.plain_rpc import make_error_reply

FRESH_MILLISECONDS = 60_000
"""How long a client may cache what it has listed or read."""
_FAULT = "The desk failed to handle the request."
_VERSION = "MCP-Protocol-Version"
_TRANSPORT = TransportContext(kind="streamable-http", can_send_request=False)
_ACCEPTED = frozenset({JSON, "application/*", "*/*"})
"""Media ranges of ``Accept`` that include JSON."""
_encode = msgspec.json.Encoder().encode
_log = structlog.get_logger()
_FORMS = types.ClientCapabilities(elicitation=types.ElicitationCapability())
_Context = ServerRequestContext[Any, Any]
_Handler = Callable[[_Context, Any], Awaitable[dict[str, Any]]]
_PARAMS: Mapping[str, type[BaseModel]] = {
    "tools/list": types.PaginatedRequestParams,
    "tools/call": types.CallToolRequestParams,
    "resources/list": types.PaginatedRequestParams,
    "resources/templates/list": types.PaginatedRequestParams,
    "resources/read": types.ReadResourceRequestParams,
    "prompts/list": types.PaginatedRequestParams,
    "prompts/get": types.GetPromptRequestParams,
}


def make_server(desk: Desk, methods: Methods, caller: Caller | None = None) -> Server[Any]:
    """Return the server of a desk.

    Parameters:
        caller: the one caller of all requests; None where each request brings its own.
    """
    ours = CacheHint(FRESH_MILLISECONDS, "private")
    everybodys = CacheHint(FRESH_MILLISECONDS, "public")
    server: Server[Any] = Server(
        desk.site.name,
        version=own_version(),
        title=desk.site.name,
        description=desk.site.description or None,
        website_url=desk.site.url,
        instructions=_introduce(desk),
        # a cache never serves what is private to one caller to another
        cache_hints={
            "server/discover": everybodys,
            "tools/list": ours,
            "prompts/list": everybodys,
            "resources/list": everybodys,
            "resources/templates/list": ours,
            "resources/read": ours,
        },
    )
    for name, method in methods.items():
        server.add_request_handler(name, _PARAMS[name], _handler(desk, method, caller))
    return server


class HttpServer:
    """Answers messages over HTTP; nothing is kept between requests.

    The desk's dispatcher has already checked host, origin and content type.
    """

    def __init__(self, desk: Desk, methods: Methods) -> None:
        self._server = make_server(desk, methods)

    async def answer(self, call: Call, caller: Caller, message: Mapping[str, Any]) -> Reply:
        """Answer a validated message (basic/transports, Streamable HTTP)."""
        if not _accepts_json(call.headers.get("Accept", "")):
            told = f"Not Acceptable: Client must accept {JSON}"
            return make_error_reply(None, INVALID_REQUEST, told, status=406)
        version = call.headers.get(_VERSION, types.DEFAULT_NEGOTIATED_VERSION)
        is_modern = version not in HANDSHAKE_PROTOCOL_VERSIONS
        if "id" not in message or "method" not in message:
            return _acknowledge(message, version if is_modern else None)
        if not is_modern:
            return await self._answer(
                caller, message, Connection.from_envelope(version, None, None)
            )
        if duplicated := find_duplicated_routing_header(call.headers.items()):
            told = f"{duplicated} header appears more than once"
            return _refuse(message, InboundLadderRejection(types.HEADER_MISMATCH, told))
        route = classify_inbound_request(message, headers=call.headers)
        if isinstance(route, InboundLadderRejection):
            return _refuse(message, route)
        connection = Connection.from_envelope(
            route.protocol_version, route.client_info, route.client_capabilities
        )
        return await self._answer(caller, message, connection, statuses=ERROR_CODE_HTTP_STATUS)

    async def _answer(
        self,
        caller: Caller,
        message: Mapping[str, Any],
        connection: Connection,
        *,
        statuses: Mapping[int, int] = MappingProxyType({}),
    ) -> Reply:
        """Answer a request.

        Parameters:
            statuses: HTTP statuses by error code; others are 200.
        """
        id_, method, params = message["id"], message["method"], message.get("params")
        exchange = _Exchange(id_, ServerMessageMetadata(request_context=caller))
        try:
            result = await serve_one(
                self._server, exchange, method, params, connection=connection, lifespan_state={}
            )
        except MCPError as error:
            told = error.error
            status = statuses.get(told.code, 200)
            return make_error_reply(id_, told.code, told.message, told.data, status=status)
        except ValidationError:
            status = statuses.get(INVALID_PARAMS, 200)
            wrong = "Invalid request parameters"
            return make_error_reply(id_, INVALID_PARAMS, wrong, "", status=status)
        return Reply(200, _encode(make_result(id_, result)))


@lru_cache(maxsize=64)
def _accepts_json(accept: str) -> bool:
    ranges = [one.partition(";")[0].strip() for one in accept.lower().split(",")]
    return not _ACCEPTED.isdisjoint(ranges)


def _acknowledge(message: Mapping[str, Any], version: str | None) -> Reply:
    """Accept a notification, or in the handshake's era a response; both change nothing.

    Parameters:
        version: the requested one where it is of no handshake.
    """
    if version is None:
        return Reply(202)
    if "method" not in message:
        told = "Body must be a single JSON-RPC request or notification object"
        return make_error_reply(None, INVALID_REQUEST, told)
    unsupported = unsupported_protocol_version_rejection(version)
    return Reply(202) if unsupported is None else _refuse({}, unsupported)


def _refuse(message: Mapping[str, Any], why: InboundLadderRejection) -> Reply:
    status = ERROR_CODE_HTTP_STATUS.get(why.code, 200)
    return make_error_reply(message.get("id"), why.code, why.message, why.data, status=status)


@dataclass
class _Exchange:
    """Presents a request over HTTP to the SDK's server; it can send nothing before the response."""

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


async def serve_stdio(
    desk: Desk, methods: Methods, principal: Principal, *, output: TextIO
) -> None:
    """Serve the parent process until it closes the standard input.

    Parameters:
        principal: the caller on whose behalf that process asks.
        output: receives the messages, and nothing else.
    """
    server = make_server(desk, methods, Caller(principal, is_over_http=False))
    async with stdio_server(stdout=anyio.wrap_file(output)) as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _handler(desk: Desk, method: Method, always: Caller | None) -> _Handler:
    async def handle(context: _Context, _params: Any) -> dict[str, Any]:
        params = context.params or {}
        caller = _caller(context, params, always)
        try:
            result = await method(desk, caller, params)
            while context.session.can_send_request and "inputRequests" in result:
                told = {}
                try:
                    told = await ask_over_connection(result, partial(_ask, context))
                except MCPError:  # the client cannot after all: the refusal says what to send
                    caller.elicits = False
                result = await method(desk, caller, {**params, **told})
            return {"resultType": "complete", **result}
        except RpcError as error:
            is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
            code = INVALID_PARAMS if is_modern and error.code == NOT_FOUND else error.code
            raise MCPError(code, error.message, error.data) from None
        except Exception as error:  # noqa: BLE001 -- no detail of a fault reaches the wire
            if caller.is_over_http:
                caller.escaped = error  # the HTTP response reports it
            else:
                _log.exception("fault", protocol="mcp", method=context.method)
            raise MCPError(INTERNAL_ERROR, _FAULT) from None

    return handle


def _caller(context: _Context, params: Mapping[str, Any], always: Caller | None) -> Caller:
    """Return the caller, and whether its client can show a form to its user.

    A client of the handshake's era can do so where it holds a connection.
    """
    given: Any = context.request  # as it was passed to the SDK
    caller: Caller = given if always is None else replace(always)
    meta = params.get("_meta")
    told = meta.get(types.CLIENT_CAPABILITIES_META_KEY) if isinstance(meta, dict) else None
    forms = told.get("elicitation") if isinstance(told, dict) else None
    caller.elicits = isinstance(forms, dict) and (not forms or "form" in forms)
    if context.session.can_send_request:
        caller.elicits = context.session.check_client_capability(_FORMS)
    return caller


async def _ask(context: _Context, message: str, form: dict[str, Any]) -> dict[str, Any]:
    """Show a form to the user of a waiting client."""
    said = await context.session.elicit_form(message, form, context.request_id)
    return said.model_dump(by_alias=True, mode="json", exclude_none=True)


def _introduce(desk: Desk) -> str:
    about = f" {desk.site.description}" if desk.site.description else ""
    return (
        f"The desk of {desk.site.name}.{about} Use content_search for questions about its pages;"
        " the other tools do what their names say. Send a result's session_id with the next call"
        " to continue the conversation."
    )
