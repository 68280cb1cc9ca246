"""Caches proofs, so that a credential is not looked up at every request.

The command line changes credentials while the desk runs, and raises an epoch in the store each
time. The desk reads that number at least once a second: a cached proof is valid until it changes.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

from aitp_desk.auth.credentials.proof import Proof
from aitp_desk.model.errors import NotAuthenticated, Unavailable

EPOCH_SECONDS = 0.5
"""Maximum age of the known epoch. A revoked key is refused within a second; this leaves margin."""
MAX_VERIFIED = 4096
"""Maximum number of cached proofs, for each method."""
MAX_CHARACTERS = 4 * 1024 * 1024
"""Maximum total length of cached credentials, for each method."""
REMEMBERED_SECONDS = 300
"""A credential is looked up again after so long: its issuer may have withdrawn the key."""

P = TypeVar("P", bound=Proof)
ReadEpoch = Callable[[], Awaitable[int]]


class CredentialEpoch:
    """The number that grows with every change of a credential, read rarely.

    Parameters:
        read: reads it from the store.
        clock: monotonic seconds.
    """

    def __init__(self, read: ReadEpoch, clock: Callable[[], float] = time.monotonic) -> None:
        self._read = read
        self._clock = clock
        self.known: int | None = None
        self._read_at = 0.0

    async def refresh(self) -> int:
        """Return the number as of now or a moment ago."""
        now = self._clock()
        if self.known is None or now - self._read_at >= EPOCH_SECONDS:
            self.known, self._read_at = await self._read(), now
        return self.known


class ProofCache:
    """Caches the proofs of one method by credential.

    A proof that was looked up before the epoch changed is never cached after it.

    Parameters:
        clock: Unix seconds.
    """

    def __init__(self, epoch: CredentialEpoch, clock: Callable[[], float] = time.time) -> None:
        self._epoch = epoch
        self._clock = clock
        self._proofs: dict[str, tuple[Proof, float]] = {}
        self._characters = 0
        self._of_epoch: int | None = None

    async def find(self, credential: str, verify: Callable[[str], Awaitable[P]]) -> P:
        """Return a credential's proof, verifying it if none is cached.

        Raises:
            NotAuthenticated: raised by ``verify``.
        """
        epoch = await self._epoch.refresh()
        if epoch != self._of_epoch:
            self._proofs.clear()
            self._characters = 0
            self._of_epoch = epoch
        known = self._proofs.get(credential)
        if known is not None:
            proof, until = known
            if self._clock() < until:
                return cast("P", proof)  # all proofs of one method have its type
            self._forget(credential)
        proof = await verify(credential)
        if epoch == self._epoch.known == self._of_epoch:
            self._remember(credential, proof)
        return proof

    async def is_still_valid(self, proof: Proof, verify: Callable[[str], Awaitable[Proof]]) -> bool:
        """Return whether a credential still has all the scopes of its proof."""
        try:
            again = await self.find(proof.credential, verify)
        except (NotAuthenticated, Unavailable):
            return False
        return again.principal.scopes >= proof.principal.scopes

    def forget(self, credential: str) -> None:
        """Drop a credential that was just changed here."""
        self._forget(credential)

    def _remember(self, credential: str, proof: Proof) -> None:
        self._forget(credential)  # a concurrent request may have stored it first
        size = len(credential)
        while self._proofs and (
            len(self._proofs) >= MAX_VERIFIED or self._characters + size > MAX_CHARACTERS
        ):
            self._forget(next(iter(self._proofs)))
        until = self._clock() + REMEMBERED_SECONDS
        self._proofs[credential] = proof, until if proof.until is None else min(until, proof.until)
        self._characters += size

    def _forget(self, credential: str) -> None:
        if self._proofs.pop(credential, None) is not None:
            self._characters -= len(credential)
