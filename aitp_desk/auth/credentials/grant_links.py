"""Links: secrets that share a thread (``model/access/grant.py``), sent as ``Desk-Grant``.

A grant is looked up in the store at every request, so a revoked link stops working at once.
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
"""Returns the keyed hash of a link's secret, which is what the store keeps."""


class GrantLinks:
    """The authentication method of grant links.

    Parameters:
        clock: Unix seconds.
    """

    def __init__(self, find: FindGrant, hash: HashLink, clock: Callable[[], float]) -> None:
        self._find = find
        self._hash = hash
        self._clock = clock

    async def verify(self, head: Head) -> Proof:
        """Return the proof of a link's holder, who is identified by the grant alone.

        Raises:
            NotAuthenticated: the link is unknown, revoked or expired.
        """
        credential = get_credential(head)
        grant = await self._look_up(credential)
        if grant is None:
            raise NotAuthenticated(
                "The link is not valid: it is malformed, unknown, revoked or expired."
            )
        principal = Principal(
            grant.principal, PrincipalKind.ANONYMOUS, frozenset(), "", proven_by=ProvenBy.LINK
        )
        return Proof(principal, self, credential, grant.expires_at)

    async def still_holds(self, proof: Proof) -> bool:
        """Return whether the link is still valid."""
        return await self._look_up(proof.credential) is not None

    async def _look_up(self, credential: str) -> Grant | None:
        if not is_link(credential):
            return None
        grant = await self._find(self._hash(credential))
        return grant if grant is not None and grant.holds(self._clock()) else None
