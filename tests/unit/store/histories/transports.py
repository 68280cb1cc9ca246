"""Steps on conversations of other platforms."""

from __future__ import annotations

from contextlib import suppress

from aitp_desk.model.conversation.thread import Draft
from aitp_desk.store.base import Work
from aitp_desk.store.reads import transports as transport_reads
from aitp_desk.store.records.threads import PostResult
from aitp_desk.store.records.transports import Control, ConversationState, NewConversation
from aitp_desk.store.units.threads.threads import append_message, open_thread
from aitp_desk.store.units.transport_bytes import (
    claim_bytes,
    drop_bytes,
    drop_expired,
    exchange_bytes,
    keep_bytes,
    replace_bytes,
)
from aitp_desk.store.units.transport_events import NotNext, take_message
from aitp_desk.store.units.transports import (
    begin_conversation,
    confirm_conversation,
    end_conversation,
    erase_conversations,
    hear_person,
    join_conversation,
    leave_conversation,
    move_conversation,
    note_sent,
    offer_conversation,
    opt_out,
    opt_out_again,
    put_controls,
    queue_messages,
)
from tests.support.store.messages import NOW, a_thread, new_name, replied, said, salt_for
from tests.unit.store.histories.calls import a_job
from tests.unit.store.histories.history import PEOPLE, Draw, History, Step, pick

CODE = "code"
STATES = tuple(ConversationState)


def a_conversation(past: History, of: Draw) -> NewConversation:
    past.conversations.append(new_name("conversation"))
    return NewConversation(
        id=past.conversations[-1],
        transport="telegram",
        address=of.key,
        desk="",
        person=of.text,
        principal=PEOPLE[of.who].id,
        subject=of.text,
        language=of.key,
    )


def a_control(conversation: str, of: Draw, capability: str) -> Control:
    return Control(
        token=f"token of {of.key}",
        conversation=conversation,
        capability=capability,
        request=of.text,
        answer=of.text,
        expires_at=NOW + of.n,
    )


async def begin(past: History, of: Draw) -> None:
    conversation, ref = a_conversation(past, of), new_name("ref") if of.n % 2 else ""

    def also(placed: PostResult) -> Work[None]:
        yield from begin_conversation(conversation, ref, placed, NOW, nothing, (of.text.encode(),))

    placed = await past.store.run(
        open_thread,
        thread=a_thread(PEOPLE[of.n % 3].id),
        speaker="visitor",
        messages=(said(of.text), replied(of.key)),
        run=None,
        idempotency=None,
        now=NOW,
        also=also,
    )
    past.threads.append(placed.thread_id)


def nothing() -> Work[None]:
    """Nothing that ends a job."""
    yield from ()


async def hear(past: History, of: Draw) -> None:
    conversation, message_id = pick(past.conversations, of.n), new_name("msg")
    ref, enough = new_name("ref"), replied("Enough.")

    def also(placed: PostResult) -> Work[None]:
        yield from hear_person(
            conversation, ref, of.key, placed, NOW, resumed=(of.text.encode(),) if of.who else ()
        )

    await past.store.run(
        append_message,
        thread_id=pick(past.threads, of.n),
        principal=PEOPLE[of.who],
        draft=Draft("user", (of.text,)),
        message_id=message_id,
        salt=salt_for(message_id),
        now=NOW,
        idle_before=0,
        run_id=None,
        max_auto_replies=1000,
        capped=lambda: enough,
        idempotency=None,
        also=also,
    )


async def offer(past: History, of: Draw) -> None:
    conversation = a_conversation(past, of)
    await past.store.run(
        offer_conversation,
        conversation=conversation,
        unproven=of.key,
        thread_id=pick(past.threads, of.n),
        control=a_control(conversation.id, of, "confirm"),
        now=NOW,
        most=5,
        after=NOW - of.n,
        people=(of.key.encode(), of.text.encode()),
    )


async def confirm(past: History, of: Draw) -> None:
    await past.store.run(
        confirm_conversation,
        conversation_id=pick(past.conversations, of.n),
        token=f"token of {of.key}",
        grant_id=new_name("grant"),
        now=NOW,
        resumed=(of.text.encode(),),
    )


