"""Records refused credentials and operators' visits in the audit log.

Attempts to guess credentials must not fill the disk: per address and reason there is at most one
row a minute, with a count; beyond a number of addresses the others share one row.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Literal

import msgspec
import structlog

from aitp_desk.model.access.audit import (
    AuditAction,
    AuditKeys,
    Auditor,
    ObjectKind,
    Outcome,
    make_auditor,
)
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.errors import NotAuthenticated, StoreBusy
from aitp_desk.store.base import Store, StoreError
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.units.audit import keep_audit

ROW_SECONDS = 60
MAX_ADDRESSES = 32
"""How many pairs of address and reason have separate rows at a time."""
OTHERS = "others"
"""The name for all other addresses."""
VISIT_SECONDS = 3600
"""How long repeated visits of an operator to the same object count as one."""
MAX_VISITS = 4096

_log = structlog.get_logger()


class _RefusalKey(msgspec.Struct, frozen=True):
    """The common properties of refusals that share a row."""

    address: str
    reason: Outcome
    whose: str


class _OpenRow(msgspec.Struct):
    """Refusals since the last row.

    Parameters:
        since: Unix seconds of that row.
        count: number of refusals since.
    """

    since: float
    count: int = 0


class AuditLog:
    """Records refusals and visits.

    Parameters:
        audit: the keys of the audit log.
        clock: Unix seconds.
    """

    def __init__(self, store: Store, audit: AuditKeys, clock: Callable[[], float]) -> None:
        self._store = store
        self._audit = audit
        self._clock = clock
        self._refused: dict[_RefusalKey, _OpenRow] = {}
        self._visits: OrderedDict[tuple[str, AuditAction, str], float] = OrderedDict()

    @asynccontextmanager
    async def write_in_background(self) -> AsyncIterator[None]:
        """Write the counts every minute, and when the context ends."""
        counting = asyncio.create_task(self._count())
        try:
            yield
        finally:
            counting.cancel()
            await asyncio.gather(counting, return_exceptions=True)
            self._write_counts(before=None)

    def note_refused_credential(self, address: str, error: NotAuthenticated) -> None:
        """Record a refused credential.

        Parameters:
            address: of the client.
        """
        refused = _RefusalKey(address, Outcome(error.reason), error.whose)
        known = self._refused.get(refused)
        if known is None and len(self._refused) >= MAX_ADDRESSES:
            refused = _RefusalKey(OTHERS, refused.reason, "")
            known = self._refused.get(refused)
        if known is not None:
            known.count += 1
            return
        self._refused[refused] = _OpenRow(self._clock())
        self._write(refused, 1)

    async def note_operator_visit(self, principal: Principal, thread_id: str) -> None:
        """Record that an operator reads another principal's thread, or writes there.

        The record is durable on return.

        Parameters:
            principal: an operator of all threads.

        Raises:
            StoreBusy, StoreError: it could not be recorded.
        """
        visit = principal.id, AuditAction.THREAD_LOOKED_AFTER, thread_id
        if self._is_noted(visit):
            return
        kept = await reads.thread(self._store, thread_id)
        if kept is None:
            return
        if kept.thread.owner == principal.id:
            self._remember(visit)
            return
        await self.note_operator_view(
            principal, AuditAction.THREAD_LOOKED_AFTER, ObjectKind.THREAD, thread_id
        )

    async def note_operator_view(
        self, principal: Principal, action: AuditAction, kind: ObjectKind, id_: str
    ) -> None:
        """Record that an operator views an object, once within :data:`VISIT_SECONDS`.

        The record is durable on return.

        Parameters:
            id_: of the object.

        Raises:
            StoreBusy, StoreError: it could not be recorded.
        """
        visit = principal.id, action, id_
        if self._is_noted(visit):
            return
        by = make_auditor(self._audit, principal, int(self._clock()))
        await self._store.run(keep_audit, by=by, action=action, kind=kind, id_=id_)
        self._remember(visit)

    async def note_operator_list(
        self, principal: Principal, what: Literal["threads", "tickets"], text: str
    ) -> None:
        """Record that an operator lists or searches threads or tickets.

        Parameters:
            text: the search text, of which a keyed hash is recorded; empty for none.
        """
        action = AuditAction(f"{what}.searched" if text else f"{what}.listed")
        if text:
            await self.note_operator_view(principal, action, ObjectKind.WORDS, text)
        else:
            await self.note_operator_view(principal, action, ObjectKind.DESK, what)

    def _is_noted(self, visit: tuple[str, AuditAction, str]) -> bool:
        return self._clock() - self._visits.get(visit, -VISIT_SECONDS) < VISIT_SECONDS

    def _remember(self, visit: tuple[str, AuditAction, str]) -> None:
        self._visits[visit] = self._clock()
        self._visits.move_to_end(visit)
        if len(self._visits) > MAX_VISITS:
            self._visits.popitem(last=False)

    async def _count(self) -> None:
        while True:
            await asyncio.sleep(ROW_SECONDS)
            self._write_counts(before=self._clock() - ROW_SECONDS)

    def _write_counts(self, before: float | None) -> None:
        """Write the counts of refusals whose last row is older than a time.

        Parameters:
            before: Unix seconds; None for all.
        """
        for refused, open_ in list(self._refused.items()):
            if before is not None and open_.since > before:
                continue
            del self._refused[refused]
            if open_.count:
                self._write(refused, open_.count)
                self._refused[refused] = _OpenRow(self._clock())

    def _write(self, refused: _RefusalKey, count: int) -> None:
        by = Auditor(self._audit, int(self._clock()), refused.whose or "anonymous", "nothing")
        try:
            self._store.record(
                keep_audit,
                by=by,
                action=AuditAction.CREDENTIAL_REFUSED,
                kind=ObjectKind.ADDRESS,
                id_=refused.address,
                outcome=refused.reason,
                count=count,
            )
        except (StoreBusy, StoreError) as error:
            _log.warning("refusals_not_noted", count=count, reason=str(error))
