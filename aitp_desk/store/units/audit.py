"""Writes audit entries in the commit of what they record.

    yield from note_audit(by, AuditAction.KEY_REVOKED, ObjectKind.KEY, token.id)

A unit that writes an entry has an ``Auditor`` among its arguments. From it the engine knows that it
touches the log (``engine/unit.py``), so that two of them never interleave.
"""

from __future__ import annotations

import msgspec

from aitp_desk.model.access.audit import AuditAction, Auditor, AuditRow, ObjectKind, Outcome
from aitp_desk.store.base import Work


def note_audit(
    by: Auditor | None,
    action: AuditAction,
    kind: ObjectKind,
    id_: str,
    outcome: Outcome = Outcome.DONE,
    count: int = 1,
) -> Work[None]:
    """Write an audit entry: a part of a unit.

    Parameters:
        by: in whose name; None writes nothing.
        id_: of the object; it is hidden if its kind requires that.
        outcome: the result.
        count: how often, if one row stands for many.
    """
    if by is None:
        return
    rows = yield "audit_head", {}
    n, link = (rows or (yield "audit_anchor", {}))[0]
    row = AuditRow(
        n=n + 1,
        at=by.at,
        principal=by.principal,
        proven_by=by.proven_by,
        action=action.value,
        object=by.keys.name(kind, id_),
        outcome=outcome.value,
        count=count,
        link=b"",
    )
    params = msgspec.structs.asdict(row)
    yield "add_audit", {**params, "link": by.keys.link(link, row)}


def keep_audit(
    *,
    by: Auditor,
    action: AuditAction,
    kind: ObjectKind,
    id_: str,
    outcome: Outcome = Outcome.DONE,
    count: int = 1,
) -> Work[None]:
    """Write an audit entry in a separate unit; as :func:`note_audit`."""
    yield from note_audit(by, action, kind, id_, outcome, count)