async def put_code(past: History, of: Draw) -> None:
    control = a_control(pick(past.conversations, of.n), of, CODE)
    await past.store.run(put_controls, controls=(control,))


async def join(past: History, of: Draw) -> None:
    await past.store.run(
        join_conversation,
        token=f"token of {of.key}",
        conversation=a_conversation(past, of),
        grant_id=new_name("grant"),
        now=NOW,
        resumed=(of.text.encode(),),
    )


async def queue(past: History, of: Draw) -> None:
    jobs = [a_job(one, "transport_message") for one in past.conversations]
    await past.store.run(queue_messages, thread_id=pick(past.threads, of.n), jobs=jobs)


async def note_part(past: History, of: Draw) -> None:
    await past.store.run(
        note_sent,
        conversation_id=pick(past.conversations, of.n),
        seq=1 + of.n,
        part=of.who,
        ref=new_name("ref") if of.n % 2 else "",
        is_last=bool(of.number % 2),
        address=new_name("address") if of.n % 3 else "",
    )


async def end(past: History, of: Draw) -> None:
    await past.store.run(
        end_conversation,
        conversation_id=pick(past.conversations, of.n),
        state=pick(STATES, of.n),
        reason=of.text,
    )


async def stop(past: History, of: Draw) -> None:
    await past.store.run(
        opt_out,
        people=(of.text.encode(),),
        principal=PEOPLE[of.who].id,
        unproven=of.key,
        reason=of.key,
    )
    for job in past.jobs[-2:]:
        await past.store.run(
            opt_out_again,
            job=job,
            people=(of.key.encode(),),
            principal=PEOPLE[of.who].id,
            unproven=of.text,
        )


async def leave(past: History, of: Draw) -> None:
    conversation = pick(past.conversations, of.n)
    await past.store.run(
        leave_conversation, conversation_id=conversation, address=of.text, reason=of.key
    )


async def take(past: History, of: Draw) -> None:
    id_ = pick(past.conversations, of.n)
    found = await transport_reads.conversation(past.store, id_) if id_ else None
    if found is not None:
        with suppress(NotNext):
            await past.store.run(take_message, found, new_name("person"), new_name("ref"))


async def move(past: History, of: Draw) -> None:
    address = of.key.swapcase() if of.number % 2 else new_name("address")
    await past.store.run(move_conversation, transport="telegram", former=of.key, address=address)


async def keep(past: History, of: Draw) -> None:
    await past.store.run(
        keep_bytes,
        transport="telegram",
        key=of.key,
        data=of.text.encode(),
        principal=PEOPLE[of.who].id if of.n % 3 else "",
        now=NOW,
        expires=bool(of.n % 2),
    )


async def claim_kept(past: History, of: Draw) -> None:
    await past.store.run(
        claim_bytes, transport="telegram", key=of.key, data=of.text.encode(), now=NOW + of.n
    )


async def replace_kept(past: History, of: Draw) -> None:
    await past.store.run(
        replace_bytes, transport="telegram", key=of.key, data=of.text.encode(), now=NOW + of.n
    )


async def exchange_kept(past: History, of: Draw) -> None:
    kept = await past.store.run(
        claim_bytes, transport="telegram", key=of.key, data=of.text.encode(), now=NOW
    )
    await past.store.run(
        exchange_bytes,
        transport="telegram",
        key=of.key,
        before=kept if of.n % 2 else b"",
        data=b"exchanged",
        now=NOW + of.n,
    )


async def drop_kept(past: History, of: Draw) -> None:
    await past.store.run(drop_bytes, transport="telegram", keys=(of.key,))


async def erase(past: History, of: Draw) -> None:
    thread_id = pick(past.threads, of.n)
    principal = PEOPLE[of.who].id if of.n % 2 else ""
    await past.store.run(erase_conversations, principal=principal, thread_id=thread_id)


async def expire(past: History, of: Draw) -> None:
    await past.store.run(drop_expired, now=NOW + of.n, before=NOW + of.n % 3)


STEPS: tuple[Step, ...] = (
    begin,
    hear,
    offer,
    confirm,
    put_code,
    join,
    take,
    queue,
    note_part,
    move,
    end,
    stop,
    keep,
    expire,
    leave,
    erase,
    drop_kept,
    claim_kept,
    replace_kept,
    exchange_kept,
)
