"""What a way to prove who one is comes to, and what each such way promises.

Each way has a file: ``api_key.py``, ``bearer.py``, ``signed_request.py``, ``links.py``, and beside
them ``agents.py``. It is told the head of a request and says whose it is. None sees a body: what
proves a body as well says which digest it must have, and whoever reads the body compares.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

import msgspec

from aitp_desk.auth.credentials.address import Headers
from aitp_desk.auth.credentials.request_credentials import RequestCredentials
from aitp_desk.model.access.credential import UNMARKED, CredentialMark
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.errors import DeskError


class Head(Protocol):
    """The head of a request, as far as a proof may be about it."""

    @property
    def method(self) -> str:
        """As it was sent."""

    @property
    def target(self) -> str:
        """Path and query, as they were sent."""

    @property
    def headers(self) -> Headers:
        """All of them."""

    @property
    def presented(self) -> RequestCredentials | DeskError:
        """What proves who sends it, or why that cannot be read."""


def get_credential(head: Head) -> str:
    """What a head presents behind its scheme; empty where that is nothing."""
    return head.presented.credential if isinstance(head.presented, RequestCredentials) else ""


class Proof(msgspec.Struct, frozen=True):
    """Who is calling, and how far that was proven.

    Parameters:
        principal: the caller, at no address.
        way: what has proven it; None for whoever presented nothing.
        credential: what it was proven with, for the way to look at again.
        until: Unix seconds until which it holds; None where no end is known.
        body_digest: SHA-256 that the request's body must have; None where any body will do.
        once: what is awaited before anything is done, for a proof that holds for one request: each
            raises NotAuthenticated where this one came before, StoreBusy where that cannot be noted
            now.
        mark: tells the credential from others of the same caller.
    """

    principal: Principal
    way: ProofHolder | None = None
    credential: str = ""
    until: float | None = None
    body_digest: bytes | None = None
    once: tuple[Callable[[], Awaitable[None]], ...] = ()
    mark: CredentialMark = UNMARKED


class ProofHolder(Protocol):
    """What looks again at a proof that it gave."""

    async def still_holds(self, proof: Proof) -> bool:
        """Whether it would still be given; for responses that go on."""


class AuthMethod(ProofHolder, Protocol):
    """A way to prove who one is."""

    async def verify(self, head: Head) -> Proof:
        """Return who sends a request.

        Raises:
            NotAuthenticated: what is presented proves nothing. Nothing of it is repeated.
            InvalidRequest: it cannot be read.
        """
