"""Serves the address of MCP, and loads the SDK's server behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

import msgspec

from aitp_desk.auth.credentials.address import Headers
from aitp_desk.config import Config
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.tasks.refusal import describe_error
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.error_kind import ErrorKind
from aitp_desk.model.errors import DeskError, InvalidRequest
from aitp_desk.model.strict_json import decode_json
from aitp_desk.protocols.base.errors import find_status, make_refusal_headers
from aitp_desk.protocols.base.json_rpc import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    OBJECTS,
    PARSE_ERROR,
)
from aitp_desk.protocols.base.protocol import Call, ProtocolRoutes, Reply, Route
from aitp_desk.protocols.mcp.caller import REFUSED, Caller
from aitp_desk.protocols.mcp.methods import Methods
from aitp_desk.protocols.mcp.server.plain_rpc import (
    answer_plain_rpc,
    is_plain_rpc,
    make_error_reply,
)
from aitp_desk.protocols.mcp.validation import find_message_fault, find_params_fault

if TYPE_CHECKING:
    from aitp_desk.protocols.mcp.server.sdk_server import HttpServer

MCP_PATH: Final = "/mcp"
MAX_BODY = 64 * 1024

VerifyCaller = Callable[[Headers, str, str], Awaitable[Principal]]
"""Verifies a credential in a message, from the headers, the credential and the address."""


def speaks_mcp(config: Config) -> bool:
    """Return whether ``/mcp`` is served."""
    return config.mcp_server.serve != "never"


class McpHandlers:
    """Serves MCP for one desk.

    The SDK's server is loaded on first use, in a thread. The desk listens long before that;
    requests that arrive in the meantime wait for it.

    Parameters:
        methods: the handlers by method name.
        prove: verifies a credential in a message.
    """

    def __init__(self, desk: Desk, methods: Methods, *, prove: VerifyCaller) -> None:
        self._desk = desk
        self._methods = methods
        self._prove = prove
        self._server: HttpServer | None = None
        self._load_task: asyncio.Task[HttpServer] | None = None

    async def post(self, desk: Desk, call: Call) -> Reply:
        """``POST /mcp``: one message."""
        try:
            message = decode_json(call.body)
        except InvalidRequest as error:
            return make_error_reply(None, PARSE_ERROR, error.message)
        if (wrong := find_message_fault(message)) is not None:
            return make_error_reply(None, INVALID_REQUEST, wrong)
        method = message.get("method", "")
        if (wrong := find_params_fault(method, message.get("params"))) is not None:
            return make_error_reply(message.get("id"), INVALID_PARAMS, wrong)
        try:
            token = _credential_in(message)
            caller = Caller(
                call.principal if token is None else await self._identify(desk, call, token),
                call.allowance,
                call.path,
                call.headers.get("Idempotency-Key"),
                step_aside=call.release_slot,
            )
            if is_plain_rpc(call.headers):
                return await answer_plain_rpc(desk, self._methods, caller, message)
            server = self._server or await self._load_server(call)
            reply = await server.answer(call, caller, message)
            if caller.escaped is not None:
                raise caller.escaped
        except DeskError as error:
            error.message_id = message.get("id")
            raise
        return reply

    async def _identify(self, desk: Desk, call: Call, token: str) -> Principal:
        """Return the sender, identified by a credential in the message."""
        found = await self._prove(call.headers, token, call.principal.address)
        return msgspec.structs.replace(found, desk=desk.name)

    async def _load_server(self, call: Call) -> HttpServer:
        """Return the SDK's server once it is loaded; a call that waits holds no slot."""
        if self._load_task is None:
            self._load_task = asyncio.create_task(asyncio.to_thread(self._load))
        call.release_slot()
        self._server = await asyncio.shield(self._load_task)
        return self._server

    def _load(self) -> HttpServer:
        from aitp_desk.protocols.mcp.server.sdk_server import HttpServer

        return HttpServer(self._desk, self._methods)

    def protocol(self) -> ProtocolRoutes:
        """Return the protocol with its table of routes."""
        name = self._desk.name
        path = f"{self._desk.base_path}{MCP_PATH}"
        route = Route(
            "POST", path, self.post, counted="static", max_body=MAX_BODY, is_for_widget=not name
        )
        return ProtocolRoutes(
            f"mcp of {name}" if name else "mcp",
            (route,),
            owns=(path,),
            render_error=render_error,
            desk=self._desk if name else None,
            objects=OBJECTS,
        )


def render_error(error: DeskError, _headers: Mapping[str, str]) -> Reply:
    """Render a refusal of a message or of its sender in JSON-RPC's form.

    ``data.code`` is its kind; the HTTP status and headers are those of every protocol.
    """
    code, status = _code_of(error.kind), find_status(error.kind)
    told = describe_error(error)
    reply = make_error_reply(error.message_id, code, error.message, told, status=status)
    return msgspec.structs.replace(reply, headers=make_refusal_headers(error))


def _code_of(kind: ErrorKind) -> int:
    match kind:
        case ErrorKind.INVALID_REQUEST | ErrorKind.MISSING_FIELD:
            return INVALID_REQUEST
        case ErrorKind.ROUTE_NOT_FOUND | ErrorKind.METHOD_NOT_ALLOWED:
            return METHOD_NOT_FOUND
        case ErrorKind.INTERNAL:
            return INTERNAL_ERROR
        case _:
            return REFUSED


def _credential_in(message: Mapping[str, Any]) -> str | None:
    """Return the credential in a message, ``params._meta.auth``; None without one.

    Raises:
        InvalidRequest: it is not a text.
    """
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    token = meta.get("auth") if isinstance(meta, dict) else None
    if token is None:
        return None
    if not isinstance(token, str) or not token or len(token) > MAX_BODY:
        raise InvalidRequest(
            "`_meta.auth` must be an API key or a token, as a string.", param="_meta.auth"
        )
    return token
