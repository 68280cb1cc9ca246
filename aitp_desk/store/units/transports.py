"""Stores conversations on platforms, and how far they are answered."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import msgspec

from aitp_desk.model.ids import id_from
from aitp_desk.store.base import Work
from aitp_desk.store.records.jobs import ClaimedJob, NewJob
from aitp_desk.store.records.threads import PostResult
from aitp_desk.store.records.transports import (
    LEFT,
    Control,
    ConversationState,
    NewConversation,
)
from aitp_desk.store.units.jobs.jobs import JOBS_EPOCH, enqueue_job
from aitp_desk.store.units.transport_events import STOP_KIND, list_names, remember_handled

MESSAGE_KIND = "transport_message"
"""The kind of job that sends a thread's messages to a conversation."""
STOP_REASON = "The person wants no more messages."
CODE = "code"
"""In place of a capability: the control is a code that joins another conversation."""
RETRACTION_KIND = "transport_retraction"
"""The kind of job that deletes a message where platforms show it."""
_THREAD, _PRINCIPAL = 3, 6
"""Positions of the thread and the principal in the columns of a conversation."""


AlsoDone = Callable[[], Work[None]]
"""A part of a unit that does something else."""


def begin_conversation(
    conversation: NewConversation,
    ref: str,
    placed: PostResult,
    now: int,
    end: Callable[[], Work[None]],
    resumed: Sequence[bytes],
) -> Work[None]:
    """Store a conversation together with the message that opened its thread.

    Parameters:
        ref: what the platform calls that message; empty for none.
        now: Unix seconds.
        resumed: keyed hashes of the person, who wants messages from now on.
    """
    seq = placed.messages[-1].seq if placed.messages else 0
    yield from _put_conversation(conversation, placed.thread_id, seq, now)
    yield from hear_person(
        conversation.id, ref, conversation.language, placed, now, end=end, resumed=resumed
    )


def hear_person(
    conversation_id: str,
    ref: str,
    language: str,
    placed: PostResult,
    now: int,
    token: str = "",
    end: Callable[[], Work[None]] | None = None,
    resumed: Sequence[bytes] = (),
) -> Work[None]:
    """Store that a person has written in a conversation.

    Parameters:
        ref: what the platform calls the message; empty for none.
        language: as the platform says; empty for none.
        token: of the button that was pressed for it, which is used up; empty for none.
        end: ends the job of the event, if nothing is left to do.
        resumed: keyed hashes of the person, who wants messages from now on; none where the
            conversation is open, so that they want them already.
    """
    seq = placed.messages[-1].seq if placed.messages else 0
    heard = {"id": conversation_id, "seq": seq, "ref": ref, "language": language, "now": now}
    yield "hear_conversation", heard
    if ref:
        yield "add_transport_message", {"id": conversation_id, "seq": seq, "part": 0, "ref": ref}
    if token:
        yield "drop_control", {"token": token}
    yield from _resume(resumed)
    if end is not None:
        yield from end()


def join_conversation(
    *,
    token: str,
    conversation: NewConversation,
    grant_id: str,
    now: int,
    resumed: Sequence[bytes],
    also: AlsoDone | None = None,
) -> Work[bool]:
    """Carry a conversation by the thread of another one, by a code.

    The code is used up. The person may write to the thread from now on.

    Parameters:
        token: under which the code is stored.
        conversation: with an id that a repetition has too.
        grant_id: of the grant, if the thread belongs to another caller.
        now: Unix seconds.
        resumed: as of :func:`begin_conversation`.
        also: done last, if it was valid.

    Returns:
        Whether the code was valid, and its thread still exists.
    """
    if (yield "conversation", {"id": conversation.id}):
        return True
    rows = yield "control", {"token": token}
    if not rows or rows[0][1] != CODE or rows[0][-1] < now:
        return False
    source = yield "conversation", {"id": rows[0][0]}
    thread_id = source[0][_THREAD] if source else ""
    end = yield "thread_end", {"thread_id": thread_id}
    if not end:
        return False
    yield "drop_control", {"token": token}
    yield from _admit(thread_id, conversation.principal, grant_id, now)
    yield from _put_conversation(conversation, thread_id, end[0][0], now)
    yield from _resume(resumed)
    if also is not None:
        yield from also()
    return True


def offer_conversation(
    *,
    conversation: NewConversation,
    unproven: str,
    thread_id: str,
    control: Control,
    now: int,
    most: int,
    after: int,
    people: Sequence[bytes],
) -> Work[None]:
    """Store a conversation that its person has still to confirm.

    Nothing is stored if the person wants no messages, cannot be reached, or has got many such
    questions: anybody can name anybody's address.

    Parameters:
        unproven: id of the caller that the person is where nothing proves them.
        now: Unix seconds.
        most: unanswered questions since ``after``, in Unix seconds.
        people: keyed hashes of the callers that the person is, proven and not.
    """
    for person in people:
        if (yield "opt_out", {"person": person}):
            return
    whose = {"proven": conversation.principal, "unproven": unproven, "id": conversation.id}
    ((offered, unreachable),) = yield "offers_to", {**whose, "after": after}
    if unreachable or offered >= most:
        return
    if end := (yield "thread_end", {"thread_id": thread_id}):
        new = {**msgspec.structs.asdict(conversation), "thread_id": thread_id, "now": now}
        yield "offer_conversation", {**new, "seq": end[0][0]}
        yield "put_control", msgspec.structs.asdict(control)


