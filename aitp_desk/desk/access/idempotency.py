"""Idempotency keys: requests that take effect once, held while they are written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import msgspec

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.errors import IdempotencyInFlight, InvalidRequest
from aitp_desk.store.records.threads import IdempotencyRecord

MAX_HOPS = 4
"""How many desks a message may pass before it counts as a loop."""
MIN_ANONYMOUS_KEY = 20
"""Minimum length of an anonymous caller's key for a new thread: others share the address."""
MAX_KEY = 255
REMEMBERED_SECONDS = 24 * 60 * 60
"""How long an idempotency key is remembered."""


class RequestInfo(msgspec.Struct, frozen=True):
    """The parts of a request that decide about repeats, runs and loops.

    Parameters:
        key: the ``Idempotency-Key``, if one was sent.
        manual: whether the caller starts runs itself.
        hops: how many desks the message has passed.
    """

    method: str
    path: str
    body: bytes
    key: str | None = None
    manual: bool = False
    hops: int = 0


class IdempotencyKeys:
    """Detects repeated requests.

    Parameters:
        digest: keyed digest (HMAC) for the fingerprints of requests.
        clock: Unix seconds.
    """

    def __init__(self, digest: Callable[[bytes], bytes], clock: Callable[[], float]) -> None:
        self._digest = digest
        self._clock = clock
        self._in_flight: set[tuple[str, str]] = set()

    def hold_key(
        self, request: RequestInfo, scope: str
    ) -> AbstractContextManager[IdempotencyRecord | None]:
        """Hold the request's idempotency key, with its fingerprint, while it is being written.

        Parameters:
            scope: within which keys are compared.

        Raises:
            InvalidRequest: the key is too long or not printable.
            IdempotencyInFlight: the first request with this key is being written.
        """
        if request.key is None:
            return nullcontext()
        if not 1 <= len(request.key) <= MAX_KEY or not request.key.isprintable():
            raise InvalidRequest(
                f"An Idempotency-Key must have 1 to {MAX_KEY} printable characters.",
                param="Idempotency-Key",
            )
        return self._holding(request, request.key, scope)

    def digest_key(self, idempotency: IdempotencyRecord) -> bytes:
        """Return an unpredictable digest to use in place of an idempotency key."""
        return self._digest(f"key {idempotency.scope}\n{idempotency.key}".encode())

    @contextmanager
    def _holding(self, request: RequestInfo, key: str, scope: str) -> Iterator[IdempotencyRecord]:
        held = (scope, key)
        if held in self._in_flight:
            raise IdempotencyInFlight(
                "The first request with this Idempotency-Key is still in progress. Try"
                " again later.",
                param="Idempotency-Key",
                retry_after=1,
            )
        self._in_flight.add(held)
        try:
            request_line = f"{request.method} {request.path}\n".encode()
            fingerprint = self._digest(request_line + request.body)
            yield IdempotencyRecord(
                scope, key, fingerprint, int(self._clock()) - REMEMBERED_SECONDS
            )
        finally:
            self._in_flight.discard(held)


def thread_scope(principal: Principal, thread_id: str) -> str:
    """Return the scope of keys on a thread: the caller's, or the thread's own."""
    if principal.party is None:
        return f"thread {thread_id}"
    return f"principal {principal.id}{_at(principal)}"


def creation_scope(principal: Principal, key: str | None) -> str:
    """Return the scope of keys for new threads: the caller's, or its address's.

    Raises:
        InvalidRequest: an anonymous caller's key is so short that another caller might use it.
    """
    if not principal.is_anonymous:
        return f"principal {principal.id}{_at(principal)}"
    if key is not None and len(key) < MIN_ANONYMOUS_KEY:
        raise InvalidRequest(
            "Without a credential, the Idempotency-Key of a new thread or a call must have"
            f" at least {MIN_ANONYMOUS_KEY} characters. Use a UUID.",
            param="Idempotency-Key",
        )
    return f"address {principal.address}{_at(principal)}"


def payment_scope(principal: Principal) -> str:
    """Return the scope of payments: a desk. The payer's signature identifies each."""
    return f"payment{_at(principal)}"


def _at(principal: Principal) -> str:
    """Return the suffix that limits keys to one desk.

    Their results exist at no other.
    """
    return f" at {principal.desk}" if principal.desk else ""


def check_hops(request: RequestInfo) -> None:
    """Refuse a message that has passed too many desks.

    Raises:
        InvalidRequest: it counts as a loop.
    """
    if request.hops > MAX_HOPS:
        raise InvalidRequest(
            f"This message has passed {request.hops} desks; more than {MAX_HOPS} count as a loop.",
            param="Desk-Hops",
        )
