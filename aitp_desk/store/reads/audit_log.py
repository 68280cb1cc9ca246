"""Reads and verifies the audit log, from the first row to the last."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec

from aitp_desk.model.access.audit import FIRST_LINK, AuditAction, AuditKeys, AuditRow, ObjectKind
from aitp_desk.store.base import Reader, Row

PAGE_ROWS = 500
MIN_ROWS = -(2**63)
"""The least row number that an attacker could have inserted."""
MAX_TRIES = 5
"""How often a check restarts because old rows were deleted while it read."""


class Head(msgspec.Struct, frozen=True):
    """The end of the log.

    A head that is stored elsewhere reveals that later rows were removed.

    Parameters:
        n: number of the newest row; 0 for none.
        link: its link.
    """

    n: int
    link: bytes

    def __str__(self) -> str:
        return f"{self.n}:{self.link.hex()}"


class Checked(msgspec.Struct, frozen=True):
    """The result of a check of the log.

    Parameters:
        dropped: number of the newest row that retention deleted; 0 for none.
        head: the last row that is unchanged.
        broken: number of the first row that was changed; None if there is none.
        why: what is wrong with it.
    """

    dropped: int
    head: Head
    broken: int | None = None
    why: str = ""


async def audit_rows(store: Reader) -> AsyncIterator[AuditRow]:
    """Read the rows of the log, the oldest first.

    Raises:
        UnicodeDecodeError: a row was changed and is no longer valid text.
    """
    async for row in _read_rows(store):
        yield _row_of(row)


async def check_audit(store: Reader, keys: AuditKeys, known: Head | None = None) -> Checked:
    """Recompute every link.

    Parameters:
        known: a head that was kept elsewhere; the log must still have it, unless retention has
            deleted that row.
    """
    checked = await _check(store, keys, known)
    for _ in range(MAX_TRIES):
        if checked.broken is None or not await _has_dropped_more(store, checked):
            break
        checked = await _check(store, keys, known)
    return checked


async def _has_dropped_more(store: Reader, checked: Checked) -> bool:
    """Return whether old rows were deleted while the log was read."""
    anchors = await store.read("audit_anchor", {})
    return len(anchors) == 1 and anchors[0][0] > checked.dropped


async def _check(store: Reader, keys: AuditKeys, known: Head | None) -> Checked:
    anchors = await store.read("audit_anchor", {})
    if len(anchors) != 1:
        return Checked(
            0, Head(0, FIRST_LINK), 1, ("there is not exactly one record of the deleted rows")
        )
    dropped, link = anchors[0]
    head = Head(dropped, link)
    if dropped < 0 or (dropped == 0 and link != FIRST_LINK):
        return Checked(dropped, head, 1, "the record of the deleted rows was changed")
    trimmed = ""
    async for raw in _read_rows(store):
        why, row = _check_row(keys, head, raw)
        if row is None:
            return Checked(dropped, head, head.n + 1, why)
        head = Head(row.n, row.link)
        if known is not None and known.n == head.n and known.link != head.link:
            return Checked(dropped, head, head.n, "it is not the row whose head was stored")
        if row.action == AuditAction.LOG_TRIMMED.value:
            trimmed = row.object
    if trimmed != (keys.name(ObjectKind.LOG, str(dropped)) if dropped else ""):
        why = "the rows before it are missing, and the log has no record that it deleted them"
        return Checked(dropped, head, dropped + 1, why)
    if known is not None and known.n > head.n:
        return Checked(dropped, head, head.n + 1, "it is missing: a later head is stored")
    return Checked(dropped, head)


def _check_row(keys: AuditKeys, before: Head, raw: Row) -> tuple[str, AuditRow | None]:
    """Return a row that is unchanged, else what is wrong with it."""
    if raw[0] != before.n + 1:
        return ("it is missing" if raw[0] > before.n else f"it is preceded by a row {raw[0]}"), None
    try:
        row = _row_of(raw)
    except UnicodeDecodeError:
        return "it was changed", None
    if row.link != keys.link(before.link, row):
        return "it or the row before it was changed", None
    return "", row


async def _read_rows(store: Reader) -> AsyncIterator[Row]:
    start = MIN_ROWS
    while rows := await store.read("audit_rows", {"start": start, "limit": PAGE_ROWS}):
        for row in rows:
            yield row
        start = rows[-1][0] + 1


def _row_of(row: Row) -> AuditRow:
    n, at, *texts, count, link = row
    principal, proven_by, action, object_, outcome = (bytes(text).decode() for text in texts)
    return AuditRow(n, at, principal, proven_by, action, object_, outcome, count, link)
