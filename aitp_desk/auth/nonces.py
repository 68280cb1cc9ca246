"""What may be used once: a signed request, a token with a ``jti``.

That something was used is on disk before the request that carries it has any effect: it is refused
a second time by whichever process sees it, also after a ``kill -9``. Uses are committed in groups,
so that one costs little more than a row.
"""

from __future__ import annotations

import hmac
import math

from aitp_desk.auth.data_keys import DataKeys
from aitp_desk.store.base import Store
from aitp_desk.store.records import Nonce
from aitp_desk.store.work.nonces import use_nonce

_DIGEST_BYTES = 16
"""Of a keyed digest: nobody who lacks the key can look for two nonces that share one."""


class Nonces:
    """Remembers what was used.

    Parameters:
        store: where it is kept.
        keys: the desk's data keys.
    """

    def __init__(self, store: Store, keys: DataKeys) -> None:
        self._store = store
        self._digests = keys.derive("nonces")

    async def use(self, scope: str, nonce: str, *, until: float) -> None:
        """Use a nonce, which nobody can do again; return once that is on disk.

        Verify whatever carries it first: a nonce of a stranger must not take room.

        Parameters:
            scope: whose nonces these are, such as a key's id; two scopes share none.
            nonce: of any length; a digest of it is kept.
            until: Unix seconds after which whatever carries it is refused for its age.

        Raises:
            NotAuthenticated: it was used before.
            StoreBusy: too many writes are waiting; it was not used.
        """
        text = f"{len(scope)} {scope} {nonce}".encode(errors="surrogateescape")
        digest = hmac.digest(self._digests, text, "sha256")[:_DIGEST_BYTES]
        await self._store.run(use_nonce, nonce=Nonce(digest, math.ceil(until)))
