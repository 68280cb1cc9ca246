"""Runs the official SDK's server over a desk.

Only this module and ``stateless.py`` import the SDK, and both only when needed.

The server supports both eras of the wire: the one that requires ``initialize`` (2024-11-05 to
2025-11-25), and the one with everything in each request (2026-07-28). Requests go to the table of
``methods.py``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, TextIO

import mcp_types as types
import structlog
from anyio import wrap_file
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from msgspec.structs import replace
from pydantic import BaseModel

from aitp_desk import own_version
from aitp_desk.desk.desk import Desk
from aitp_desk.model.access.principal import Principal
from aitp_desk.protocols.base.door import Call, Reply
from aitp_desk.protocols.base.json_rpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
)
from aitp_desk.protocols.mcp.caller import Caller, RpcError
from aitp_desk.protocols.mcp.elicitation import ask_over_connection
from aitp_desk.protocols.mcp.methods import Method, Methods
from aitp_desk.protocols.mcp.resources import NOT_FOUND
from aitp_desk.protocols.mcp.server.asgi import CALLER, ask_application
from aitp_desk.protocols.mcp.server.stateless import answer_stateless, is_stateless

FRESH_MILLISECONDS = 60_000
"""How long a client may cache what it has listed or read."""
_FAULT = "Something went wrong on our side."
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
        get_tool_input_schema=_no_headers,
    )
    for name, method in methods.items():
        server.add_request_handler(name, _PARAMS[name], _handler(desk, method, caller))
    return server


class HttpServer:
    """Runs the server over HTTP; it keeps nothing between requests.

    Parameters:
        hosts, origins: which a request may name; checked again after the dispatcher.
    """

    def __init__(
        self, desk: Desk, methods: Methods, *, hosts: list[str], origins: list[str]
    ) -> None:
        self._methods = methods
        self._server = make_server(desk, methods)
        self._manager = StreamableHTTPSessionManager(
            self._server,
            json_response=True,
            stateless=True,
            security_settings=TransportSecuritySettings(
                allowed_hosts=hosts, allowed_origins=origins
            ),
        )

    def run(self) -> AbstractAsyncContextManager[None]:
        """Return the context that is open while requests are answered."""
        return self._manager.run()

    async def answer(self, call: Call, caller: Caller, message: Mapping[str, Any]) -> Reply:
        """Answer a request with a validated message."""
        if is_stateless(call, self._methods, message):
            return await answer_stateless(self._server, call, caller, message)
        return await ask_application(self._manager.handle_request, call, caller)


async def serve_stdio(
    desk: Desk, methods: Methods, principal: Principal, *, output: TextIO
) -> None:
    """Serve the parent process until it closes the standard input.

    Parameters:
        principal: the caller on whose behalf that process asks.
        output: receives the messages, and nothing else.
    """
    server = make_server(desk, methods, Caller(principal, is_over_http=False))
    async with stdio_server(stdout=wrap_file(output)) as (reading, writing):
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
                _log.exception("fault", door="mcp", method=context.method)
            raise MCPError(INTERNAL_ERROR, _FAULT) from None

    return handle


def _caller(context: _Context, params: Mapping[str, Any], always: Caller | None) -> Caller:
    """Return the caller, and whether its client can show a form to its user.

    A client of the handshake's era can do so where it holds a connection.
    """
    request: Any = context.request
    caller: Caller = request.scope[CALLER] if always is None else replace(always)
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


def _no_headers(_name: str) -> None:
    """No tool has arguments that are also sent as headers."""


def _introduce(desk: Desk) -> str:
    about = f" {desk.site.description}" if desk.site.description else ""
    return (
        f"The desk of {desk.site.name}.{about} Ask content_search whatever its pages may say;"
        " other tools do what they are named for. A result's session_id, sent with the next call,"
        " goes on with the conversation."
    )
