"""Requests of jobs to other servers, their responses and their failures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from aitp_desk.capability.retry import Retry

MOST_BYTES = 1024 * 1024
"""Maximum size of a response, in bytes."""
MOST_SECONDS = 30.0
"""Maximum time for a request and its response, in seconds."""
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request to another server.

    Parameters:
        url: https and public: private addresses are refused.
        method: only a GET follows redirects.
        body: the bytes to send; ``headers`` describe them.
        headers: sent to this origin only.
        max_bytes: the longest response, decompressed; at most :data:`MOST_BYTES`.
        seconds: the total timeout; at most :data:`MOST_SECONDS`.
        wants_reasons: whether the body of a response other than 2xx is read too.
    """

    url: str
    method: Literal["GET", "POST", "PUT", "DELETE"] = "GET"
    body: bytes = b""
    headers: Mapping[str, str] = NO_HEADERS
    max_bytes: int = 64 * 1024
    seconds: float = 10.0
    wants_reasons: bool = False


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """A response of another server. Its content is untrusted.

    Parameters:
        headers: with lowercase names.
        body: empty unless the status is 2xx or the request wants reasons.
        url: the URL that responded, after redirects.
    """

    status: int
    headers: Mapping[str, str] = NO_HEADERS
    body: bytes = b""
    url: str = ""


class Unanswered(Retry):
    """No response was received. A job that does not catch it is retried.

    Parameters:
        reason: a sentence that names the host, and nothing more of the URL.
        is_refused: whether the desk does not call such an address; a retry is then pointless.
        is_too_long: whether the response is longer than the request allows; it is again at a retry.
    """

    def __init__(self, reason: str, *, is_refused: bool = False, is_too_long: bool = False) -> None:
        super().__init__(reason)
        self.is_refused = is_refused
        self.is_too_long = is_too_long

    @property
    def is_final(self) -> bool:
        """Whether a retry is pointless."""
        return self.is_refused or self.is_too_long


Send = Callable[[Request], Awaitable[Response]]
"""Sends one request. It raises :class:`Unanswered`; the request may have arrived even then."""


async def ask_nobody(request: Request) -> Response:
    """Refuse every request: the default ``send`` of jobs in tests."""
    raise Unanswered(f"No requests can be sent here: {request.method} was not sent.")
