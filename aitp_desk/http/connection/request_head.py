"""Parses the head of a request, independently of its sender.

It runs before all else, and once where the same head repeats (``head_cache.py``). It reads the
credential; the dispatcher determines who is calling and what they may do.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import lru_cache

import msgspec
from multidict import CIMultiDict, CIMultiDictProxy, MultiMapping

from aitp_desk.auth.credentials.address_line import check_address
from aitp_desk.auth.credentials.request_credentials import (
    NO_CREDENTIALS,
    RequestCredentials,
    read_credentials,
    read_session,
)
from aitp_desk.config import AgentLimits
from aitp_desk.desk.desk import Desk
from aitp_desk.desk.limits.rate_limits import Allowance
from aitp_desk.http.cors import CorsHeaders, CorsPolicy
from aitp_desk.http.hac.representation import BY_FACE, negotiate_representation
from aitp_desk.http.hac.request_view import HacRequest
from aitp_desk.http.metrics import RequestMetrics, RouteMetrics
from aitp_desk.http.router import Router
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.errors import DeskError
from aitp_desk.protocols.base.accept import is_page_load, wants_manifest
from aitp_desk.protocols.base.protocol import ANY_TYPE, JSON, Counted, ProtocolRoutes, Route
from aitp_desk.protocols.hac.negotiation import Face

WATCHED = frozenset({"/health", "/ready"})
"""Health addresses. Monitors may use any host name for the machine; nothing is counted there."""

_WHOLE_URL = re.compile(r"https?://([^/?#]*)", re.IGNORECASE)
_HOST_AND_PORT = re.compile(
    r"(\[[\da-f.]*:[\da-f:.]*\]|[\w.-]+)(?::\d{0,5})?", re.IGNORECASE | re.ASCII
)
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}", re.ASCII)

_LISTS = ("Accept", "If-None-Match")
"""Headers whose lines form one list (RFC 9110, section 5.3), read as one text by protocols."""


class RequestHead(msgspec.Struct, frozen=True):
    """A parsed head.

    Parameters:
        path: percent-encoded, without the query.
        target: path and query as they were sent.
        headers: several lines of one list joined into one.
        presented: the credential, or the error of reading it; empty where the route reads it
            itself.
        protocol: the protocol of the route, which also formats refusals.
        desk: the one whose route it is.
        route: None where nothing is served.
        params: the values of the route's template, decoded.
        counted: the limit that it is counted against; None for none.
        agent: the limits of the agent named by User-Agent; None for none.
        is_for_us: whether it names one of the desk's hosts.
        is_for_manifest: whether its ``Accept`` prefers the manifest.
        is_encoded: whether its body has a Content-Encoding.
        is_of_type: whether its body has the media type of the route.
        told: the CORS headers of its response.
        is_preflight: whether it is a CORS preflight request.
        tally: the counters of its route.
        face: the negotiated representation: plain or HAC.
        request_id: the ``X-Request-Id``; empty where it is missing or invalid. Whether it counts
            depends on the sender.
    """

    method: str
    path: str
    target: str
    headers: MultiMapping[str]
    presented: RequestCredentials | DeskError
    protocol: ProtocolRoutes
    desk: Desk
    route: Route | None
    params: Mapping[str, str]
    counted: Counted | None
    agent: AgentLimits | None
    is_for_us: bool
    is_for_manifest: bool
    is_encoded: bool
    is_of_type: bool
    told: CorsHeaders
    is_preflight: bool
    tally: RouteMetrics
    request_id: str
    face: Face = Face.PLAIN

    def to_hac_request(self, principal: Principal, allowance: Allowance | None) -> HacRequest:
        """Return the view of the request for its HAC representation.

        Parameters:
            principal: the caller, as far as proven.
            allowance: as it was counted.
        """
        return HacRequest(
            self.desk, principal, self.method, self.path, self.params, self.headers, allowance
        )

    @property
    def is_named(self) -> bool:
        """Whether it carries a request id or a trace: then it never repeats."""
        return bool(self.request_id) or "traceparent" in self.headers


def parse_head(
    method: str,
    path: str,
    target: str,
    headers: CIMultiDictProxy[str],
    *,
    table: Router,
    desk: Desk,
    hosts: Collection[str | None],
    browsers: CorsPolicy,
    meter: RequestMetrics,
    has_faces: bool = False,
) -> RequestHead:
    """Parse a head.

    Parameters:
        method: as it was sent; it may be no method at all.
        path: as it was requested, percent-encoded, without the query.
        target: the request line's, which may be a whole URL.
        headers: all its lines.
        table: the routes.
        desk: the site's main one.
        hosts: the desk's host names.
        browsers: the CORS policy.
        meter: counts requests.
        has_faces: whether HAC is enabled.
    """
    joined = _joined(headers)
    found = table.find(method, path)
    protocol, route, params = found or (table.owner(path), None, {})
    called = protocol.desk or desk
    is_watched = path in WATCHED
    unknown: Counted | None = None if is_watched else "static"
    named = _hostname(_authority(target, headers))
    asked = headers.get("Access-Control-Request-Method", "") if "Origin" in headers else ""
    methods = table.methods(path, desk) if asked and method == "OPTIONS" else ()
    # HEAD needs no permission (Fetch, CORS-safelisted method)
    methods = tuple(one for one in methods if one != "HEAD")
    if methods:
        wanted = table.find(asked, path)
        told = browsers.make_preflight_headers(
            asked,
            headers,
            methods=methods,
            is_open=wanted is not None and wanted[1].is_open,
            is_for_widget=wanted is not None and wanted[1].is_for_widget,
        )
        if wanted is not None and wanted[1].is_own:
            told = browsers.make_same_origin_headers(headers)
    elif route is not None and route.is_own:
        told = browsers.make_same_origin_headers(headers)
    else:
        told = browsers.make_headers(
            method,
            headers,
            is_open=route is not None and route.is_open,
            is_for_widget=route is not None and route.is_for_widget,
            is_question=route is not None and route.counted == "converse",
        )
    counted = route.counted if route else unknown
    if told.is_refused and counted is not None:
        counted = "static"  # a foreign page must not use up the questions of its visitors
    agent = called.limiter.find_agent(headers.get("User-Agent", ""))
    if route is not None and route.is_page and agent is None:
        # a whole office has one address: its visitors' pages are no reason to refuse a question
        counted = None if is_page_load(joined.get("Accept", "")) else counted
    face = negotiate_representation(joined, method, path, route, called, has_faces=has_faces)
    if route is not None and route.second is not None and not route.is_open:
        told = msgspec.structs.replace(told, headers=(BY_FACE, *told.headers))
    return RequestHead(
        method,
        path,
        target,
        joined,
        _read_presented(headers, target, route),
        protocol,
        called,
        route,
        params,
        counted=counted,
        agent=agent,
        told=told,
        is_preflight=bool(methods),
        is_for_us=is_watched or named in hosts,
        is_for_manifest=face is not Face.HAC
        and _is_for_manifest(method, path, joined, route, called),
        is_encoded=any(
            coding.lower() != "identity" for coding in headers.getall("Content-Encoding", ())
        ),
        is_of_type=route is not None and _is_of(route.media_type, headers.get("Content-Type")),
        tally=meter.for_route(method, None if route is None else route.path),
        request_id=_read_request_id(headers),
        face=face,
    )


def _read_presented(
    headers: CIMultiDictProxy[str], target: str, route: Route | None
) -> RequestCredentials | DeskError:
    try:
        check_address(target)
        if route is not None and route.cookie:
            return read_session(headers, route.cookie)
        return (
            NO_CREDENTIALS
            if route is not None and not route.identifies
            else read_credentials(headers)
        )
    except DeskError as error:
        return error


def _read_request_id(headers: CIMultiDictProxy[str]) -> str:
    """Return the sender's one id of the request; it is logged unchanged."""
    if "X-Request-Id" not in headers:
        return ""
    ids = headers.getall("X-Request-Id")
    return ids[0] if len(ids) == 1 and _REQUEST_ID.fullmatch(ids[0]) else ""


