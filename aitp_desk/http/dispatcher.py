"""The dispatcher: takes every request from its head to its response.

On the way in it checks limits, host, identity and body. On the way out it renders refusals in the
format of the protocol, internal errors as one fixed text with the request's id, and adds the
headers that every response carries. Handlers of protocols run in between; neither they nor the
dispatcher see the connection (``connection/http_connection.py``).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import NoReturn
from urllib.parse import urlsplit

import msgspec
import structlog
from multidict import CIMultiDict, CIMultiDictProxy
from structlog.contextvars import bind_contextvars, unbind_contextvars

from aitp_desk.auth.credentials.proof import Proof
from aitp_desk.auth.credentials.request_credentials import NO_CREDENTIALS
from aitp_desk.auth.identifier import Identifier
from aitp_desk.desk.access.audit_log import AuditLog
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.limits.concurrency import ConcurrencyLimiter
from aitp_desk.desk.limits.rate_limits import Allowance, RateLimiter
from aitp_desk.http.connection.request_head import RequestHead, parse_head
from aitp_desk.http.cors import CorsPolicy, Headers
from aitp_desk.http.hac.representation import HacRenderer, not_acceptable
from aitp_desk.http.metrics import OTHER, RequestMetrics
from aitp_desk.http.request import Request, call_handler
from aitp_desk.http.router import Router
from aitp_desk.model.access.principal import (
    Principal,
    ProvenBy,
    make_anonymous,
    may_operate_threads,
)
from aitp_desk.model.counters import WINDOW_SECONDS
from aitp_desk.model.errors import (
    DeskError,
    Forbidden,
    InternalError,
    InvalidRequest,
    MethodNotAllowed,
    NotAuthenticated,
    PaymentRequired,
    RouteNotFound,
    ScopeMissing,
    Unavailable,
    UnknownClient,
    WrongHost,
)
from aitp_desk.protocols.base.auth_metadata import with_metadata_challenge
from aitp_desk.protocols.base.discovery_links import MANIFEST_PATH, link_header
from aitp_desk.protocols.base.payments.x402_wire import with_requirements
from aitp_desk.protocols.base.protocol import REFUSED, TEXT, ProtocolRoutes, Reply, Route
from aitp_desk.protocols.hac.negotiation import Face
from aitp_desk.store.base import StoreError

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_EVERY_RESPONSE = CIMultiDict(
    {
        "Content-Type": "",
        "Link": link_header(),
        "Server": "aitp-desk",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    }
)
"""The headers of every response, in their order; a reply's own values replace them."""
_TO_MANIFEST = Reply(
    302,
    f"The manifest of this site is at {MANIFEST_PATH}.\n".encode(),
    TEXT,
    (("Location", MANIFEST_PATH), ("Vary", "Accept")),
)
_MAY_BE_SENT = Reply(204)
"""The response to a preflight request; its headers say what is allowed."""
_FOR_OWN_PAGES = "Only the desk's own pages may send this request."
_FOR_OTHER_ORIGINS = (
    "Pages of this origin may not use the API; the site's owner permits origins with the setting"
    " cors.origins."
)
WAITED_SECONDS = 0.1
"""A request that took longer may have waited: its credential is checked again before it is sent."""
STORE_FAILS_SECONDS = 10
"""Seconds after which a caller may retry a request that failed in the store."""
_ID = "request_id"
"""The key of a request's id in the log."""
_log = structlog.get_logger()


