"""Short ways to say, in contract tests, who says what and when."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import count
from typing import Any

from aitp_desk.model.access.principal import Principal, PrincipalKind, make_anonymous
from aitp_desk.model.conversation.thread import Actor, Draft, Message, Origin, Role, Thread
from aitp_desk.model.ids import first_id
from aitp_desk.store.base import Store
from aitp_desk.store.records.runs import ClaimedRun, NewRun
from aitp_desk.store.records.threads import (
    FoldedTurn,
    IdempotencyRecord,
    NewMessage,
    PostResult,
    Session,
)
from aitp_desk.store.units.runs.workers import claim_runs, finish_run
from aitp_desk.store.units.threads import deletion as deletion_units
from aitp_desk.store.units.threads import threads as thread_units
from aitp_desk.store.units.threads.folded_threads import write_turn
from aitp_desk.store.units.threads.threads import append_message

NOW = 1_800_000_000
HOUR = 3600
LEASE = NOW + 30

DESK = Actor("https://desk.example/agent", ("https://aitp.dev/capabilities/aitp-02/v1",))
VISITOR = make_anonymous("192.0.2.1")
AYA = Principal("aya", PrincipalKind.AGENT, frozenset({"threads"}), "192.0.2.2")
BEN = Principal("ben", PrincipalKind.AGENT, frozenset({"threads"}), "192.0.2.3")
OPERATOR = Principal("olu", PrincipalKind.OPERATOR, frozenset({"operator"}), "192.0.2.4")

_numbers = count(1)


def new_name(prefix: str) -> str:
    """A new id. Ids of one moment come in no order, so these do not either."""
    return f"{prefix}_{hashlib.sha256(b'%d' % next(_numbers)).hexdigest()[:16]}"


def salt_for(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()[:16]


def said(
    text: str,
    *,
    role: Role = "user",
    actor: str = "visitor",
    origin: Origin = Origin.VISITOR,
) -> NewMessage:
    name = new_name("msg")
    return NewMessage(name, salt_for(name), role, actor, origin, (text,))


def replied(text: str) -> NewMessage:
    return said(text, role="assistant", actor=DESK.id, origin=Origin.DESK)


def a_thread(owner: str | None = None, *brought: Actor, now: int = NOW) -> Thread:
    return Thread(new_name("thread"), owner, now, {}, (DESK, *brought))


def session_id(thread: Thread, opened_at: int = NOW) -> str:
    return f"{first_id('session', opened_at)}{thread.id}"


def a_session(thread: Thread, *, turns: int = 1, now: int = NOW) -> Session:
    return Session(session_id(thread), thread.id, thread.owner, turns, NOW, now)


def first_turn(
    session: Session, question: str = "?", reply: str = "!", *, recorded_at: float = NOW
) -> dict[str, Any]:
    """The arguments of ``fold_turn`` for a session that has just been opened."""
    turn = FoldedTurn(
        owner=session.owner,
        opened_at=session.created_at,
        last_at=session.last_at,
        recorded_at=recorded_at,
        seed=2 * salt_for(new_name("seed")),
        visitor=session.owner or "visitor",
        desk=DESK.id,
        capabilities=DESK.capabilities,
        question=question,
        reply=(reply,),
        notes={},
        pending=session.pending,
    )
    return {
        "thread_id": session.thread_id,
        "session_id": session.id,
        "last_at": session.last_at,
        "turn": write_turn(turn),
    }


async def open_thread(
    store: Store,
    *texts: str,
    thread: Thread | None = None,
    run: bool = False,
    asked_by: Principal = VISITOR,
    idempotency: IdempotencyRecord | None = None,
    now: int = NOW,
) -> PostResult:
    return await store.run(
        thread_units.open_thread,
        thread=a_thread(now=now) if thread is None else thread,
        speaker="visitor",
        messages=tuple(map(said, texts)),
        run=NewRun(new_name("run"), asked_by) if run else None,
        idempotency=idempotency,
        now=now,
    )


async def post(
    store: Store,
    thread_id: str,
    text: str = "Hello",
    *,
    principal: Principal = VISITOR,
    role: str = "user",
    actor: str | None = None,
    run: bool = True,
    cap: int = 20,
    idempotency: IdempotencyRecord | None = None,
    now: int = NOW,
    idle_before: int = NOW - 30 * 24 * HOUR,
) -> PostResult:
    message_id = new_name("msg")
    return await store.run(
        append_message,
        thread_id=thread_id,
        principal=principal,
        draft=Draft(role, (text,), actor=actor),
        message_id=message_id,
        salt=salt_for(message_id),
        now=now,
        idle_before=idle_before,
        run_id=new_name("run") if run else None,
        max_auto_replies=cap,
        capped=lambda: replied("Enough for now."),
        idempotency=idempotency,
    )


async def delete_message(
    store: Store, thread_id: str, message_id: str, *, principal: Principal = VISITOR
) -> None:
    await store.run(
        deletion_units.delete_message,
        thread_id=thread_id,
        principal=principal,
        message_id=message_id,
        now=NOW,
        idle_before=0,
    )


async def delete_thread(
    store: Store, thread_id: str, *, principal: Principal = VISITOR
) -> tuple[str, ...]:
    return await store.run(
        deletion_units.delete_thread,
        thread_id=thread_id,
        principal=principal,
        now=NOW,
        idle_before=0,
    )


async def claim(store: Store, *, worker: str = "w1", now: int = NOW) -> tuple[ClaimedRun, ...]:
    claims = await store.run(claim_runs, worker=worker, now=now, lease_until=now + 30, limit=10)
    return claims.taken


async def answer(store: Store, held: ClaimedRun, *texts: str, now: int = NOW) -> bool:
    """Finish a run; whether it was still held."""
    replies = tuple(map(replied, texts))
    return await store.run(finish_run, claim=held, replies=replies, now=now) is not None


def texts_of(messages: Sequence[Message]) -> list[str]:
    return [message.content[0] for message in messages]
