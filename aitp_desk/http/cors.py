"""The CORS policy: which origins may read a response or call the API.

Discovery (content, manifest, well-known addresses) is open to pages of every origin; the API to the
site's origin and those that the owner has listed. ``Access-Control-Allow-Origin`` repeats a listed
origin only, and never ``null``, which any page can claim. The only cookie belongs to the console,
which serves no page of another origin. So no response allows credentials; a key in a header is no
credential in this sense.

Browsers withhold a response from a page, but send some requests all the same. So a request that
changes something is refused where its page's origin is not listed. The page cannot say why its chat
does not work, so the desk's log does.

Source: the CORS protocol (https://fetch.spec.whatwg.org/#http-cors-protocol), RFC 6454 (origins),
RFC 6797 (Strict-Transport-Security).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

import msgspec
import structlog

from aitp_desk.config import Cors
from aitp_desk.model.web_address import origin_of

Headers = tuple[tuple[str, str], ...]

PREFLIGHT_SECONDS = 7200
"""How long browsers may cache a preflight response; none caches it for longer."""
ALLOWED_HEADERS = (
    "Authorization",
    "Content-Type",
    "X-AHP-Key",
    "Desk-Grant",
    "Idempotency-Key",
    "If-None-Match",
    "Last-Event-ID",
    "MCP-Protocol-Version",
    "OpenAI-Beta",
    "Prefer",
    "PAYMENT-SIGNATURE",
    "X-PAYMENT",
    "Content-Digest",
    "Signature",
    "Signature-Agent",
    "Signature-Input",
    "*",
)
"""Headers that pages of other origins may send: any, as other clients may. Client libraries add
some; ``*`` covers all of them except ``Authorization``."""
EXPOSED_HEADERS = (
    "ETag",
    "Link",
    "Location",
    "PAYMENT-REQUIRED",
    "PAYMENT-RESPONSE",
    "Preference-Applied",
    "Retry-After",
    "WWW-Authenticate",
    "X-Markdown-Tokens",
    "X-PAYMENT-RESPONSE",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-RateLimit-Window",
    "x-should-retry",
)
"""Headers that pages of other origins may read."""
MAX_WARNINGS = 20
"""How many origins the log names, so that no caller fills it with invented ones."""

_BY_ORIGIN = ("Vary", "Origin")
_EXPOSED = ("Access-Control-Expose-Headers", ", ".join(EXPOSED_HEADERS))
_TO_ALL: Headers = (
    ("Access-Control-Allow-Origin", "*"),
    _EXPOSED,
    ("Cross-Origin-Resource-Policy", "cross-origin"),
)
_TO_NO_OTHER: Headers = (_BY_ORIGIN, ("Cross-Origin-Resource-Policy", "same-origin"))
_ENCRYPTED_FROM_NOW_ON = ("Strict-Transport-Security", "max-age=31536000")
"""For this host only: subdomains are not the desk's to decide on."""
_CHANGES_NOTHING = frozenset({"GET", "HEAD", "OPTIONS"})
_NO_ORIGIN = "null"
_ORIGIN = re.compile(r"https?://(?:[a-z\d._-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?", re.ASCII)
"""An origin as browsers write it: short, and safe in the log and in ``desk.toml``."""
_log = structlog.get_logger()


class CorsHeaders(msgspec.Struct, frozen=True):
    """The CORS headers of the response to one request.

    Parameters:
        headers: of the response, whatever its status.
        is_refused: whether the page's origin may not send the request.
    """

    headers: Headers
    is_refused: bool = False