def _joined(headers: CIMultiDictProxy[str]) -> MultiMapping[str]:
    """Return the headers with several lines of one list joined."""
    repeated = [name for name in _LISTS if len(headers.getall(name, ())) > 1]
    if not repeated:
        return headers
    joined = CIMultiDict(headers)
    for name in repeated:
        joined[name] = ", ".join(headers.getall(name))
    return joined


def _is_for_manifest(
    method: str, path: str, headers: Mapping[str, str], route: Route | None, desk: Desk
) -> bool:
    """Return whether a reader prefers the manifest to what an address serves.

    One rule for all addresses (AHP 0.1, section 3.2): a request that names the manifest's type, and
    prefers nothing that the address serves, is redirected to the manifest. A redirect, because the
    manifest says nothing of that address, and caches keep it once. A request that changes something
    is never redirected, nor one that also accepts JSON or an event stream where the address serves
    it.
    """
    if method not in {"GET", "HEAD"} or "Accept" not in headers:
        return False
    accept = headers["Accept"]
    if not wants_manifest(accept, over=()):
        return False
    if route is None:
        return wants_manifest(accept)
    given = route.gives_at(desk, path) if route.gives_at is not None else ()
    return wants_manifest(accept, given or route.gives)


def _authority(target: str, headers: Mapping[str, str]) -> str:
    """Return the requested host: a whole URL overrides the Host header (RFC 9112, 3.2.2)."""
    if target.startswith(("/", "*")):
        return headers.get("Host", "")
    whole = _WHOLE_URL.match(target)
    return whole[1] if whole else ""


@lru_cache(maxsize=256)
def _hostname(authority: str) -> str | None:
    """Return a host's name or address without its port; None for anything else.

    Forms that others may read as another host (``a@b``, ``a/b``) are rejected.
    """
    found = _HOST_AND_PORT.fullmatch(authority)
    return found[1].strip("[]").lower() if found else None


@lru_cache(maxsize=256)
def _is_of(media_type: str, content_type: str | None) -> bool:
    """Return whether a body has a route's media type; no type means JSON."""
    if media_type == ANY_TYPE:
        return True
    if content_type is None:
        return media_type == JSON
    essence = content_type.partition(";")[0].strip().lower()
    return essence == media_type or (
        media_type == JSON and (essence.startswith("application/") and essence.endswith("+json"))
    )