def confirm_conversation(
    *,
    conversation_id: str,
    token: str,
    grant_id: str,
    now: int,
    resumed: Sequence[bytes],
    also: AlsoDone | None = None,
) -> Work[str | None]:
    """Open an offered conversation: what was answered since the offer is sent there.

    Parameters:
        token: of the button, which is used up.
        grant_id: of the grant, if the thread belongs to another caller.
        now: Unix seconds.
        resumed: as of :func:`begin_conversation`.
        also: done last, if it was opened.

    Returns:
        The id of its thread; None if it was confirmed before, or its thread was deleted.
    """
    rows = yield "conversation", {"id": conversation_id}
    if not rows:
        return None
    thread_id, principal = rows[0][_THREAD], rows[0][_PRINCIPAL]
    end = yield "thread_end", {"thread_id": thread_id}
    if not end:
        return None
    part = {"id": conversation_id, "seq": end[0][0]}
    if not (yield "confirm_conversation", part):
        return None
    yield "drop_control", {"token": token}
    yield from _resume(resumed)
    yield from _admit(thread_id, principal, grant_id, now)
    if also is not None:
        yield from also()
    return str(thread_id)


def _admit(thread_id: str, principal: str, grant_id: str, now: int) -> Work[None]:
    """Let a person write to a thread that belongs to another caller."""
    ((owner,),) = yield "thread_owner", {"thread_id": thread_id}
    if owner is None or owner == principal:
        return
    if (yield "granted", {"thread_id": thread_id, "principal": principal}):
        return
    grant = {"id": grant_id, "thread_id": thread_id, "principal": principal, "hash": None}
    yield "add_grant", {**grant, "may": "write", "created_at": now, "expires_at": None}


def _put_conversation(
    conversation: NewConversation, thread_id: str, seq: int, now: int
) -> Work[None]:
    """Store a conversation, in place of one that another thread has carried.

    That one is left: its person may still change what they said there.
    """
    new = msgspec.structs.asdict(conversation)
    at = {"transport": conversation.transport, "address": conversation.address}
    for row in (yield "conversation_at", at):
        yield from leave_conversation(
            conversation_id=row[0],
            address=f"{conversation.address}{LEFT}{row[0]}",
            reason="Another conversation goes on in its place.",
        )
    yield "put_conversation", {**new, "thread_id": thread_id, "now": now, "seq": seq}


def _drop_conversation(conversation_id: str) -> Work[None]:
    one = {"id": conversation_id}
    yield "drop_controls_of_conversation", one
    yield "drop_transport_messages_of_conversation", one
    yield "drop_conversation", one


def leave_conversation(*, conversation_id: str, address: str, reason: str) -> Work[None]:
    """End a conversation: what its person writes next begins another.

    Parameters:
        address: under which it is kept, so that the platform's names of its messages are known.
        reason: for operators.
    """
    yield "drop_controls_of_conversation", {"id": conversation_id}
    yield "rename_conversation", {"id": conversation_id, "address": address}
    yield from end_conversation(
        conversation_id=conversation_id, state=ConversationState.STOPPED, reason=reason
    )


def end_conversation(*, conversation_id: str, state: ConversationState, reason: str) -> Work[None]:
    """Store that a conversation takes no messages, or none now.

    Parameters:
        reason: for operators.
    """
    yield (
        "end_conversation",
        {"id": conversation_id, "state": state.value, "reason": reason},
    )


def _resume(people: Sequence[bytes]) -> Work[None]:
    for person in people:
        yield "drop_opt_out", {"person": person}


def opt_out(*, people: Sequence[bytes], principal: str, unproven: str, reason: str) -> Work[bool]:
    """Store that a person wants no messages: their conversations end.

    It lasts until they write again, whatever becomes of the conversations.

    Parameters:
        people: keyed hashes of the person, by which nobody is found who is not known.
        principal: id of the caller.
        unproven: as of :func:`offer_conversation`.
        reason: for operators.

    Returns:
        Whether they wanted messages before.
    """
    is_new = not (yield "opt_out", {"person": people[0]})
    yield "put_opt_out", tuple({"person": person} for person in people)
    yield "stop_conversations", {"proven": principal, "unproven": unproven, "reason": reason}
    return is_new


def opt_out_again(
    *, job: ClaimedJob, people: Sequence[bytes], principal: str, unproven: str
) -> Work[None]:
    """Opt a person out again who did so while an event waited.

    Parameters:
        as of :func:`opt_out`.
    """
    if (yield "stop_after", {"stop": STOP_KIND, "who": job.principal or "", "id": job.id}):
        yield from opt_out(
            people=people, principal=principal, unproven=unproven, reason=STOP_REASON
        )