class Response(msgspec.Struct, frozen=True):
    """The outcome of a request: a reply, and what its headers depend on.

    Parameters:
        protocol: the protocol that replied.
        allowance: what is left of the caller's limit; None where nothing was counted.
        told: the CORS headers.
        proof: the caller's; None where none was admitted.
        request_id: set by a trusted proxy, or by a fault; empty for none.
    """

    reply: Reply
    protocol: ProtocolRoutes
    allowance: Allowance | None = None
    told: Headers = ()
    proof: Proof | None = None
    request_id: str = ""

    @property
    def closes_connection(self) -> bool:
        """Whether the connection is closed after it: the rest of the request stays unread."""
        return self.reply.status in (408, 413)

    def headers(self) -> CIMultiDict[str]:
        """Return the headers, except those of the message's framing."""
        reply = self.reply
        headers = stable_headers(reply.content_type, reply.headers, reply.links, self.told)
        headers.update(self.per_request_headers())
        return headers

    def per_request_headers(self) -> tuple[tuple[str, str], ...]:
        """Return the headers that change with each request (AHP 0.1, section 11.1)."""
        allowance = self.allowance
        named = (("X-Request-Id", self.request_id),) if self.request_id else ()
        if allowance is None:
            return named
        return (
            *named,
            ("X-RateLimit-Limit", str(allowance.limit)),
            ("X-RateLimit-Remaining", str(allowance.remaining)),
            ("X-RateLimit-Reset", str(allowance.reset_at)),
            ("X-RateLimit-Window", str(WINDOW_SECONDS)),
        )


