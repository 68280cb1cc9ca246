"""Steps on threads: messages, participants, sessions, grants, feedback."""

from __future__ import annotations

import msgspec

from aitp_desk.model.access.grant import Grant, GrantLevel
from aitp_desk.model.conversation.feedback import FeedbackDraft, Rating
from aitp_desk.model.conversation.thread import Actor, ThreadUpdate
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.console.refusals import refusals
from aitp_desk.store.records.runs import NewRun
from aitp_desk.store.records.threads import Fork, IdempotencyRecord, Summary
from aitp_desk.store.units.threads import threads as thread_units
from aitp_desk.store.units.threads.claims import claim_thread
from aitp_desk.store.units.threads.deletion import find_rights, set_message_metadata
from aitp_desk.store.units.threads.feedback import rate_message
from aitp_desk.store.units.threads.folded_threads import fold_turn, unfold_thread
from aitp_desk.store.units.threads.grants import revoke_grant, share_thread
from aitp_desk.store.units.threads.sessions import name_thread, record_exchange
from aitp_desk.store.units.threads.summaries import keep_summary
from aitp_desk.store.units.threads.threads import update_thread
from tests.support.access.audit_log import somebody
from tests.support.store.messages import (
    NOW,
    a_session,
    a_thread,
    delete_message,
    delete_thread,
    first_turn,
    new_name,
    open_thread,
    post,
    replied,
    said,
    session_id,
)
from tests.support.store.participants import BEN, join, leave, read
from tests.unit.store.histories.history import PEOPLE, Draw, History, Step, pick


async def open_one(past: History, of: Draw) -> None:
    once = IdempotencyRecord(f"principal {of.key}", of.text, b"f") if of.number % 2 else None
    placed = await open_thread(
        past.store,
        of.text,
        thread=a_thread(PEOPLE[of.n % 3].id if of.n % 2 else None),
        run=bool(of.number % 3),
        idempotency=once,
    )
    past.threads.append(placed.thread_id)
    past.messages += [(placed.thread_id, message.id) for message in placed.messages]


async def fork_one(past: History, of: Draw) -> None:
    parent, who = pick(past.threads, of.n), PEOPLE[of.who]
    placed = await past.store.run(
        thread_units.open_thread,
        thread=msgspec.structs.replace(a_thread(who.id), parent_id=parent),
        speaker="visitor",
        messages=(said(of.text),),
        run=NewRun(new_name("run"), who),
        idempotency=None,
        now=NOW,
        fork=Fork(parent, who, 0),
        by=somebody(),
    )
    past.threads.append(placed.thread_id)


async def post_one(past: History, of: Draw) -> None:
    thread_id = pick(past.threads, of.n)
    placed = await post(
        past.store, thread_id, of.text, principal=PEOPLE[of.who], run=bool(of.n % 2), cap=1000
    )
    past.messages.append((thread_id, placed.messages[0].id))


async def fold_one(past: History, of: Draw) -> None:
    thread = a_thread(PEOPLE[of.n % 3].id if of.n % 2 else None)
    past.store.record(fold_turn, **first_turn(a_session(thread), of.text, of.key))
    await past.store.settled()
    past.threads.append(thread.id)


async def unfold_one(past: History, of: Draw) -> None:
    await past.store.run(unfold_thread, thread_id=pick(past.threads, of.n))


async def exchange(past: History, of: Draw) -> None:
    thread = a_thread()
    await past.store.run(fold_turn, **first_turn(a_session(thread), of.text, of.key))
    await past.store.run(
        record_exchange,
        session=a_session(thread, turns=2),
        messages=(said(of.text), replied(of.key)),
        now=NOW,
    )
    past.threads.append(thread.id)


async def name_one(past: History, of: Draw) -> None:
    thread = a_thread(PEOPLE[of.who].id)
    await past.store.run(
        name_thread,
        thread_id=pick(past.threads, of.n) if of.number % 2 else thread.id,
        desk="",
        owner=thread.owner,
        session_id=session_id(thread),
        now=NOW,
        idle_before=0,
    )


async def delete_one(past: History, of: Draw) -> None:
    thread_id, message_id = pick(past.messages, of.n)
    await delete_message(past.store, thread_id, message_id, principal=PEOPLE[of.who])


