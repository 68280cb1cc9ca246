"""Asking other servers, from jobs: what is sent, what comes back, and why nothing does."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Literal

import msgspec

from aitp_desk.capability.retry import Retry

MOST_BYTES = 1024 * 1024
"""No answer is read further than this, in bytes."""
MOST_SECONDS = 30.0
"""No answer is waited for longer than this."""
NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What another server is asked.

    Parameters:
        url: https, and public: no address of the house is ever asked.
        method: a GET follows redirects, the others do not.
        body: what is sent; ``headers`` say what it is.
        headers: sent to this origin only.
        max_bytes: the longest answer, decompressed; :data:`MOST_BYTES` at most.
        seconds: for everything together; :data:`MOST_SECONDS` at most.
        wants_reasons: whether the body of an answer that is no 2xx is read as well.
    """

    url: str
    method: Literal["GET", "POST", "DELETE"] = "GET"
    body: bytes = b""
    headers: Mapping[str, str] = NO_HEADERS
    max_bytes: int = 64 * 1024
    seconds: float = 10.0
    wants_reasons: bool = False


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """What another server has answered. It is a stranger's: nothing in it is true by itself.

    Parameters:
        headers: their names in small letters.
        body: empty unless the status is 2xx, or the request wants reasons.
        url: the address that has answered, after redirects.
    """

    status: int
    headers: Mapping[str, str] = NO_HEADERS
    body: bytes = b""
    url: str = ""


class Unanswered(Retry):
    """There is no answer. A job that does not catch it is tried again.

    Parameters:
        reason: a sentence that names the host, and nothing more of the address.
        is_refused: whether the address is none that the desk asks; trying again is no use.
    """

    def __init__(self, reason: str, *, is_refused: bool = False) -> None:
        super().__init__(reason)
        self.is_refused = is_refused


Send = Callable[[Request], Awaitable[Response]]
"""Asks another server, once. It raises :class:`Unanswered`; what was sent may have arrived then."""


async def ask_nobody(request: Request) -> Response:
    """The sending of a job that stands alone, as in tests."""
    raise Unanswered(f"Nobody is asked here, nor {request.method} carried out.")
