"""What may be used once: a signed request, a token with a ``jti``.

A use is known in memory at once. It is handed to the store before the request that carries it does
anything, and is on disk after 100 ms, or once no other program holds the database. So it is there
before anything that this request writes, and what was changed is never changed again by the same
request, also after a ``kill -9``. What such a crash can lose is the use of a request that changed
nothing, in that time before it.

One process serves a store. What it has not in memory any more, or has used in an earlier life, it
looks for in the store, where that can be: what is sent again ends when it ended the first time.

What is kept hangs on none of the desk's keys. Others' tokens and signatures outlive these: what was
used once stays used where the desk has begun anew with other keys.
"""

from __future__ import annotations

import math
from hashlib import blake2b

from aitp_desk.model.errors import DeskError, NotAuthenticated
from aitp_desk.store.base import Store, StoreError
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.units.keys.nonces import keep_nonce

_DIGEST_BYTES = 32
"""So long that nobody finds two nonces that share a digest."""
_PURPOSE = b"aitp-desk nonces"
"""What digests are keyed by, so that they are none of anything else."""
MAX_RECENT = 50_000
"""How many of the latest uses are known in memory, at least, and at most twice as many: more than
may wait to be written, where ``store.queue`` is not set to more."""


class NonceCache:
    """Remembers what was used.

    Parameters:
        store: where it is kept.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._recent: set[bytes] = set()
        self._former: set[bytes] = set()
        self._recent_end = 0
        self._former_end = 0
        self._stored_end: int | None = None  # what ends later was never used, or is in memory

    async def use(self, scope: str, nonce: str, *, until: float) -> None:
        """Use a nonce, which nobody can do again.

        Verify whatever carries it first: a nonce of a stranger must not take room.

        Parameters:
            scope: whose nonces these are, such as a key's id; two scopes share none.
            nonce: of any length; a digest of it is kept.
            until: Unix seconds after which whatever carries it is refused for its age. What is sent
                again says the same; another end makes another use.

        Raises:
            NotAuthenticated: it was used before.
            StoreBusy: too many writes are waiting; it was not used.
        """
        text = f"{len(scope)} {scope} {nonce}".encode(errors="surrogateescape")
        digest = blake2b(text, digest_size=_DIGEST_BYTES, key=_PURPOSE).digest()
        if digest in self._recent or digest in self._former:
            raise _used()
        end = math.ceil(until)
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
        "This was sent before: a nonce, or a token's jti, is used once.", reason="replayed"
    )