class Dispatcher:
    """Answers requests of every connection and protocol.

    Parameters:
        browsers: the CORS policy.
        tells_of_tokens: whether a refused credential gets a challenge that names the token issuer.
        faces: renders HAC representations; None where HAC is disabled.

    Attributes:
        meter: counts requests.
    """

    def __init__(
        self,
        *,
        desk: Desk,
        protocols: Iterable[ProtocolRoutes],
        identifier: Identifier,
        browsers: CorsPolicy,
        audit_log: AuditLog,
        concurrency: ConcurrencyLimiter | None,
        tells_of_tokens: bool = False,
        faces: HacRenderer | None = None,
    ) -> None:
        self._desk = desk
        self._faces = faces
        self._browsers = browsers
        self._audit_log = audit_log
        self._tells_of_tokens = tells_of_tokens
        self._table = Router(protocols, has_faces=faces is not None)
        self._identifier = identifier
        self._concurrency = concurrency
        self.meter = RequestMetrics()
        self._hosts = _LOOPBACK | {urlsplit(desk.site.url).hostname or ""}

    @property
    def routes(self) -> tuple[tuple[ProtocolRoutes, Route], ...]:
        """Every route, with its protocol."""
        return self._table.routes

    def read_head(
        self,
        method: str,
        path: str,
        target: str,
        headers: CIMultiDictProxy[str],
    ) -> RequestHead:
        """Parse the head of a request.

        See :func:`aitp_desk.http.connection.request_head.parse_head`.
        """
        return parse_head(
            method,
            path,
            target,
            headers,
            table=self._table,
            desk=self._desk,
            hosts=self._hosts,
            browsers=self._browsers,
            meter=self.meter,
            has_faces=self._faces is not None,
        )

    async def handle_request(self, request: Request) -> Response:
        """Answer one request. Raises nothing but cancellation."""
        began = perf_counter()
        heading = request.heading
        request_id = heading.request_id and self._find_id(request)
        protocol, desk = heading.protocol, heading.desk
        allowance: Allowance | None = None
        proof: Proof | None = None
        refused: DeskError | None = None
        try:
            caller, allowance = await self._admit(request, desk.limiter)
            self._check(heading, allowance)
            if heading.is_preflight:  # browsers send it without credentials
                reply = _MAY_BE_SENT
            elif heading.is_for_manifest:
                _proven(caller)
                reply = _TO_MANIFEST
            else:
                route = heading.route or self._refuse_route(heading)
                proof = _proven(caller)
                for use in proof.replay_checks:
                    await use()
                principal, thread_id = proof.principal, heading.params.get("thread_id")
                if thread_id and principal.scopes and may_operate_threads(principal):
                    await self._audit_log.note_operator_visit(principal, thread_id)
                reply = await call_handler(request, route, proof, allowance, self._concurrency)
                if reply.body and perf_counter() - began > WAITED_SECONDS:
                    await self._check_revoked(proof)
        except DeskError as error:
            refused = error
            if isinstance(error, NotAuthenticated):
                self._note(request, error)
            reply = self._render(error, heading)
        except StoreError as error:
            request_id = request_id or secrets.token_hex(8)
            reason = {"protocol": protocol.name, "method": heading.method, "reason": str(error)}
            _log.error("store_failed", **{_ID: request_id}, **reason)
            refused = _store_fails(request_id)
            reply = protocol.render_error(refused, heading.headers)
        except Exception:  # noqa: BLE001 -- the boundary: no detail of a fault reaches the wire
            refused = fault = report_fault(heading.method, protocol, request_id)
            reply, request_id = protocol.render_error(fault, heading.headers), fault.request_id
        is_faced = heading.face is not Face.PLAIN or reply.status >= REFUSED
        if self._faces is not None and is_faced:
            asker = make_anonymous(request.peer) if proof is None else proof.principal
            reply = _face(self._faces, reply, refused, heading, asker, allowance)
        del refused  # a cycle through its traceback would keep the body until the next collection
        if heading.request_id:
            unbind_contextvars(_ID)
        heading.tally.count(reply.status, perf_counter() - began)
        return Response(reply, protocol, allowance, heading.told.headers, proof, request_id)

    def is_trusted_proxy(self, peer: str) -> bool:
        """Return whether headers that only proxies set count from this peer."""
        return self._identifier.addresses.is_trusted(peer)

    async def is_still_authorized(self, outgoing: Response) -> bool:
        """Return whether the caller's credential is still valid."""
        return outgoing.proof is None or await self._identifier.still_holds(outgoing.proof)

    @property
    def clock(self) -> Callable[[], float]:
        """Returns Unix seconds; the expiry of credentials is compared with it."""
        return self._identifier.clock

    def reject_overloaded(self, heading: RequestHead, error: Unavailable) -> Response:
        """Refuse a request whose response exceeds the send backlog, in its protocol's format."""
        reply = heading.protocol.render_error(error, heading.headers)
        return Response(reply, heading.protocol, told=heading.told.headers)

    def reject_malformed(self, error: DeskError) -> Response:
        """Refuse bytes that are no request, in the catch-all protocol's format."""
        protocol = self._table.owner("")
        told = self._browsers.make_headers("GET", {}, is_open=False)
        reply = protocol.render_error(error, {})
        self.meter.for_route(OTHER, None).count(reply.status, 0.0)
        return Response(reply, protocol, told=told.headers)

    def _find_id(self, request: Request) -> str:
        """Return a trusted proxy's id of a request, and bind it to the log."""
        if not self.is_trusted_proxy(request.peer):
            return ""
        bind_contextvars(**{_ID: request.heading.request_id})
        return request.heading.request_id

    async def _admit(
        self, request: Request, limiter: RateLimiter
    ) -> tuple[Proof | Exception, Allowance | None]:
        """Identify the caller and count the request.

        A credential that is refused, or cannot be checked now, is counted by its address.
        """
        heading = request.heading
        caller: Proof | Exception
        try:
            caller = await self._identifier.identify(heading, request.peer)
            counted = caller.principal
        except Exception as refusal:  # noqa: BLE001 -- it is raised once the request is counted
            address = self._identifier.addresses.find(heading.headers, request.peer)
            caller, counted = refusal, make_anonymous(address)
        # a signed-in operator's console polls, and must not lock them out
        is_polled = counted.proven_by is ProvenBy.CONSOLE and heading.counted == "static"
        if heading.counted is None or is_polled:
            return caller, None
        return caller, limiter.count(counted, heading.counted, heading.agent)

    async def _check_revoked(self, proof: Proof) -> None:
        """Refuse a caller whose credential was revoked while the request waited.

        One that has only expired was valid when the request came, and gets its response.

        Raises:
            NotAuthenticated: it was revoked, or replaced.
        """
        is_over = proof.until is not None and self._identifier.clock() >= proof.until
        if not is_over and not await self._identifier.still_holds(proof):
            raise NotAuthenticated(
                "The credential is no longer valid.", reason="revoked", whose=proof.principal.id
            )

    def _render(self, error: DeskError, heading: RequestHead) -> Reply:
        """Render a refusal in its protocol's format, with HTTP's headers for payment or login."""
        reply, site = heading.protocol.render_error(error, heading.headers), self._desk.site.url
        match error:
            case PaymentRequired():
                return with_requirements(reply, error, f"{site}{heading.path}")
            case NotAuthenticated() | ScopeMissing() if self._tells_of_tokens:
                return with_metadata_challenge(reply, site, heading.path)
            case _:
                return reply

    def _note(self, request: Request, error: NotAuthenticated) -> None:
        """Record that a credential was refused, where one was sent."""
        heading = request.heading
        if heading.presented is not NO_CREDENTIALS or isinstance(error, UnknownClient):
            address = self._identifier.addresses.find(heading.headers, request.peer)
            self._audit_log.note_refused_credential(address, error)

    def _check(self, heading: RequestHead, allowance: Allowance | None) -> None:
        """Refuse what exceeds the limit, before any other check of the request."""
        if allowance is not None:
            allowance.check()
        if not heading.is_for_us:
            raise WrongHost(
                f"This desk serves {self._desk.site.url}; the request names another host.",
                param="Host",
            )
        if isinstance(heading.presented, InvalidRequest):  # before any other error
            raise heading.presented.with_traceback(None)
        if heading.told.is_refused:
            is_own = heading.route is not None and heading.route.is_own
            raise Forbidden(_FOR_OWN_PAGES if is_own else _FOR_OTHER_ORIGINS, param="Origin")
        if heading.face is Face.NOT_ACCEPTABLE and heading.route is not None:
            raise not_acceptable(heading.route)
        if allowance is not None and heading.protocol.action:
            allowance.check_action(heading.protocol.action)

    def _refuse_route(self, heading: RequestHead) -> NoReturn:
        method = heading.method
        allowed = self._table.methods(heading.path, heading.desk)
        if allowed:
            named = "GET" if method == "HEAD" else method[:16]  # as long as for GET
            raise MethodNotAllowed(
                f"{named} is not supported here; use {', '.join(allowed)}.", allowed=allowed
            )
        raise RouteNotFound(
            f"There is nothing at this address. The manifest at {MANIFEST_PATH} lists the"
            " addresses."
        )


