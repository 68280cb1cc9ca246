"""Defines threads, messages and sessions as units of work take and return them.

Ids, salts and times are made by the caller, because a unit may run more than once.
"""

from __future__ import annotations

import msgspec

from aitp_desk.model.access.principal import Principal
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


class NewDraft(msgspec.Struct, frozen=True):
    """A draft to be added to a thread; its speaker is not determined yet.

    Parameters:
        id: ``msg_…``, new.
        salt: 16 random bytes for its digest (``model/conversation/chain.py``).
    """

    id: str
    salt: bytes
    draft: Draft


class NewMessage(msgspec.Struct, frozen=True):
    """A message to be added to a thread, with its speaker determined.

    Parameters:
        id: ``msg_…``, new.
        salt: 16 random bytes for its digest (``model/conversation/chain.py``).
        role: as stored.
        actor: id of the actor that speaks.
        origin: which side says it.
        principal: its sender; None if unknown, or the desk.
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
    """Return a visitor's draft with its speaker."""
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
    """Who forks a thread from another, at the newest message that they may read.

    Parameters:
        parent_id: the thread that it is forked from.
        principal: who forks.
        idle_before: Unix seconds; an anonymous parent last used before then is closed.
    """

    parent_id: str
    principal: Principal
    idle_before: int


class IdempotencyRecord(msgspec.Struct, frozen=True):
    """An idempotency key with its request.

    Parameters:
        scope: within which keys are compared: a principal, a thread or an address.
        key: as the caller sent it.
        fingerprint: keyed digest of method, path and body.
        since: Unix seconds; older entries count as expired, even if not deleted yet.
    """

    scope: str
    key: str
    fingerprint: bytes
    since: int = 0

    @property
    def asked(self) -> dict[str, str | int]:
        """The parameters of the statement ``look_up_once``."""
        return {"scope": self.scope, "key": self.key, "since": self.since}


class PostResult(msgspec.Struct, frozen=True):
    """The result of posting.

    A replay (the idempotency key was used before with the same request) carries the three ids of
    that first time and nothing else; the caller reads their current state.

    Parameters:
        thread_id: the thread that was opened or posted to.
        message_id: the visitor's message, the last one if there are several; None for a thread
            opened without one.
        run_id: the run that answers it; None if none was started.
        replayed: whether nothing was written this time.
        messages: the visitor's messages as stored, in order.
        replies: the desk's messages in the same commit: the plain message at the cap.
        run: the run that answers; ``capped`` if the thread has reached its limit.
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
    """An AHP conversation and the thread that stores it (AHP 0.1, section 6).

    Parameters:
        id: ``session_…``, never the thread's.
        owner: id of the principal that it belongs to, None for an anonymous visitor's.
        turns: number of its turns.
        created_at: Unix seconds, as is ``last_at``, its newest turn.
        pending: JSON of the desk's question, while it waits for its answer.
        tokens: how many its turns used together.
        heard: ``seq`` of the newest operator's message that the visitor received.
        kept_until: Unix seconds until when it is kept even if idle.
        desk: the desk at which its thread was opened; empty for the site's own.
        more_turns: how many of the turns are new, to be added where another process has stored
            turns meanwhile; 0 for a further message of a turn that is counted already.
        more_tokens: how many of the tokens are new.
        most_turns: how many it may have with these; 0 if that does not matter.
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
    more_turns: int = 1
    more_tokens: int = 0
    most_turns: int = 0


class FoldedTurn(msgspec.Struct, frozen=True, array_like=True):
    """The first turn of a session, which opens its thread, as one value.

    Parameters:
        owner, last_at, pending, tokens: as of :class:`Session`.
        opened_at: its ``created_at``.
        recorded_at: Unix seconds, when the messages were made; not rounded, for their ids.
        seed: 32 random bytes, from which both messages' ids and salts are derived.
        visitor: the actor that asks.
        desk, capabilities: the actor that answers.
        reply: the parts of the desk's message.
        notes: the metadata of the reply.
        opened_at_desk: the further site agent whose thread it is; empty for the site's own.
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


class StoredThread(msgspec.Struct, frozen=True):
    """A thread with its stored state.

    Parameters:
        speaker: the actor stamped on the opener's messages that name none.
        updated_at: Unix seconds of the last message or change.
        last_seq: number of its newest message, 0 for none.
        last_event: number of its newest event, 0 for none.
        is_claimed: whether it was anonymous before it had an owner.
    """

    thread: Thread
    speaker: str
    updated_at: int
    last_seq: int
    last_event: int
    is_claimed: bool


class PresentActor(msgspec.Struct, frozen=True):
    """A current participant of a thread.

    Parameters:
        position: its position among all participants ever.
        is_desk: whether it is the desk's own.
        actor: as it was declared; its ``principal`` is the one that it is bound to, None for an
            unbound one of an anonymous thread.
    """

    position: int
    is_desk: bool
    actor: Actor

    def is_of(self, principal: Principal) -> bool:
        """Return whether the caller may speak as it."""
        return not self.is_desk and self.actor.principal == principal.owner


class Summary(msgspec.Struct, frozen=True):
    """A summary of a thread, including what came before a fork.

    Parameters:
        upto_seq: the newest message that it covers; messages before the fork end at 0 and count
            down.
        made_by: name of the agent that made it, or ``extractive``.
    """

    thread_id: str
    upto_seq: int
    text: str
    made_by: str


class MessageRange(msgspec.Struct, frozen=True):
    """Consecutive messages of one thread.

    Parameters:
        above: number of the message before the first.
        upto: number of the last.
        count: how many of them existed.
    """

    thread_id: str
    above: int
    upto: int
    count: int


class Event(msgspec.Struct, frozen=True):
    """An event of a thread.

    Parameters:
        n: its number on the thread, from 1, without gaps.
        kind: ``message.created``, ``message.deleted``, ``message.feedback``, ``thread.deleted``,
            ``thread.claimed``, ``thread.handed_over``, ``thread.handed_back``, ``actor.joined``,
            ``actor.left``, or ``run.`` and the state that a run has reached.
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
