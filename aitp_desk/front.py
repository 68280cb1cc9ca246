"""What every request passes on its way in, and every response on its way out.

In: limits, host, identity, body. Out: the door's own error form for whatever was refused, one fixed
text and a correlation id for whatever was our fault, and the headers that every response carries.
The doors' handlers stand between and see neither the HTTP server nor one another.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NoReturn
from urllib.parse import urlsplit

import msgspec
import structlog
from aiohttp import HttpVersion11, web
from multidict import CIMultiDict

from aitp_desk.announcing.tags import MANIFEST_PATH, link_header
from aitp_desk.auth.identify import Identifier
from aitp_desk.config import Server
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.limits import WINDOW_SECONDS, Allowance, Limiter
from aitp_desk.desk.streams import Stream
from aitp_desk.model.errors import (
    DeskError,
    InternalError,
    InvalidRequest,
    MethodNotAllowed,
    RequestTimeout,
    RequestTooLarge,
    RouteNotFound,
    UnsupportedMedia,
    WrongHost,
)
from aitp_desk.model.principal import Principal, anonymous
from aitp_desk.protocols.reply import JSON, Call, Counted, Door, Reply, Route
from aitp_desk.routing import RoutingTable
from aitp_desk.streaming import carry_out

WATCHED = frozenset({"/health", "/ready"})
"""Addresses for watchers, who know the machine by any name; nothing is counted there."""

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_NO_QUERY: Mapping[str, str] = {}
_EVERY_RESPONSE = CIMultiDict(
    {
        "Content-Type": "",
        "Link": link_header(),
        "Server": "aitp-desk",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
    }
)
"""The headers of every response, in their order; its own values replace them."""
_log = structlog.get_logger()


class Front:
    """The HTTP server's one handler."""

    def __init__(
        self, *, desk: Desk, doors: Iterable[Door], identifier: Identifier, server: Server
    ) -> None:
        self._desk = desk
        self._table = RoutingTable(doors)
        self._identifier = identifier
        self._idle_seconds = server.body_idle_seconds
        self._hosts = _LOOPBACK | {urlsplit(desk.site.url).hostname or ""}

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request. Raises nothing but cancellation."""
        path = request.rel_url.raw_path
        found = self._table.find(request.method, path)
        door = found[0] if found else self._table.owner(path)
        desk = door.desk or self._desk
        allowance: Allowance | None = None
        try:
            unknown: Counted | None = None if path in WATCHED else "static"
            kind = found[1].counted if found else unknown
            caller, allowance = await self._admit(request, desk.limiter, kind)
            _check_allowance(allowance)
            self._check_host(request, path)
            _, route, params = found or self._refuse_route(request.method, path)
            principal = _at(desk, _proven(caller))
            if route.admit is not None:
                route.admit(desk, principal)
            body = await self._read_body(request, route) if route.max_body else b""
            call = Call(
                principal,
                request.method,
                path,
                params,
                request.rel_url.query if request.rel_url.raw_query_string else _NO_QUERY,
                request.headers,
                body,
                allowance,
            )
            reply = await route.handler(desk, call)
        except RouteNotFound as error:  # a content page may turn out not to exist
            reply = self._table.owner(path).render_error(error, request.headers)
        except DeskError as error:
            reply = door.render_error(error, request.headers)
        except Exception:  # noqa: BLE001 -- the boundary: nothing of a fault reaches the wire
            reply = door.render_error(_report_fault(request.method, door), request.headers)
        if reply.stream is not None:
            return await self._stream(request, reply, reply.stream, allowance, door)
        return _response(reply, allowance)

    async def _stream(
        self,
        request: web.BaseRequest,
        reply: Reply,
        stream: Stream,
        allowance: Allowance | None,
        door: Door,
    ) -> web.StreamResponse:
        """Carry out a response that goes on, for as long as its caller's credential holds."""

        async def is_welcome() -> bool:
            try:
                await self._identifier.identify(request.headers, request.remote or "")
            except DeskError:
                return False
            return True

        response = web.StreamResponse(status=reply.status, headers=_headers(reply, allowance))
        try:
            await carry_out(request, response, stream, is_welcome)
        except Exception:  # noqa: BLE001 -- the boundary, as above; the head was sent already
            _report_fault(request.method, door)
        return response

    def refuse(self, error: DeskError) -> web.Response:
        """Answer what is no request, and so came to no door: in the form of whoever owns all."""
        return _response(self._table.owner("").render_error(error, {}), None)

    async def _admit(
        self, request: web.BaseRequest, limiter: Limiter, kind: Counted | None
    ) -> tuple[Principal | DeskError, Allowance | None]:
        """Identify the caller and count the request; a bad credential counts as its address."""
        peer = request.remote or ""
        caller: Principal | DeskError
        try:
            caller = counted = await self._identifier.identify(request.headers, peer)
        except DeskError as refusal:
            address = self._identifier.addresses.find(request.headers, peer)
            caller, counted = refusal, anonymous(address)
        if kind is None:
            return caller, None
        return caller, limiter.count(counted, kind)

    def _check_host(self, request: web.BaseRequest, path: str) -> None:
        if path in WATCHED:
            return
        if _hostname(request.headers.get("Host", "")) not in self._hosts:
            raise WrongHost(
                f"This desk serves {self._desk.site.url}; the request names another host.",
                param="Host",
            )

    def _refuse_route(self, method: str, path: str) -> NoReturn:
        allowed = self._table.methods(path)
        if allowed:
            raise MethodNotAllowed(
                f"{method[:16]} is not served here, but {', '.join(allowed)}.", allowed=allowed
            )
        raise RouteNotFound(
            f"Nothing is served at this address. The manifest at {MANIFEST_PATH} says what is."
        )

    async def _read_body(self, request: web.BaseRequest, route: Route) -> bytes:
        if (request.content_length or 0) > route.max_body:
            raise _too_large(route)
        if request.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise UnsupportedMedia("Send the body without Content-Encoding.")
        expects = request.headers.get("Expect", "").lower()
        if expects == "100-continue" and request.version >= HttpVersion11:
            await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if request.content.is_eof():
            body = request.content.read_nowait()
        else:
            body = await self._read_as_it_comes(request, route)
        if len(body) > route.max_body:
            raise _too_large(route)
        if body and not _is_of(route.media_type, request.headers.get("Content-Type")):
            raise UnsupportedMedia(
                f"The body is sent with Content-Type: {route.media_type}.", param="Content-Type"
            )
        return body

    async def _read_as_it_comes(self, request: web.BaseRequest, route: Route) -> bytes:
        chunks: list[bytes] = []
        size = 0
        while True:
            try:
                async with asyncio.timeout(self._idle_seconds):
                    chunk = await request.content.readany()
            except TimeoutError:
                raise RequestTimeout(
                    f"The body paused for more than {self._idle_seconds} seconds."
                ) from None
            except ConnectionResetError:  # nobody reads this answer, and it is no fault of ours
                raise InvalidRequest("The connection ended before the body did.") from None
            if not chunk:
                return b"".join(chunks)
            size += len(chunk)
            if size > route.max_body:
                raise _too_large(route)
            chunks.append(chunk)


