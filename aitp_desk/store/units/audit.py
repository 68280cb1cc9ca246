"""The audit log: notes in the commit of what they tell of.

    yield from note_audit(by, AuditAction.KEY_REVOKED, ObjectKind.KEY, token.id)

A unit that notes something is given an ``Auditor`` by an argument of its own. By that the engine
knows that it touches the log (``engine.touched``), so that two of them never run side by side.
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
    """Note what is done: a part of a unit.

    Parameters:
        by: in whose name; None notes nothing.
        id_: of the object; it is hidden where its kind asks for that.
        outcome: what came of it.
        count: how often, where one row stands for many.
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
    """Note what is no part of another unit; as :func:`note_audit`."""
    yield from note_audit(by, action, kind, id_, outcome, count)
