"""Links: secrets by which a thread is shared (``model/grant.py``), sent as ``Desk-Grant``.

What a link opens is found in the store at every request, so that one that was revoked opens nothing
from that moment on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aitp_desk.auth.credentials.proof import Head, Proof, get_credential
from aitp_desk.model.access.grant import Grant, is_link
from aitp_desk.model.access.principal import Principal, PrincipalKind, ProvenBy
from aitp_desk.model.errors import NotAuthenticated

FindGrant = Callable[[bytes], Awaitable[Grant | None]]
"""Finds the grant of a link by the keyed hash of its secret."""
HashLink = Callable[[str], bytes]
"""What is kept of a link's secret: a keyed hash."""


class GrantLinks:
    """The way of links.

    Parameters:
        clock: Unix seconds.
    """

    def __init__(self, find: FindGrant, hash: HashLink, clock: Callable[[], float]) -> None:
        self._find = find
        self._hash = hash
        self._clock = clock

    async def verify(self, head: Head) -> Proof:
        """Return who a link's holder goes by: the grant, for nothing else is known.

        Raises:
            NotAuthenticated: there is no such link, it was revoked or has expired.
        """
        credential = get_credential(head)
        grant = await self._look_up(credential)
        if grant is None:
            raise NotAuthenticated(
                "The link proves nothing: it is malformed, unknown, revoked or expired."
            )
        principal = Principal(
            grant.principal, PrincipalKind.ANONYMOUS, frozenset(), "", proven_by=ProvenBy.LINK
        )
        return Proof(principal, self, credential, grant.expires_at)

    async def still_holds(self, proof: Proof) -> bool:
        """Whether the link still opens what it opened."""
        return await self._look_up(proof.credential) is not None

    async def _look_up(self, credential: str) -> Grant | None:
        if not is_link(credential):
            return None
        grant = await self._find(self._hash(credential))
        return grant if grant is not None and grant.holds(self._clock()) else None
