"""Fetches and caches the published keys of an issuer.

Callers decide neither what is fetched nor how often: the address is the owner's, or one that the
issuer's own metadata names. Other requests use the known keys during a fetch. If an issuer does not
respond, its last keys stay valid for a day.

Sources: RFC 7517, section 5 (JWK Set), RFC 8414, section 3 (where an issuer's metadata is), OpenID
Connect Discovery 1.0, section 4 (the older place).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from urllib.parse import urlsplit

import structlog

from aitp_desk.auth.jwt.jwk import VerifyingKey, find_key, read_key
from aitp_desk.auth.jwt.key_sets import (
    OLD_SECONDS,
    REFETCH_SECONDS,
    KeySetError,
    read_freshness,
    read_object,
)
from aitp_desk.egress import Egress, EgressError, Fetched
from aitp_desk.model.errors import Unavailable

MAX_KEYS = 64
MAX_BYTES = 256 * 1024
FETCH_SECONDS = 5.0

_log = structlog.get_logger()


class RemoteKeys:
    """The keys that an issuer publishes. See :class:`aitp_desk.auth.jwt.issuers.IssuerKeys`.

    Parameters:
        name: the issuer's name in the configuration, for the log and for messages.
        issuer: its URL.
        address: the URL of its keys; empty to read it from the issuer's metadata.
        clock: monotonic seconds.
    """

    def __init__(
        self,
        *,
        name: str,
        issuer: str,
        address: str,
        egress: Egress,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._issuer = issuer
        self._address = address
        self._egress = egress
        self._clock = clock
        self._keys: tuple[VerifyingKey, ...] = ()
        self._fresh_until = 0.0
        self._asked_at: float | None = None
        self._fetch_lock = asyncio.Lock()

    async def find(self, key_id: str | None, algorithm: str) -> VerifyingKey | None:
        """Return the named key; fetch the set if it is unknown or stale.

        Raises:
            Unavailable: there is no set, and none can be fetched now.
        """
        came_at = self._clock()
        if came_at >= self._fresh_until + OLD_SECONDS:
            self._keys = ()
        if not self._keys:
            await self._fetch_after(came_at)
        elif came_at >= self._fresh_until and not self._fetch_lock.locked():
            await self._fetch_after(came_at)  # concurrent requests use the known set
        found = find_key(self._keys, key_id, algorithm)
        if found is None:
            await self._fetch_after(came_at)
            found = find_key(self._keys, key_id, algorithm)
        if not self._keys:
            wait = REFETCH_SECONDS - (self._clock() - (self._asked_at or 0.0))
            raise Unavailable(
                "The issuer's keys, which verify this token, cannot be fetched at the moment.",
                retry_after=max(1, round(wait)),
            )
        return found

    async def _fetch_after(self, came_at: float) -> None:
        """Fetch the set unless it was fetched since or shortly before; waiters share it."""
        async with self._fetch_lock:
            if self._asked_at is not None and came_at < self._asked_at + REFETCH_SECONDS:
                return
            before, self._asked_at = self._asked_at, self._clock()
            try:
                async with asyncio.timeout(FETCH_SECONDS):
                    answer = await self._get(self._address or await self._discover())
                keys = read_set(answer.body)
            except asyncio.CancelledError:
                self._asked_at = before  # the request was cancelled; a waiting one fetches again
                raise
            except (EgressError, TimeoutError, KeySetError) as error:
                _log.warning(
                    "issuer_keys_not_fetched", issuer=self._name, why=str(error) or "too slow"
                )
                return
            self._keys = keys
            self._fresh_until = self._clock() + read_freshness(answer)
            _log.info("issuer_keys_fetched", issuer=self._name, keys=len(keys))

    async def _discover(self) -> str:
        """Return the URL of the issuer's keys from its metadata.

        Raises:
            EgressError, KeySetError: the metadata has no usable URL.
        """
        parts = urlsplit(self._issuer)
        path = parts.path.rstrip("/")
        origin = f"{parts.scheme}://{parts.netloc}"
        answer = await self._egress.fetch(
            f"{origin}/.well-known/oauth-authorization-server{path}",
            max_bytes=MAX_BYTES,
            seconds=FETCH_SECONDS,
        )
        if answer.status != 200:
            answer = await self._get(f"{origin}{path}/.well-known/openid-configuration")
        metadata = read_object(answer.body)
        address = metadata.get("jwks_uri")
        if metadata.get("issuer") != self._issuer:
            raise KeySetError("its metadata belongs to another issuer")
        if not isinstance(address, str):
            raise KeySetError("its metadata does not say where its keys are (jwks_uri)")
        return address

    async def _get(self, address: str) -> Fetched:
        answer = await self._egress.fetch(address, max_bytes=MAX_BYTES, seconds=FETCH_SECONDS)
        if answer.status != 200:
            raise KeySetError(f"it answers with the status {answer.status}")
        return answer


def read_set(body: bytes) -> tuple[VerifyingKey, ...]:
    """Read the keys of a JWK Set that verify tokens (RFC 7517, section 5).

    Raises:
        KeySetError: it is not a JWK Set, lists too many keys, or has no usable key.
    """
    listed = read_object(body).get("keys")
    if not isinstance(listed, list):
        raise KeySetError("its keys are not a JWK Set")
    if len(listed) > MAX_KEYS:
        raise KeySetError(f"it lists more than {MAX_KEYS} keys")
    keys = tuple(key for key in map(read_key, listed) if key is not None)
    if not keys:
        raise KeySetError("none of its keys can be used")
    return keys
