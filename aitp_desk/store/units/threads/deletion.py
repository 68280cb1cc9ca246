"""Changes a message's metadata, and deletes messages and threads.

Deleted content is removed permanently, with its salt; its position, digest and link stay, so that
the chain remains valid (``model/conversation/chain.py``).
"""

from __future__ import annotations

from aitp_desk.model.access.audit import AuditAction, Auditor, ObjectKind
from aitp_desk.model.access.principal import Principal
from aitp_desk.model.access.rule import AccessNeed
from aitp_desk.model.conversation.run import MOVES, RunState
from aitp_desk.model.conversation.thread import Message, Origin
from aitp_desk.model.conversation.ticket import get_operator
from aitp_desk.model.errors import Forbidden, InvalidRequest, MessageNotFound
from aitp_desk.model.ids import digest_thread
from aitp_desk.store.base import Work
from aitp_desk.store.records.transports import name_correction
from aitp_desk.store.rows.threads import read_message, read_run, to_json
from aitp_desk.store.units.audit import note_audit
from aitp_desk.store.units.calls.payment import give_back_unbegun, leave_at_work
from aitp_desk.store.units.runs.tasks import forget_tasks
from aitp_desk.store.units.runs.workers import end_run
from aitp_desk.store.units.threads.access import is_callers, reach_thread
from aitp_desk.store.units.threads.summaries import BEFORE_ALL, forget_summaries
from aitp_desk.store.units.threads.tail import ThreadTail
from aitp_desk.store.units.tickets.tickets import TICKETS_EPOCH
from aitp_desk.store.units.transports import drop_conversations, retract_message

THREAD_DELETED = "The thread was deleted."
"""The error of a run that was to answer there."""
_MOST_REPLIES = 20
"""How many replies of capabilities to one message are searched for."""


def set_message_metadata(
    *,
    thread_id: str,
    principal: Principal,
    message_id: str,
    actor: str | None,
    metadata: dict[str, str],
    now: int,
    idle_before: int,
) -> Work[Message]:
    """Replace the metadata of a message that the caller sent.

    Parameters:
        actor: the speaker as the caller repeats it, None if it does not.
        idle_before: Unix seconds; an anonymous thread last used before then is closed.

    Raises:
        ThreadNotFound, MessageNotFound: it does not exist, or not for this caller.
        Forbidden: another caller sent it.
        InvalidRequest: ``actor`` is not the one who spoke.
    """
    reached = yield from reach_thread(thread_id, principal, idle_before, AccessNeed.WRITE, now=now)
    message = yield from _find(thread_id, message_id)
    if not (yield from is_callers(message, principal, reached)):
        raise Forbidden("You may change only your own messages.", param="message_id")
    if actor is not None and actor != message.actor:
        raise InvalidRequest(
            f"`metadata.actor` names the author and stays {message.actor!r}.",
            param="metadata.actor",
        )
    rows = yield (
        "set_message_metadata",
        {"thread_id": thread_id, "id": message_id, "metadata": to_json(metadata)},
    )
    return read_message(rows[0])


def find_rights(
    *, thread_id: str, principal: Principal, message_id: str, now: int, idle_before: int
) -> Work[tuple[bool, bool]]:
    """Return whether a caller may change a message's metadata, and may delete it.

    Raises:
        ThreadNotFound, MessageNotFound: it does not exist, or not for this caller.
        Forbidden: the caller may not write to the thread.
    """
    reached = yield from reach_thread(thread_id, principal, idle_before, AccessNeed.WRITE, now=now)
    message = yield from _find(thread_id, message_id)
    is_own = yield from is_callers(message, principal, reached)
    return is_own, is_own or reached.access.may_manage