async def delete_all(past: History, of: Draw) -> None:
    await delete_thread(past.store, pick(past.threads, of.n), principal=PEOPLE[of.who])


async def describe_message(past: History, of: Draw) -> None:
    thread_id, message_id = pick(past.messages, of.n)
    await past.store.run(
        set_message_metadata,
        thread_id=thread_id,
        principal=PEOPLE[of.who],
        message_id=message_id,
        actor=None,
        metadata={of.key: of.text},
        now=NOW,
        idle_before=0,
    )


async def ask_for_rights(past: History, of: Draw) -> None:
    thread_id, message_id = pick(past.messages, of.n)
    await past.store.run(
        find_rights,
        thread_id=thread_id,
        principal=PEOPLE[of.who],
        message_id=message_id,
        now=NOW,
        idle_before=0,
    )


async def update_one(past: History, of: Draw) -> None:
    actors = (Actor(f"https://{of.key}.example", (of.text,), PEOPLE[of.n % 3].id),)
    await past.store.run(
        update_thread,
        thread_id=pick(past.threads, of.n),
        principal=PEOPLE[of.who],
        update=ThreadUpdate({of.key: of.text}, actors if of.number % 2 else None),
        now=NOW,
        idle_before=0,
        by=somebody(),
    )


async def claim_one(past: History, of: Draw) -> None:
    await past.store.run(
        claim_thread,
        thread_id=pick(past.threads, of.n),
        principal=PEOPLE[of.who],
        now=NOW,
        idle_before=0,
        by=somebody(),
    )


async def join_one(past: History, of: Draw) -> None:
    actor = Actor(f"https://{of.key}.example", (), BEN.id)
    await join(past.store, pick(past.threads, of.n), actor, PEOPLE[of.who])


async def leave_one(past: History, of: Draw) -> None:
    thread_id = pick(past.threads, of.n)
    await leave(past.store, thread_id, f"https://{of.key}.example", PEOPLE[of.who])


async def share_one(past: History, of: Draw) -> None:
    thread_id, until = pick(past.threads, of.n), NOW + of.n if of.n % 2 else None
    level = GrantLevel.READ if of.number % 2 else GrantLevel.WRITE
    grant = Grant(new_name("grant"), thread_id, PEOPLE[of.n % 3].id, level, NOW, until)
    await past.store.run(
        share_thread,
        grant=grant,
        hash=None if of.n % 2 else of.text.encode() + grant.id.encode(),
        principal=PEOPLE[of.who],
        now=NOW,
        idle_before=0,
        by=somebody(),
    )
    past.grants.append(grant)


async def unshare_one(past: History, of: Draw) -> None:
    grant = pick(past.grants, of.n)
    await past.store.run(
        revoke_grant,
        thread_id=grant.thread_id,
        grant_id=grant.id,
        principal=PEOPLE[of.who],
        now=NOW,
        idle_before=0,
        by=somebody(),
    )


async def rate(past: History, of: Draw) -> None:
    rating = (None, Rating.UP, Rating.DOWN)[of.n % 3]
    await past.store.run(
        rate_message,
        thread_id=pick(past.threads, of.n),
        message_id="latest",
        principal=PEOPLE[of.who],
        draft=FeedbackDraft(rating, of.text),
        now=NOW,
        idle_before=0,
    )


async def sum_up(past: History, of: Draw) -> None:
    summary = Summary(pick(past.threads, of.n), of.who, of.text, of.key)
    await past.store.run(keep_summary, summary=summary, made_of=(), previous=None)


async def look(past: History, of: Draw) -> None:
    thread_id = pick(past.threads, of.n)
    await reads.thread(past.store, thread_id)
    for who in PEOPLE:
        await read(past.store, thread_id, who)
    await reads.events(past.store, thread_id, after=of.n, limit=20)
    await reads.list_tokens(past.store)
    async for _ in refusals(past.store):
        pass


STEPS: tuple[Step, ...] = (
    open_one,
    fork_one,
    post_one,
    fold_one,
    unfold_one,
    exchange,
    name_one,
    describe_message,
    ask_for_rights,
    update_one,
    join_one,
    leave_one,
    share_one,
    unshare_one,
    claim_one,
    rate,
    sum_up,
    look,
    delete_one,
    delete_all,
)
