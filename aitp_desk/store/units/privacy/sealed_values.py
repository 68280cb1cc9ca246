"""Stores sealed values with their message, and records every read."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.access.sealed_value import StoredSealed
from aitp_desk.store.base import Work
from aitp_desk.store.units.audit import note_audit


def keep_sealed(values: Sequence[StoredSealed]) -> Work[None]:
    """Insert sealed values: a part of a unit."""
    for value in values:
        yield "add_sealed", msgspec.structs.asdict(value)


def write_sealed(*, values: Sequence[StoredSealed]) -> Work[None]:
    """Insert sealed values in a separate unit, before what refers to them is written."""
    yield from keep_sealed(values)


def read_sealed(*, ref: str, desk: str | None, by: Auditor) -> Work[StoredSealed | None]:
    """Read a sealed value and record that; None if there is none.

    Parameters:
        desk: at which it is looked for; None for any.
        by: who reads it; the audit entry is on disk before they receive it.
    """
    rows = yield "sealed_value", {"ref": ref}
    kept = [StoredSealed(*row) for row in rows]
    if not kept or desk not in (None, kept[0].desk):
        return None
    yield from note_audit(by, AuditAction.SEALED_READ, ObjectKind.SEALED, ref)
    return kept[0]


def drop_old_sealed(*, before: int, limit: int) -> Work[int]:
    """Delete values that were sealed before a time, in Unix seconds.

    Returns:
        How many; if these are ``limit`` there may be more.
    """
    return len((yield "delete_old_sealed", {"before": before, "limit": limit}))
