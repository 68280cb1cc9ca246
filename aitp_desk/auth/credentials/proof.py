"""The result of authentication, and the interface of its methods.

A method verifies the head of a request and returns whose it is. No method sees a body: one that
also proves a body returns the digest that the body must have, and the reader of the body compares
it.
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
    """The head of a request, as far as a proof can depend on it."""

    @property
    def method(self) -> str:
        """The request's method, unchanged."""

    @property
    def target(self) -> str:
        """Path and query, unchanged."""

    @property
    def headers(self) -> Headers:
        """All headers."""

    @property
    def presented(self) -> RequestCredentials | DeskError:
        """The credentials that it presents, or why they cannot be read."""


def get_credential(head: Head) -> str:
    """Return the presented credential without its scheme; empty if there is none."""
    return head.presented.credential if isinstance(head.presented, RequestCredentials) else ""


class Proof(msgspec.Struct, frozen=True):
    """The caller, and how far it was proven.

    Parameters:
        principal: the caller, without an address.
        way: the method that proved it; None for an anonymous caller.
        credential: what it was proven with, for :meth:`ProofHolder.still_holds`.
        until: Unix seconds until which it is valid; None for no known end.
        body_digest: required SHA-256 of the request's body; None for any body.
        replay_checks: awaited before the request is handled, for a proof that is valid for one
            request. Each raises NotAuthenticated for a replay, and StoreBusy if the use cannot be
            recorded now.
        mark: distinguishes the credential from others of the same caller.
    """

    principal: Principal
    way: ProofHolder | None = None
    credential: str = ""
    until: float | None = None
    body_digest: bytes | None = None
    replay_checks: tuple[Callable[[], Awaitable[None]], ...] = ()
    mark: CredentialMark = UNMARKED


class ProofHolder(Protocol):
    """Checks again a proof that it gave."""

    async def still_holds(self, proof: Proof) -> bool:
        """Return whether the proof would still be given; for long-lived responses."""


class AuthMethod(ProofHolder, Protocol):
    """An authentication method."""

    async def verify(self, head: Head) -> Proof:
        """Return who sends a request.

        Raises:
            NotAuthenticated: the credential is not valid. The message does not repeat it.
            InvalidRequest: the credential cannot be read.
        """
