"""Values for a single use: nonces of signed requests, tokens' ``jti``.

A use is known in memory at once. It is queued for the store before its request does anything, and
is on disk after 100 ms, or once no other program holds the database. It is therefore stored before
anything that the request writes: a change is never repeated by a replayed request, even after a
``kill -9``. Such a crash can only lose the use of a request that changed nothing, within that time.

Uses that are no longer in memory, or are from an earlier process, are looked up in the store if
they may be there: a replay has the same expiry as the first use. Where several processes serve a
store, each use waits for its commit, and the store decides which of two came first.

Digests depend on none of the desk's keys: tokens and signatures of others outlive them, and a used
one must stay used after the desk's keys are reset.
"""

from __future__ import annotations

import math
from hashlib import blake2b

from aitp_desk.model.errors import DeskError, NotAuthenticated
from aitp_desk.store.base import Store, StoreError
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.units.keys.nonces import keep_nonce, use_nonce

_DIGEST_BYTES = 32
"""Long enough that nobody finds two nonces with the same digest."""
_PURPOSE = b"aitp-desk nonces"
"""The key of the digests, so that they differ from all other digests."""
MAX_RECENT = 50_000
"""Minimum number of recent uses in memory, and half the maximum. It exceeds the number of queued
writes unless ``store.queue`` is raised."""


class NonceCache:
    """Remembers used values.

    Parameters:
        store: where uses are kept.
        is_shared: whether other processes work on the same store.
    """

    def __init__(self, store: Store, *, is_shared: bool = False) -> None:
        self._store = store
        self._is_shared = is_shared
        self._recent: set[bytes] = set()
        self._former: set[bytes] = set()
        self._recent_end = 0
        self._former_end = 0
        self._stored_end: int | None = None  # later ends: never used, or in memory

    async def use(self, scope: str, nonce: str, *, until: float) -> None:
        """Use a nonce; a second use fails.

        Verify the credential first: nonces of strangers must not fill the memory.

        Parameters:
            scope: the owner of the nonces, such as a key's id; scopes do not share nonces.
            nonce: of any length; a digest of it is kept.
            until: Unix seconds after which the credential is refused as expired. A replay has the
                same value; another value is another use.

        Raises:
            NotAuthenticated: it was used before.
            StoreBusy: too many writes are waiting; it was not used.
        """
        text = f"{len(scope)} {scope} {nonce}".encode(errors="surrogateescape")
        digest = blake2b(text, digest_size=_DIGEST_BYTES, key=_PURPOSE).digest()
        if digest in self._recent or digest in self._former:
            raise _used()
        end = math.ceil(until)
        if self._is_shared:
            if not await self._store.run(use_nonce, nonce=digest, until=end):
                raise _used()
            return
        self._remember(digest, end)
        if self._stored_end is None:
            self._stored_end = await reads.last_nonce_end(self._store)
        if end <= self._stored_end and await reads.is_nonce_used(self._store, digest, end):
            raise _used()
        try:
            self._store.record(keep_nonce, nonce=digest, until=end)
        except (DeskError, StoreError):
            self._recent.discard(digest)
            raise

    def _remember(self, digest: bytes, end: int) -> None:
        if len(self._recent) >= MAX_RECENT:
            self._stored_end = max(self._stored_end or 0, self._former_end)
            self._recent, self._former = set(), self._recent
            self._recent_end, self._former_end = 0, self._recent_end
        self._recent.add(digest)
        self._recent_end = max(self._recent_end, end)


def _used() -> NotAuthenticated:
    return NotAuthenticated(
        "This nonce or token id (jti) was used before. Each can be used once.", reason="replayed"
    )