def _face(
    faces: HacRenderer,
    reply: Reply,
    refused: DeskError | None,
    heading: RequestHead,
    asker: Principal,
    allowance: Allowance | None,
) -> Reply:
    """Return the negotiated representation; a refusal varies by ``Accept``."""
    if heading.face is not Face.PLAIN:
        reply = faces.render(reply, refused, heading.to_hac_request(asker, allowance))
    headers = (*reply.headers, *heading.told.headers)
    if reply.status < REFUSED or any(
        name == "Vary" and "Accept" in value for name, value in headers
    ):
        return reply
    return msgspec.structs.replace(reply, headers=(*reply.headers, ("Vary", "Accept")))


def _proven(caller: Proof | Exception) -> Proof:
    """Return the caller's proof, or raise the error of their credential."""
    if isinstance(caller, Exception):
        raise caller
    return caller


def _store_fails(request_id: str) -> Unavailable:
    """Return the error for a failing database, as on a full disk."""
    told = (
        "The desk's data cannot be read or written now. The log has the reason, with "
        f"the id {request_id}."
    )
    return Unavailable(told, retry_after=STORE_FAILS_SECONDS)


def report_fault(method: str, protocol: ProtocolRoutes, request_id: str) -> InternalError:
    """Log an exception that escaped a handler, without any content of the request.

    Parameters:
        request_id: empty to make one.

    Returns:
        The error for the caller, with the id.
    """
    request_id = request_id or secrets.token_hex(8)
    _log.exception("fault", **{_ID: request_id}, protocol=protocol.name, method=method)
    return InternalError(
        f"Something went wrong on our side. Tell us the id {request_id} and we can find it.",
        request_id=request_id,
    )


def stable_headers(content_type: str, own: Headers, links: str, told: Headers) -> CIMultiDict[str]:
    """Return the headers of a reply that do not depend on the caller.

    Parameters:
        own: the reply's own, which replace those of every response.
        links: its Link values, added to those of every response; empty for none.
        told: the CORS headers.
    """
    headers = _EVERY_RESPONSE.copy()
    headers["Content-Type"] = content_type
    if own:
        headers.update(own)
    if links:
        headers.add("Link", links)
    headers.extend(told)
    return headers
