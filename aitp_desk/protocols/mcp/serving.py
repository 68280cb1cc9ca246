"""The official SDK's server over a desk. Nothing else imports the SDK, and this only when needed.

It speaks the wire of both eras: what requires ``initialize`` (2024-11-05 to 2025-11-25) and what
has all in each request (2026-07-28). What is asked goes on to the table of ``methods.py``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from importlib.metadata import version
from typing import Any

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel

from aitp_desk.desk.desk import Desk
from aitp_desk.protocols.mcp.bridge import CALLER
from aitp_desk.protocols.mcp.caller import INTERNAL_ERROR, INVALID_PARAMS, Caller, RpcError
from aitp_desk.protocols.mcp.methods import Method, Methods
from aitp_desk.protocols.mcp.reading import NOT_FOUND

FRESH_MILLISECONDS = 60_000
"""How long a client may keep what it has listed or read."""
_FAULT = "Something went wrong on our side."
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
    """The server of a desk.

    Parameters:
        caller: who asks, where that is always the same; else each request brings theirs.
    """
    ours = CacheHint(FRESH_MILLISECONDS, "private")
    everybodys = CacheHint(FRESH_MILLISECONDS, "public")
    server: Server[Any] = Server(
        desk.site.name,
        version=version("aitp-desk"),
        title=desk.site.name,
        description=desk.site.description or None,
        website_url=desk.site.url,
        instructions=_introduce(desk),
        # what is private to a caller is never another's
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


def make_manager(
    desk: Desk, methods: Methods, *, hosts: list[str], origins: list[str]
) -> StreamableHTTPSessionManager:
    """The same over HTTP, as an ASGI application that keeps nothing from one request to the next.

    Parameters:
        hosts, origins: which a request may name; checked once more, after the front has.
    """
    return StreamableHTTPSessionManager(
        make_server(desk, methods),
        json_response=True,
        stateless=True,
        security_settings=TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins),
    )


def _handler(desk: Desk, method: Method, always: Caller | None) -> _Handler:
    async def handle(context: _Context, _params: Any) -> dict[str, Any]:
        caller = always or context.request.scope[CALLER]  # type: ignore[union-attr]
        params = context.params or {}
        caller.elicits = _elicits(params)
        try:
            return {"resultType": "complete", **await method(desk, caller, params)}
        except RpcError as error:
            is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
            code = INVALID_PARAMS if is_modern and error.code == NOT_FOUND else error.code
            raise MCPError(code, error.message, error.data) from None
        except Exception as error:  # noqa: BLE001 -- the HTTP answer is made of it, and no other
            caller.escaped = error
            raise MCPError(INTERNAL_ERROR, _FAULT) from None

    return handle


def _elicits(params: Mapping[str, Any]) -> bool:
    """Whether a client can put a form to its user, and call again with what was filled in.

    A client of the handshake's era cannot: it would be asked over a connection that is not there.
    """
    meta = params.get("_meta")
    told = meta.get(types.CLIENT_CAPABILITIES_META_KEY) if isinstance(meta, dict) else None
    forms = told.get("elicitation") if isinstance(told, dict) else None
    return isinstance(forms, dict) and (not forms or "form" in forms)


def _no_headers(_name: str) -> None:
    """No tool has arguments that are sent as headers as well."""


def _introduce(desk: Desk) -> str:
    about = f" {desk.site.description}" if desk.site.description else ""
    return (
        f"The desk of {desk.site.name}.{about} Ask content_search whatever its pages may say;"
        " other tools do what they are named for. A result's session_id, sent with the next call,"
        " goes on with the conversation."
    )
