"""Marks questions as answered by a page of the site."""

from __future__ import annotations

from collections.abc import Sequence

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.store.base import Work
from aitp_desk.store.units.audit import note_audit


def mark_answered(
    *, desk: str, digests: Sequence[bytes], page: str | None, operator: str, old: int, by: Auditor
) -> Work[None]:
    """Mark questions as answered by a page, or take that back.

    Parameters:
        digests: keyed digests of the questions.
        page: its path; None takes it back.
        operator: the name.
        old: Unix seconds; older marks are deleted.
        by: who marks them.
    """
    yield "delete_old_answered", {"before": old}
    for digest in digests:
        question = {"desk": desk, "digest": digest}
        if page is None:
            yield "delete_answered_question", question
        else:
            mark = {"page": page, "marked_by": operator, "marked_at": by.at}
            yield "set_answered_question", {**question, **mark}
    yield from note_audit(
        by, AuditAction.QUESTIONS_ANSWERED, ObjectKind.DESK, page or "", count=len(digests)
    )
