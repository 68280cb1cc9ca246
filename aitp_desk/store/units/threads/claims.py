"""Claims anonymous threads.

A claimed thread has an owner, and its id alone no longer grants access.
"""

from __future__ import annotations

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.rule import AccessNeed
from aitp_desk.model.conversation.thread import VISITOR
from aitp_desk.model.errors import Forbidden, NotAuthenticated
from aitp_desk.store.base import Work
from aitp_desk.store.rows.threads import read_attachments
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.jobs.receivers import drop_receivers
from aitp_desk.store.units.threads.access import reach_thread
from aitp_desk.store.units.threads.actors import note_bindings

CLAIMED = "thread.claimed"
"""The event that a thread was claimed; it refers to the thread."""


def claim_thread(
    *,
    thread_id: str,
    principal: Principal,
    now: int,
    idle_before: int,
    by: Auditor | None = None,
) -> Work[bool]:
    """Make the caller the owner of an anonymous thread and what belongs to it.

    These are the unbound actors, the sessions on it, and the ownerless files that are attached to
    its messages: the holder of its id had full access to them. The files continue to count against
    their uploader, and expire as before: a claim adds to no allowance. Participants with a
    principal remain.

    Parameters:
        idle_before: Unix seconds; an anonymous thread last used before then is closed.
        by: who claims it; None writes no audit entry.

    Returns:
        Whether anything changed: the claim of one's own thread changes nothing.

    Raises:
        NotAuthenticated: the caller has no credential.
        ThreadNotFound: there is none, it is closed, or another principal has claimed it.
        Forbidden: the caller may know the thread, but it has an owner, or the caller has left it.
    """
    owner = principal.owner
    if owner is None:
        raise NotAuthenticated("Send a credential to claim a thread: its holder becomes the owner.")
    reached = yield from reach_thread(thread_id, principal, idle_before, AccessNeed.READ, now=now)
    if reached.owner == owner:
        return False
    if reached.owner is not None:
        raise Forbidden("This thread has an owner already.", param="thread_id")
    reached.access.check(AccessNeed.MANAGE)
    speaker = reached.opener_speaks_as
    tail = reached.tail(now)
    tail.add_event(CLAIMED, thread_id)
    yield from tail.write()
    yield (
        "claim_thread",
        {
            "thread_id": thread_id,
            "owner": owner,
            "speaker": reached.speaker if speaker == VISITOR else speaker,
            "now": now,
        },
    )
    bound = yield "bind_actors", {"thread_id": thread_id, "principal": owner}
    yield "give_sessions", {"thread_id": thread_id, "owner": owner}
    yield "give_feedback", {"thread_id": thread_id, "owner": owner}
    yield "give_tasks", {"thread_id": thread_id, "owner": owner}
    yield from drop_receivers(thread_id, now)
    yield "give_sealed", {"thread_id": thread_id, "owner": owner}
    rows = yield "attachments_of_thread", {"thread_id": thread_id}
    for file_id in {file.file_id: None for row in rows for file in read_attachments(row[0])}:
        yield "give_file", {"id": file_id, "owner": owner, "desk": principal.desk}
    yield from note_audit(by, AuditAction.THREAD_CLAIMED, ObjectKind.THREAD, thread_id)
    yield from note_bindings(by, AuditAction.ACTOR_BOUND, thread_id, len(bound))
    return True
