"""Stores what people think of the desk's messages."""

from __future__ import annotations

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.rule import AccessNeed
from aitp_desk.model.conversation.feedback import NEWEST, RATED, FeedbackDraft
from aitp_desk.model.conversation.thread import Message, Origin
from aitp_desk.model.errors import InvalidRequest, MessageNotFound
from aitp_desk.store.base import Work
from aitp_desk.store.rows.threads import read_message
from aitp_desk.store.units.threads.access import reach_thread


def rate_message(
    *,
    thread_id: str,
    message_id: str,
    principal: Principal,
    draft: FeedbackDraft,
    now: int,
    idle_before: int,
) -> Work[tuple[str, bool]]:
    """Store a caller's feedback on a message of the desk; it replaces the earlier one.

    The thread does not count as used: its retention does not begin again.

    Parameters:
        message_id: ``latest`` for the desk's newest message.
        idle_before: Unix seconds; an anonymous thread last used before then is closed.

    Returns:
        The id of the message, and whether anything changed.

    Raises:
        ThreadNotFound, MessageNotFound: it does not exist, or not for this caller.
        Forbidden: the caller may not write on the thread.
        InvalidRequest: a visitor sent the message.
    """
    reached = yield from reach_thread(thread_id, principal, idle_before, AccessNeed.WRITE, now=now)
    message = yield from _find(thread_id, message_id)
    if message.origin is not Origin.DESK:
        raise InvalidRequest("Only messages of the site can be rated.", param="message_id")
    whose = {
        "thread_id": thread_id,
        "message_id": message.id,
        "principal": principal.party or "",
    }
    before = yield "feedback_of", whose
    rating = draft.rating
    if before == ([] if rating is None else [(rating.value, draft.reason)]):
        return message.id, False
    if rating is None:
        yield "delete_feedback", whose
    else:
        kept = {"rating": rating.value, "reason": draft.reason, "created_at": now}
        yield "set_feedback", {**whose, **kept}
    tail = reached.tail(now)
    tail.add_event(RATED, message.id)
    yield from tail.write_additions()
    yield "count_event", {"thread_id": thread_id, "last_event": tail.event}
    return message.id, True


def _find(thread_id: str, message_id: str) -> Work[Message]:
    if message_id == NEWEST:
        rows = yield "newest_of_desk", {"thread_id": thread_id}
    else:
        rows = yield "message", {"thread_id": thread_id, "id": message_id}
    if not rows:
        raise MessageNotFound("There is no such message on this thread.", param="message_id")
    return read_message(rows[0])