def delete_message(
    *,
    thread_id: str,
    principal: Principal,
    message_id: str,
    now: int,
    idle_before: int,
    with_replies: bool = False,
) -> Work[tuple[str, ...]]:
    """Delete the content of a message, and the pending question of its session.

    Files that were attached to it stay.

    Parameters:
        with_replies: whether the desk's replies to it are deleted as well.

    Returns:
        The ids of the desk's replies to it.

    Raises:
        ThreadNotFound, MessageNotFound: it does not exist, or not for this caller.
        Forbidden: another caller sent it, on a thread that is not the caller's; or the replies are
            for the thread's owner to delete.
    """
    reached = yield from reach_thread(thread_id, principal, idle_before, AccessNeed.WRITE, now=now)
    message = yield from _find(thread_id, message_id)
    is_own = yield from is_callers(message, principal, reached)
    if not reached.access.may_manage and not is_own:
        raise Forbidden(
            "You may delete only your own messages; the thread's owner may delete all messages.",
            param="message_id",
        )
    if with_replies and not reached.access.may_manage:
        raise Forbidden(
            "Only the thread's owner may delete the desk's replies. Leave `with_replies` out to"
            " delete your message alone.",
            param="with_replies",
        )
    replies = (yield from _replies_to(message)) if message.origin is Origin.VISITOR else ()
    tail = reached.tail(now)
    for id_ in (message_id, *(replies if with_replies else ())):
        yield from _erase(id_, tail)
    yield from forget_summaries(thread_id, message.seq)
    yield "forget_pending_of_thread", {"thread_id": thread_id}
    yield from tail.write()
    return replies


def withdraw_message(message_id: str, operator: str, tail: ThreadTail) -> Work[None]:
    """Delete what an operator has said, and its corrections: a part of a unit.

    Parameters:
        operator: the name.
        tail: the thread's end.

    Raises:
        MessageNotFound: it is not there any more.
        Forbidden: another one has said it.
    """
    message = yield from _find(tail.thread_id, message_id)
    if get_operator(message.actor) != operator:
        raise Forbidden("You may delete only your own messages.", param="message_id")
    named = {"thread_id": tail.thread_id, "edits": name_correction(message_id)}
    for (id_,) in [*(yield "corrections", named), (message_id,)]:
        yield from _erase(id_, tail)
    yield from forget_summaries(tail.thread_id, message.seq)
    yield from tail.write()


def _erase(message_id: str, tail: ThreadTail) -> Work[None]:
    named = {"thread_id": tail.thread_id, "message_id": message_id}
    tail.add_event("message.deleted", message_id)
    yield from retract_message(tail.thread_id, message_id, tail.now)
    yield "delete_message", {"thread_id": tail.thread_id, "id": message_id}
    yield "delete_sealed_of_message", {"message_id": message_id}
    yield "delete_feedback_of_message", named


def _replies_to(message: Message) -> Work[tuple[str, ...]]:
    """Find the desk's replies to a message.

    These are the messages of capabilities, which follow it directly and have no run, and those of
    its run.
    """
    after = message.seq
    place = {"thread_id": message.thread_id, "above": after, "below": after + _MOST_REPLIES + 1}
    rows = yield "messages_upwards", {**place, "limit": _MOST_REPLIES}
    replies = []
    for seq, one in enumerate(map(read_message, rows), after + 1):
        if one.seq != seq or one.origin is not Origin.DESK or one.run_id is not None:
            break
        replies.append(one.id)
    if message.run_id is not None:
        rows = yield "replies_of_run", {"run_id": message.run_id}
        replies += [read_message(row).id for row in rows]
    return tuple(replies)


def delete_exchange(
    *, thread_id: str, principal: Principal, run_id: str, now: int, idle_before: int
) -> Work[None]:
    """Delete what a run was asked, its replies and the outputs of its functions.

    Raises:
        ThreadNotFound: it does not exist, or not for this caller.
        Forbidden: it is another principal's.
    """
    reached = yield from reach_thread(thread_id, principal, idle_before, AccessNeed.MANAGE, now=now)
    asked = yield "input_of_run", {"thread_id": thread_id, "run_id": run_id}
    replies = yield "replies_of_run", {"run_id": run_id}
    messages = [read_message(row) for row in (*asked, *replies)]
    tail = reached.tail(now)
    for one in messages:
        yield from _erase(one.id, tail)
    if messages:
        yield from forget_summaries(thread_id, min(one.seq for one in messages))
    yield "forget_pending_of_thread", {"thread_id": thread_id}
    yield "delete_steps_of_run", {"run_id": run_id}
    yield "empty_run", {"run_id": run_id}
    yield from tail.write()