def _too_large(route: Route) -> RequestTooLarge:
    return RequestTooLarge(f"The body of this request is at most {route.max_body} bytes.")


def _check_allowance(allowance: Allowance | None) -> None:
    """Refuse what is past the limit, before anything else is said about the request."""
    if allowance is not None and allowance.refused is not None:
        raise allowance.refused


def _at(desk: Desk, principal: Principal) -> Principal:
    """The caller, at the desk that it calls."""
    return msgspec.structs.replace(principal, desk=desk.name) if desk.name else principal


def _proven(caller: Principal | DeskError) -> Principal:
    """The caller, unless their credential proves nothing."""
    if isinstance(caller, DeskError):
        raise caller
    return caller


@lru_cache(maxsize=256)
def _hostname(host: str) -> str | None:
    """The name or address within a Host header; None where there is none."""
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


@lru_cache(maxsize=256)
def _is_of(media_type: str, content_type: str | None) -> bool:
    """Whether a body may be read as what a route takes; one without a type may, as JSON."""
    if content_type is None:
        return media_type == JSON
    essence = content_type.partition(";")[0].strip().lower()
    return essence == media_type or (
        media_type == JSON and (essence.startswith("application/") and essence.endswith("+json"))
    )


def _report_fault(method: str, door: Door) -> InternalError:
    """Log what escaped a handler, without any of the request's content; give the caller its id."""
    correlation_id = secrets.token_hex(8)
    _log.exception("fault", correlation_id=correlation_id, door=door.name, method=method)
    return InternalError(
        f"Something went wrong on our side. Tell us the id {correlation_id} and we can find it.",
        correlation_id=correlation_id,
    )


def _response(reply: Reply, allowance: Allowance | None) -> web.Response:
    headers = _headers(reply, allowance)
    response = web.Response(status=reply.status, body=reply.body, headers=headers)
    if reply.status in (408, 413):
        response.force_close()
    return response


def _headers(reply: Reply, allowance: Allowance | None) -> CIMultiDict[str]:
    headers = _EVERY_RESPONSE.copy()
    headers["Content-Type"] = reply.content_type
    if reply.headers:
        headers.update(reply.headers)
    if allowance is not None:  # AHP 0.1, section 11.1
        headers["X-RateLimit-Limit"] = str(allowance.limit)
        headers["X-RateLimit-Remaining"] = str(allowance.remaining)
        headers["X-RateLimit-Reset"] = str(allowance.reset_at)
        headers["X-RateLimit-Window"] = str(WINDOW_SECONDS)
    return headers
