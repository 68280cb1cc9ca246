"""What browsers are told: which sites' pages may read an answer, and which may ask for one.

What is there to be found (content, manifest, well-known addresses) is open to pages of every site;
the API to those of the site's own and of the origins that the owner has named. Nobody's origin is
repeated that was not named, and ``null``, which anybody can be, is never one. The one cookie that
there is opens the operators' pages, which answer no page of another origin. So no answer allows
credentials; a key in a header is no credential in this sense.

Browsers keep a page from reading an answer, but send some requests all the same. So what asks for
something to be done, from a page of an origin that was not named, is refused.

Source: the CORS protocol (https://fetch.spec.whatwg.org/#http-cors-protocol), RFC 6454 (origins),
RFC 6797 (Strict-Transport-Security).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

import msgspec

from aitp_desk.config import Cors
from aitp_desk.config.rules.web_address import origin_of

Headers = tuple[tuple[str, str], ...]

PREFLIGHT_SECONDS = 7200
"""How long a browser need not ask again what it may send; none remembers it for longer."""
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
"""Headers that a page of another site may send: whatever it likes, as who is no browser. Clients
in pages add some of their own; ``*`` stands for all of them but ``Authorization``."""
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
"""Headers that a page of another site may read."""

_BY_ORIGIN = ("Vary", "Origin")
_EXPOSED = ("Access-Control-Expose-Headers", ", ".join(EXPOSED_HEADERS))
_TO_ALL: Headers = (
    ("Access-Control-Allow-Origin", "*"),
    _EXPOSED,
    ("Cross-Origin-Resource-Policy", "cross-origin"),
)
_TO_NO_OTHER: Headers = (_BY_ORIGIN, ("Cross-Origin-Resource-Policy", "same-origin"))
_ENCRYPTED_FROM_NOW_ON = ("Strict-Transport-Security", "max-age=31536000")
"""For this host alone, not for those below it: they are not the desk's to decide on."""
_CHANGES_NOTHING = frozenset({"GET", "HEAD", "OPTIONS"})


class CorsHeaders(msgspec.Struct, frozen=True):
    """What the answer to a head tells browsers.

    Parameters:
        headers: of the answer, whatever it is.
        is_refused: whether a page asks that may not.
    """

    headers: Headers
    is_refused: bool = False


class CorsPolicy:
    """What they are told at one desk.

    Parameters:
        site_url: the site's address; pages of this origin may do everything.
    """

    def __init__(self, site_url: str, settings: Cors) -> None:
        site = urlsplit(site_url)
        self._site = site.netloc.lower()
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

    def make_headers(
        self, method: str, headers: Mapping[str, str], *, is_open: bool
    ) -> CorsHeaders:
        """What the answer to a request tells.

        Parameters:
            headers: the request's.
            is_open: whether it is for what is there to be found.
        """
        if is_open and self._open_discovery:
            return self._to_all
        origin = headers.get("Origin")
        if origin is None:
            return self._to_no_other
        known = self._to_origin.get(origin)
        if known is not None:
            return known
        if method in _CHANGES_NOTHING or self._is_own(origin, headers):
            return self._to_no_other
        return self._refused

    def make_same_origin_headers(self, headers: Mapping[str, str]) -> CorsHeaders:
        """What the answer tells where the site's own pages alone may ask.

        Somebody who follows a link may come from anywhere: no page sees what they are shown.

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
        self, method: str, headers: Mapping[str, str], *, methods: Sequence[str], is_open: bool
    ) -> CorsHeaders:
        """What the answer to a preflight request tells.

        Parameters:
            method: that of the request which a page would like to send.
            headers: the preflight request's.
            methods: that the address takes.
            is_open: as for :meth:`make_headers`.
        """
        told = self.make_headers(method, headers, is_open=is_open)
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

    def _is_own(self, origin: str, headers: Mapping[str, str]) -> bool:
        """Whether a page is of the very address that it asks, such as another name of the loopback.

        The Host header names the desk, or the request is refused for that. The site's own name
        stands for its origin alone, which is known: what has another scheme is another's. What
        ``Sec-Fetch-Site`` says no script can forge; it is right also where a server in front has
        put another Host.
        """
        scheme, _, authority = origin.partition("://")
        is_here = scheme in {"http", "https"} and authority == headers.get("Host", "").lower()
        return (is_here and authority != self._site) or (
            headers.get("Sec-Fetch-Site") == "same-origin"
        )
