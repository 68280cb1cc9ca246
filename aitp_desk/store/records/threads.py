"""What units of work take and give: plain frozen values, beside those of ``model/``.

Ids, salts and times are made by the caller, because a unit may run more than once.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from aitp_desk.model.access.principal import Principal
from aitp_desk.model.conversation.file import File
from aitp_desk.model.conversation.run import Run
from aitp_desk.model.conversation.thread import (
    Actor,
    Attachment,
    Draft,
    Message,
    Origin,
    Role,
    Thread,
)

Order = Literal["asc", "desc"]
"""The order of a list of messages: ``asc`` has the oldest first."""


class NewDraft(msgspec.Struct, frozen=True):
    """A draft that is to be placed on a thread; its speaker is still to be settled.

    Parameters:
        id: ``msg_…``, new.
        salt: 16 random bytes for its digest (``model/chain.py``).
    """

    id: str
    salt: bytes
    draft: Draft


class NewMessage(msgspec.Struct, frozen=True):
    """A message that is to be placed on a thread, its speaker settled.

    Parameters:
        id: ``msg_…``, new.
        salt: 16 random bytes for its digest (``model/chain.py``).
        role: as it is kept.
        actor: id of the actor that speaks.
        origin: which side says it.
        principal: who says it; None for nobody known, or the desk.
    """

    id: str
    salt: bytes
    role: Role
    actor: str
    origin: Origin
    content: tuple[str, ...]
    attachments: tuple[Attachment, ...] = ()
    metadata: dict[str, str] = {}
    principal: str | None = None


def settle_draft(new: NewDraft, role: Role, actor: str, principal: str | None) -> NewMessage:
    """A visitor's draft with its speaker."""
    draft = new.draft
    return NewMessage(
        new.id,
        new.salt,
        role,
        actor,
        Origin.VISITOR,
        draft.content,
        draft.attachments,
        draft.metadata,
        principal,
    )


class Fork(msgspec.Struct, frozen=True):
    """By whom a thread is forked off another, at the newest message that they may read.

    Parameters:
        parent_id: the thread that it is forked off.
        principal: who forks.
        idle_before: Unix seconds; an anonymous parent last used before then is closed.
    """

    parent_id: str
    principal: Principal
    idle_before: int


class IdempotencyRecord(msgspec.Struct, frozen=True):
    """An idempotency key with what it stands for.

    Parameters:
        scope: within which keys are compared: a principal, a thread or an address.
        key: what the caller sent.
        fingerprint: keyed digest of method, path and body.
        since: Unix seconds; what was noted before then is forgotten, though it may still stand
            there.
    """

    scope: str
    key: str
    fingerprint: bytes
    since: int = 0

    @property
    def asked(self) -> dict[str, str | int]:
        """What the statement ``look_up_once`` takes."""
        return {"scope": self.scope, "key": self.key, "since": self.since}


class PostResult(msgspec.Struct, frozen=True):
    """What posting did.

    A replay (the idempotency key was used before with the same request) carries the three ids of
    that first time and nothing else; the caller reads what has become of them.

    Parameters:
        thread_id: the thread that was opened or posted to.
        message_id: the visitor's message, the last one where there are several; None for a
            thread that was opened without one.
        run_id: the run that answers it; None where none was started.
        replayed: whether nothing was written this time.
        messages: the visitor's messages as they are kept, in order.
        replies: what the desk said in the same commit: the plain message at the cap.
        run: the run that answers, as it stands; ``capped`` when the thread has had its share.
        last_event: number of the thread's newest event after this.
    """

    thread_id: str
    message_id: str | None
    run_id: str | None
    replayed: bool = False
    messages: tuple[Message, ...] = ()
    replies: tuple[Message, ...] = ()
    run: Run | None = None
    last_event: int = 0


class Session(msgspec.Struct, frozen=True):
    """An AHP conversation and the thread that keeps it (AHP 0.1, section 6).

    Parameters:
        id: ``session_…``, its own, never the thread's.
        owner: id of the principal that it belongs to, None for an anonymous visitor's.
        turns: how many turns it has had.
        created_at: Unix seconds, as is ``last_at``, its newest turn.
        pending: JSON of the question that the desk asked back, while it waits for its answer.
        tokens: how many its turns have used together.
        heard: ``seq`` of the newest message of a person's that the visitor was told.
        kept_until: Unix seconds until when it lives, however long nothing is said.
        desk: at which its thread was opened; empty for the site's own.
    """

    id: str
    thread_id: str
    owner: str | None
    turns: int
    created_at: int
    last_at: int
    pending: str | None = None
    tokens: int = 0
    heard: int = 0
    kept_until: int = 0
    desk: str = ""


