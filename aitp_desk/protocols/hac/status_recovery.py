"""Explains an HTTP error status that has no explanation (HAC 1.0, section 6)."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

from aitp_desk.protocols.hac.envelope import Action, HacError, NotHac, Recovery

WAIT: Final = 60
"""The seconds to wait after a 429 without a ``Retry-After``."""

_SERVER: Final = 500
_TEMPORARY: Final = frozenset({408, 425, 429, 502, 503, 504})
"""The statuses after which the same request may succeed (RFC 9110 and 6585)."""

_ADVICE: Final = {
    400: "Correct the request as the message says, then send it again.",
    401: "Send a credential of the kind that the WWW-Authenticate header names.",
    402: "Ask your user: this has to be paid for first.",
    403: "Do not repeat this with the same credential: its holder is not permitted to do it.",
    404: "Check the address. The API's root lists the resources.",
    405: "Use a method from the Allow header.",
    406: "Repeat the request with another Accept header, such as application/json.",
    409: "Read the resource again: its present state does not allow this. Resolve the"
    " problem in the message, then send the request again.",
    410: "Do not repeat this: the resource is gone. The API's root lists the resources.",
    412: "Read the resource again: it has changed since you read it.",
    413: "Send a smaller body: this one exceeds the limit.",
    415: "Send the body in a media type that is supported here, such as application/json.",
    422: "Correct the request as the message says, then send it again.",
    429: "Wait for retry_after seconds, then send the same request again.",
    503: "Wait, then send the same request again.",
}
_WAITS: Final = "Try again later, or tell your user: the server failed, not the request."
_TO_ROOT: Final = frozenset({404, 410})


def explain(
    status: int,
    *,
    message: str = "",
    retry_after: int | None = None,
    root: str = "/",
    here: str = "",
    allowed: Sequence[str] = (),
) -> HacError:
    """Return an error that explains an HTTP status.

    Parameters:
        status: of HTTP, 400 or more.
        message: the server's text; empty for none.
        retry_after: seconds to wait, from the ``Retry-After`` header; None without one.
        root: the address of the discovery document.
        here: the requested address; empty to leave it out.
        allowed: the methods that the address answers, after a 405.

    Returns:
        An error whose recovery names only requests that are answered.
    """
    phrase, code = _named(status)
    general = _ADVICE[400] if status < _SERVER else _WAITS
    actions: tuple[Action, ...] = ()
    if status in _TO_ROOT:
        actions = _reading("index", root, "The resources of this API.")
    elif "GET" in allowed:
        actions = _reading("self", here, "Reads the resource at this address.")
    retryable = status in _TEMPORARY
    if status == HTTPStatus.TOO_MANY_REQUESTS and retry_after is None:
        retry_after = WAIT
    return HacError(
        code=code,
        message=message.strip() or f"{phrase}.",
        retryable=retryable,
        retry_after=retry_after if retryable else None,
        recovery=Recovery(description=_ADVICE.get(status, general), actions=actions),
    )


def _named(status: int) -> tuple[str, str]:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Client error" if status < _SERVER else "Server error"
    return phrase, phrase.lower().replace(" ", "_").replace("-", "_").replace("'", "")


def _reading(rel: str, href: str, description: str) -> tuple[Action, ...]:
    try:
        return (Action(rel=rel, method="GET", href=href, description=description),)
    except NotHac:  # a requested address need not be a valid reference
        return ()