class CorsPolicy:
    """Decides the CORS headers of one desk.

    Parameters:
        site_url: the site's address; pages of its origin may do everything.
        widget_origins: sites with the chat component, which may do what it does.
    """

    def __init__(self, site_url: str, settings: Cors, widget_origins: Sequence[str] = ()) -> None:
        site = urlsplit(site_url)
        self._site = site.netloc.lower()
        self._widget_origins = tuple(widget_origins)
        self._warned: set[str] = set()
        self._own = origin_of(site)
        self._open_discovery = settings.open_discovery
        always = (_ENCRYPTED_FROM_NOW_ON,) if site.scheme == "https" else ()
        self._to_all = CorsHeaders((*_TO_ALL, *always))
        self._to_no_other = CorsHeaders((*_TO_NO_OTHER, *always))
        self._refused = CorsHeaders(self._to_no_other.headers, is_refused=True)
        to_one = (_EXPOSED, *self._to_no_other.headers)
        self._to_origin = {
            origin: CorsHeaders((("Access-Control-Allow-Origin", origin), *to_one))
            for origin in (self._own, *settings.origins)
        }
        self._to_widget = {
            origin: CorsHeaders((("Access-Control-Allow-Origin", origin), *to_one))
            for origin in widget_origins
        } | self._to_origin

    def make_headers(
        self,
        method: str,
        headers: Mapping[str, str],
        *,
        is_open: bool,
        is_for_widget: bool = False,
        is_question: bool = False,
    ) -> CorsHeaders:
        """Return the CORS headers of the response to a request.

        Parameters:
            headers: the request's.
            is_open: whether the route belongs to discovery.
            is_for_widget: whether the chat component calls the route.
            is_question: whether it is a question whatever its method: a foreign page that has a
                browser load many would use up the answers of its visitors.
        """
        if is_open and self._open_discovery:
            return self._to_all
        origin = headers.get("Origin")
        if origin is None:
            is_loaded = is_question and "Sec-Fetch-Site" in headers and _is_loaded(headers)
            return self._refused if is_loaded else self._to_no_other
        known = (self._to_widget if is_for_widget else self._to_origin).get(origin)
        if known is not None:
            return known
        if self._is_own(origin, headers):
            return self._to_no_other
        if is_for_widget:
            self._warn(origin)
        changes_nothing = method in _CHANGES_NOTHING and not is_question
        return self._to_no_other if changes_nothing else self._refused

    def make_same_origin_headers(self, headers: Mapping[str, str]) -> CorsHeaders:
        """Return the headers where only pages of the site's origin may call the route.

        A visitor who follows a link may come from any page: no page sees what they are shown.

        Parameters:
            headers: the request's.
        """
        came_from = headers.get("Sec-Fetch-Site")
        if came_from is not None:
            is_visit = headers.get("Sec-Fetch-Mode") == "navigate" and "Origin" not in headers
            is_own = is_visit or came_from in {"same-origin", "none"}
        else:
            origin = headers.get("Origin")
            is_own = origin in {None, self._own} or self._is_own(origin or "", headers)
        return self._to_no_other if is_own else self._refused

    def make_preflight_headers(
        self,
        method: str,
        headers: Mapping[str, str],
        *,
        methods: Sequence[str],
        is_open: bool,
        is_for_widget: bool = False,
    ) -> CorsHeaders:
        """Return the CORS headers of the response to a preflight request.

        Parameters:
            method: of the request that a page intends to send.
            headers: the preflight request's.
            methods: that the address allows.
            is_open, is_for_widget: as for :meth:`make_headers`.
        """
        told = self.make_headers(method, headers, is_open=is_open, is_for_widget=is_for_widget)
        if told is self._to_no_other or told.is_refused:
            return self._refused
        return CorsHeaders(
            (
                *told.headers,
                ("Access-Control-Allow-Methods", ", ".join(methods)),
                ("Access-Control-Allow-Headers", ", ".join(ALLOWED_HEADERS)),
                ("Access-Control-Max-Age", str(PREFLIGHT_SECONDS)),
            )
        )

    def _warn(self, origin: str) -> None:
        """Log, once for each origin, that its pages cannot use the chat."""
        if origin in self._warned or len(self._warned) >= MAX_WARNINGS:
            return
        if origin == _NO_ORIGIN:
            remedy = "if the page is yours, serve it over http: a file has no origin"
        elif _ORIGIN.fullmatch(origin):
            # TOML's literal strings: a log in JSON escapes other quotes
            line = f"origins = {[*self._widget_origins, origin]}"
            remedy = f"if the site is yours, set below [widget] in desk.toml, and restart: {line}"
        else:
            return
        self._warned.add(origin)
        _log.warning("chat_origin_refused", origin=origin, remedy=remedy)

    def _is_own(self, origin: str, headers: Mapping[str, str]) -> bool:
        """Return whether a page's origin is the requested address, such as another loopback name.

        The Host header names the desk, or the request is refused for that. The site's own name
        means its known origin only: the same name with another scheme is another origin. No script
        can forge ``Sec-Fetch-Site``; it is also right where a proxy has changed Host.
        """
        scheme, _, authority = origin.partition("://")
        is_here = scheme in {"http", "https"} and authority == headers.get("Host", "").lower()
        return (is_here and authority != self._site) or (
            headers.get("Sec-Fetch-Site") == "same-origin"
        )


def _is_loaded(headers: Mapping[str, str]) -> bool:
    """Return whether a page of another origin has a browser load this, unseen."""
    came_from = headers.get("Sec-Fetch-Site")
    is_visit = (
        headers.get("Sec-Fetch-Mode") == "navigate"
        and headers.get("Sec-Fetch-Dest", "document") == "document"
        and "Sec-Purpose" not in headers
    )
    return came_from in {"cross-site", "same-site"} and not is_visit