def delete_thread(
    *,
    thread_id: str,
    principal: Principal,
    now: int,
    idle_before: int,
    by: Auditor | None = None,
) -> Work[tuple[str, ...]]:
    """Delete all content of a thread, end its runs, and close it permanently.

    It cannot be reached any more, and the holder of one of its runs finds the lease lost.

    Parameters:
        by: who deletes it; None writes no audit entry.

    Returns:
        The ids of the runs that ended.

    Raises:
        ThreadNotFound: it does not exist, or not for this caller.
        Forbidden: it is another principal's.
    """
    reached = yield from reach_thread(thread_id, principal, idle_before, AccessNeed.MANAGE, now=now)
    ended = yield from drop_thread(reached.tail(now))
    yield from note_audit(by, AuditAction.THREAD_DELETED, ObjectKind.THREAD, thread_id)
    return ended


def drop_thread(tail: ThreadTail) -> Work[tuple[str, ...]]:
    """Empty and close a thread, and end its runs: a part of a unit.

    Parameters:
        tail: the thread's end.

    Returns:
        The ids of the runs that ended.
    """
    thread_id = tail.thread_id
    runs = yield "unfinished_runs", {"thread_id": thread_id}
    for run in map(read_run, runs):
        if RunState.FAILED in MOVES[run.state]:
            yield from end_run(run, RunState.FAILED, tail, THREAD_DELETED)
        else:
            yield from end_run(run, RunState.CANCELLED, tail, None)
    tail.add_event("thread.deleted", thread_id)
    yield from tail.write()
    yield "delete_steps_of_thread", {"thread_id": thread_id}
    everything = {"thread_id": thread_id, "since": 0, "whose": ""}
    yield from give_back_unbegun("unbegun_paid_calls_on_thread", everything, tail.now)
    yield from leave_at_work("paid_calls_at_work_on_thread", everything, tail.now)
    yield "erase_calls_on_thread", everything
    yield "delete_sealed_of_thread", everything
    tickets = yield "erase_tickets_on_thread", everything
    yield "erase_notes", everything
    yield "erase_feedback", everything
    if (yield "hand_back", {"thread_id": thread_id}) or tickets:
        yield "raise_epoch", {"name": TICKETS_EPOCH}
    yield "empty_runs_of_thread", {"thread_id": thread_id}
    yield "delete_messages_of_thread", {"thread_id": thread_id}
    yield "empty_actors_of_thread", {"thread_id": thread_id}
    yield from forget_summaries(thread_id, BEFORE_ALL)
    yield "delete_sessions_of_thread", {"thread_id": thread_id}
    yield from forget_tasks(thread_id)
    yield from drop_conversations(thread_id)
    yield "erase_transport_bytes", {"whose": digest_thread(thread_id)}
    yield "delete_grants_of_thread", {"thread_id": thread_id}
    yield "delete_countersignatures", {"thread_id": thread_id}
    yield "drop_jobs_of_thread", {"thread_id": thread_id, "since": 0}
    yield "erase_records_on_thread", {"thread_id": thread_id, "since": 0}
    yield "close_records_on_thread", {"thread_id": thread_id}
    yield "delete_thread", {"thread_id": thread_id, "now": tail.now}
    return tuple(run_id for run_id, *_ in runs)


def _find(thread_id: str, message_id: str) -> Work[Message]:
    rows = yield "message", {"thread_id": thread_id, "id": message_id}
    if not rows:
        raise MessageNotFound("There is no such message on this thread.", param="message_id")
    return read_message(rows[0])