def note_command(conversation_id: str, ref: str) -> Work[None]:
    """Store what a platform calls a message that is no part of its conversation."""
    yield "add_command", {"id": conversation_id, "ref": ref}


def note_on_thread(conversation_id: str, write: Callable[[str], Work[None]]) -> Work[None]:
    """Write on the thread of a known conversation: a part of a unit."""
    for row in (yield "conversation", {"id": conversation_id}):
        yield from write(row[_THREAD])


def queue_messages(*, thread_id: str, jobs: Sequence[NewJob]) -> Work[bool]:
    """Queue a job for each open conversation of a thread with new replies.

    Parameters:
        jobs: a job for each conversation, whose ``ref`` is the conversation's id. The number of
            the newest message is added to it.

    Returns:
        Whether a job was queued.
    """
    by_conversation = {job.ref: job for job in jobs}
    is_queued = False
    rows = yield "conversations_behind_of_thread", {"thread_id": thread_id}
    for id_, _, last_seq, queued_seq, _desk in rows:
        job = by_conversation.get(id_)
        if job is None:  # it was begun a moment ago
            continue
        if (yield "unsent_messages", {"thread_id": thread_id, "seq": queued_seq}):
            is_queued = True
            if not job.available_at:  # those that wait for the end of quiet hours come first
                yield "hasten_messages", {"kind": MESSAGE_KIND, "conversation": id_}
            yield from enqueue_job(msgspec.structs.replace(job, ref=f"{id_} {last_seq}"))
        yield "queue_conversation", {"id": id_, "seq": last_seq}
    return is_queued


def move_conversation(*, transport: str, former: str, address: str) -> Work[None]:
    """Store what a platform calls a conversation now, as in :func:`note_sent`."""
    for row in (yield "conversation_at", {"transport": transport, "address": former}):
        yield from _rename(row[0], address)


def _rename(conversation_id: str, address: str) -> Work[None]:
    names = yield from list_names(conversation_id=conversation_id)
    if (yield "rename_conversation", {"id": conversation_id, "address": address}):
        # there, the earlier names may mean other messages
        yield "drop_transport_messages_of_conversation", {"id": conversation_id}
        yield from remember_handled(names)


def note_sent(
    *, conversation_id: str, seq: int, part: int, ref: str, is_last: bool, address: str
) -> Work[None]:
    """Store that a part of a message was sent.

    Parameters:
        ref: what the platform calls it; empty if it was not sent.
        is_last: whether the message has no further part.
        address: what the platform calls the conversation, if that has changed; else empty. It
            keeps its name where another conversation has this one already.
    """
    if address:
        yield from _rename(conversation_id, address)
    if ref:
        yield (
            "add_transport_message",
            {"id": conversation_id, "seq": seq, "part": part, "ref": ref},
        )
    moved = {"seq": seq, "parts": 0} if is_last else {"seq": seq - 1, "parts": part + 1}
    yield "move_sent", {"id": conversation_id, **moved}


def retract_message(thread_id: str, message_id: str, now: int) -> Work[None]:
    """Queue the deletion of a message in each conversation that shows it.

    Parameters:
        now: Unix seconds.
    """
    rows = yield "transport_refs_of_message", {"thread_id": thread_id, "id": message_id}
    sent: dict[tuple[str, str], list[list[str]]] = {}
    for id_, principal, *named in rows:
        sent.setdefault((id_, principal), []).append(named)
    for (id_, principal), parts in sent.items():
        ref = f"{message_id} {id_}"
        yield from enqueue_job(
            NewJob(
                # a unit makes no random ids
                id=id_from("job", now, hashlib.sha512(ref.encode()).digest()),
                kind=RETRACTION_KIND,
                ref=ref,
                payload=parts,
                created_at=now,
                principal=principal,
            )
        )
    if sent:
        yield "raise_epoch", {"name": JOBS_EPOCH}


def drop_conversations(thread_id: str) -> Work[None]:
    """Forget the conversations of a thread that is deleted."""
    thread = {"thread_id": thread_id}
    names = yield from list_names(thread_id=thread_id)
    yield "drop_controls_of_thread", thread
    yield "drop_transport_messages_of_thread", thread
    yield "drop_conversations_of_thread", thread
    yield from remember_handled(names)


def erase_conversations(*, principal: str, thread_id: str) -> Work[None]:
    """Forget the conversations of a person: what they write next begins another.

    Parameters:
        principal: id of the caller as whom the person writes; empty for all on the thread.
        thread_id: only there; empty for all threads.
    """
    if not principal:
        yield from drop_conversations(thread_id)
        return
    if not thread_id:
        yield "erase_transport_bytes", {"whose": principal}
    rows = yield "conversations_of_principal", {"whose": principal, "thread_id": thread_id}
    for (id_,) in rows:
        yield from _drop_conversation(id_)


def put_controls(*, controls: Sequence[Control]) -> Work[None]:
    """Store what buttons and forms stand for."""
    if controls:
        yield "put_control", tuple(msgspec.structs.asdict(one) for one in controls)
