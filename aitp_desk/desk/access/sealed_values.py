"""Sealed values: encrypted before they reach the disk, revealed by scope.

A value opens only with what it was sealed for: its reference and its thread. Write access to the
database alone cannot move it elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable

import structlog

from aitp_desk.auth.keys.encryption import SealBroken, TextSealer
from aitp_desk.model.access.audit import AuditKeys, make_auditor
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.scope import opens_sealed_values
from aitp_desk.model.access.sealed_value import LONGEST_VALUE, Revealed, StoredSealed, is_ref
from aitp_desk.model.errors import ResourceNotFound
from aitp_desk.store.base import Store
from aitp_desk.store.units.privacy.sealed_values import read_sealed

_PURPOSE = "sensitive values"

_log = structlog.get_logger()


class Sealer:
    """Seals and opens values, without I/O.

    Parameters:
        clock: Unix seconds.
    """

    def __init__(self, text_sealer: TextSealer, clock: Callable[[], float]) -> None:
        self._text_sealer = text_sealer
        self._clock = clock

    def seal(
        self,
        ref: str,
        value: str,
        *,
        desk: str,
        thread_id: str | None,
        message_id: str | None = None,
        call_id: str | None = None,
        principal: str | None,
    ) -> StoredSealed:
        """Seal a value, without writing it.

        Parameters:
            thread_id, message_id, call_id, principal, desk: as in :class:`StoredSealed`.

        Raises:
            ValueError: the reference is invalid, or the value too long.
        """
        if not is_ref(ref):
            raise ValueError(f"{ref!r} is not a reference; use Context.ref.")
        if len(value) > LONGEST_VALUE:
            raise ValueError(f"A sealed value may have at most {LONGEST_VALUE} characters.")
        sealed = self._text_sealer.seal(_PURPOSE, _context(ref, thread_id), value.encode())
        now = int(self._clock())
        return StoredSealed(ref, desk, sealed, thread_id, message_id, call_id, principal, now)

    def open(self, kept: StoredSealed) -> str | None:
        """Return the value; None if its seal does not open any more."""
        try:
            return self._text_sealer.unseal(
                _PURPOSE, _context(kept.ref, kept.thread_id), kept.sealed
            ).decode()
        except SealBroken as error:
            _log.error("sealed_value_lost", ref=kept.ref, reason=str(error))
            return None


class SealedValues:
    """Reveals sealed values to callers that may read them.

    Parameters:
        sealer: opens them.
        audit: the keys of the audit log.
        clock: Unix seconds.
    """

    def __init__(
        self, store: Store, sealer: Sealer, audit: AuditKeys, clock: Callable[[], float]
    ) -> None:
        self._store = store
        self._sealer = sealer
        self._audit = audit
        self._clock = clock

    async def reveal(self, principal: Principal, ref: str, *, everywhere: bool = False) -> Revealed:
        """Return a value to a caller that may read it.

        The audit log records that first.

        Parameters:
            everywhere: whether values of all desks count, not only those of the caller's.

        Raises:
            ResourceNotFound: it does not exist, or is not for this caller.
            StoreBusy, StoreError: it could not be recorded.
        """
        if opens_sealed_values(principal.scopes) and is_ref(ref):
            by = make_auditor(self._audit, principal, int(self._clock()))
            desk = None if everywhere else principal.desk
            kept = await self._store.run(read_sealed, ref=ref, desk=desk, by=by)
            value = None if kept is None else self._sealer.open(kept)
            if kept is not None and value is not None:
                return Revealed(ref, value, kept.thread_id, kept.made_at)
        raise ResourceNotFound("There is no such value.", param="ref")


def _context(ref: str, thread_id: str | None) -> bytes:
    return f"{ref} {thread_id or ''}".encode()