class FoldedTurn(msgspec.Struct, frozen=True, array_like=True):
    """The first turn of a session, which opens its thread, as one value.

    Parameters:
        owner: as of :class:`Session`, as are ``opened_at`` (there ``created_at``), ``last_at`` and
            ``pending`` and ``tokens``.
        recorded_at: Unix seconds, when the messages were made; not rounded, for their ids.
        seed: 32 random bytes, of which both messages' ids and salts are made.
        visitor: the actor that asks.
        desk, capabilities: the actor that answers.
        reply: the parts of what the desk said.
        notes: the metadata of the reply.
        opened_at_desk: of the further site agent whose thread it is; empty for the site's own.
    """

    owner: str | None
    opened_at: int
    last_at: int
    recorded_at: float
    seed: bytes
    visitor: str
    desk: str
    capabilities: tuple[str, ...]
    question: str
    reply: tuple[str, ...]
    notes: dict[str, str]
    pending: str | None
    tokens: int = 0
    opened_at_desk: str = ""


class KeptThread(msgspec.Struct, frozen=True):
    """A thread with what the store knows besides.

    Parameters:
        speaker: the actor stamped on the opener's messages that name none.
        updated_at: Unix seconds of the last message or change.
        last_seq: number of its newest message, 0 for none.
        last_event: number of its newest event, 0 for none.
        is_claimed: whether it was anonymous before it was its owner's.
    """

    thread: Thread
    speaker: str
    updated_at: int
    last_seq: int
    last_event: int
    is_claimed: bool


class PresentActor(msgspec.Struct, frozen=True):
    """An actor that takes part in a thread.

    Parameters:
        position: its place among all that ever took part.
        is_desk: whether it is the desk's own.
        actor: as it was declared; its ``principal`` is the one that it is bound to, None for one of
            an anonymous thread that is bound to nobody.
    """

    position: int
    is_desk: bool
    actor: Actor

    def is_of(self, principal: Principal) -> bool:
        """Whether the caller may speak as it."""
        return not self.is_desk and self.actor.principal == principal.owner


class Page(msgspec.Struct, frozen=True):
    """A part of a list of messages, in the order asked for.

    Parameters:
        has_more: whether there are further messages in the direction of reading.
    """

    messages: tuple[Message, ...]
    has_more: bool


class FilePage(msgspec.Struct, frozen=True):
    """A part of a list of files, in the order asked for.

    Parameters:
        has_more: whether there are further files in the direction of reading.
    """

    files: tuple[File, ...]
    has_more: bool


class Summary(msgspec.Struct, frozen=True):
    """What was said on a thread, and before it on what it was forked off, in few words.

    Parameters:
        upto_seq: the newest message that it covers; what the thread was forked off ends at 0 and
            counts down.
        made_by: name of the agent that made it, or ``extractive``.
    """

    thread_id: str
    upto_seq: int
    text: str
    made_by: str


class MessageRange(msgspec.Struct, frozen=True):
    """Messages of one thread that follow one another.

    Parameters:
        above: number of the message before the first.
        upto: number of the last.
        count: how many of them were there.
    """

    thread_id: str
    above: int
    upto: int
    count: int


class Event(msgspec.Struct, frozen=True):
    """Something that happened on a thread.

    Parameters:
        n: its number on the thread, from 1, without gaps.
        kind: ``message.created``, ``message.deleted``, ``thread.deleted``, ``thread.claimed``,
            ``thread.handed_over``, ``thread.handed_back``, ``actor.joined``, ``actor.left``, or
            ``run.`` and the state that a run has reached.
        ref: id of the message, thread, actor or run.
        created_at: Unix seconds.
    """

    n: int
    kind: str
    ref: str
    created_at: int


class Expired(msgspec.Struct, frozen=True):
    """How many rows one call of ``delete_expired`` removed."""

    idempotency: int
    sessions: int
    files: int = 0
