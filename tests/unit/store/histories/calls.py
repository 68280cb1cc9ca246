"""Steps on calls of actions, and on payments for them."""

from __future__ import annotations

from decimal import Decimal

import msgspec

from aitp_desk.model.calls.call import MOVES, ActionCall, CallError, CallPayment, CallState
from aitp_desk.model.conversation.ticket import StoredTicket, TicketKind, TicketState
from aitp_desk.model.money import Money
from aitp_desk.store.records.capabilities import (
    Addition,
    NewEffects,
    NewPaid,
    NewQuote,
    NewRecord,
    SeenRecord,
)
from aitp_desk.store.records.jobs import NewJob
from aitp_desk.store.units.calls.approval import approve_call
from aitp_desk.store.units.calls.calls import (
    SessionTurn,
    begin_call,
    continue_call,
    end_accepted,
    expire_waiting,
    move_call,
    tell_progress,
    write_turn_asking,
    write_turn_whole,
)
from aitp_desk.store.units.calls.quotes import begin_unpaid
from aitp_desk.store.units.capabilities import apply_effects, apply_from_beside
from aitp_desk.store.units.jobs.processes import take_call
from aitp_desk.store.units.tickets.answers import TicketMessage
from aitp_desk.store.units.tickets.requests import PersonAsked
from aitp_desk.store.units.tickets.tickets import hand_call_to_people
from tests.support.access.audit_log import somebody
from tests.support.store.messages import (
    HOUR,
    NOW,
    a_session,
    a_thread,
    new_name,
    replied,
    said,
    salt_for,
)
from tests.unit.store.histories.history import LIMIT, PEOPLE, Draw, History, Step, pick

STATES = tuple(CallState)
PRICE = Money(Decimal("1.50"), "EUR")


def a_ticket(past: History, of: Draw, kind: TicketKind, **more: object) -> StoredTicket:
    """A ticket of a kind, which is not kept yet."""
    ticket = StoredTicket(
        new_name("ticket"),
        "",
        kind,
        TicketState.OPEN,
        of.text,
        NOW,
        note=of.key,
        due_at=NOW + HOUR if of.n % 2 else None,
    )
    past.tickets.append(msgspec.structs.replace(ticket, **more))
    return past.tickets[-1]


def words(of: Draw, operator: str | None = "anna") -> TicketMessage:
    name = new_name("msg")
    return TicketMessage(name, salt_for(name), of.text, operator, {of.key: of.text})


def a_job(ref: str, kind: str = "errand", **more: object) -> NewJob:
    job = NewJob(new_name("job"), kind, ref, {"of": ref}, NOW)
    return msgspec.structs.replace(job, **more)


def a_call(past: History, of: Draw, state: CallState) -> ActionCall:
    call = ActionCall(
        new_name("call"),
        "",
        of.key,
        state,
        PEOPLE[of.who],
        "arguments",
        NOW,
        NOW + 60 * of.n,
        {"note": of.text, "number": of.number},
        thread_id=pick(past.threads, of.n),
        intent=of.text or None,
        held_by=of.key,
        callback_url=f"https://{of.key}.example" if of.n % 3 else None,
    )
    past.calls.append(call)
    return call


async def begin_one(past: History, of: Draw) -> None:
    state = (CallState.STARTED, CallState.WAITING_INPUT, CallState.WAITING_APPROVAL)[of.who]
    call = a_call(past, of, state)
    by = somebody() if of.n % 2 else None
    await past.store.run(begin_call, call=call, turn=None, by=by, now=NOW)
    if state is CallState.WAITING_APPROVAL:
        ticket = a_ticket(past, of, TicketKind.APPROVAL, call_id=call.id, thread_id=call.thread_id)
        await past.store.run(hand_call_to_people, call_id=call.id, ticket=ticket)


async def begin_in_session(past: History, of: Draw) -> None:
    call, thread = a_call(past, of, CallState.STARTED), a_thread(PEOPLE[of.who].id)
    call = msgspec.structs.replace(call, thread_id=thread.id, session_id=a_session(thread).id)
    turn = SessionTurn(a_session(thread), (said(of.text), replied(of.key)), thread, "visitor")
    await past.store.run(begin_call, call=call, turn=turn, by=somebody(), now=NOW)
    past.calls[-1] = call
    past.threads.append(thread.id)
    again = SessionTurn(a_session(thread, turns=2), (said(of.key), replied(of.text)))
    await past.store.run(write_turn_whole, turn=again, now=NOW)
    ticket = a_ticket(past, of, TicketKind.REQUEST, thread_id=thread.id, asked_from=of.key)
    person = PersonAsked(ticket, of.n, ("Asked.",), ("Waits.",), ("Full.",))
    last = SessionTurn(a_session(thread, turns=3), (said(of.key), replied(of.text)))
    await past.store.run(write_turn_asking, turn=last, person=person, now=NOW)


async def move_one(past: History, of: Draw) -> None:
    call = pick(past.calls, of.n)
    moves = sorted(MOVES[call.state], key=STATES.index)
    moved = call.move(
        pick(moves, of.number),
        progress=of.text,
        result={"said": of.text} if of.n % 2 else None,
        error=CallError("invalid", of.text) if of.n % 3 else None,
        ended_at=NOW,
    )
    by = somebody() if of.n % 2 else None
    await past.store.run(move_call, call=moved, before=call.state, turn=None, by=by, now=NOW)
    past.calls[past.calls.index(call)] = moved


async def let_continue(past: History, of: Draw) -> None:
    call = pick(past.calls, of.n)
    kept = msgspec.structs.replace(call, accepted_at=NOW, progress=of.text)
    job = a_job(call.id, "followed", thread_id=call.thread_id, available_at=NOW + of.number)
    await past.store.run(continue_call, call=kept, job=job)
    if call.state is CallState.STARTED:
        past.calls[past.calls.index(call)] = kept


async def end_one(past: History, of: Draw) -> None:
    call, message = pick(past.calls, of.n), replied(of.text)
    await past.store.run(
        end_accepted,
        call_id=call.id,
        end=lambda kept: kept.move(CallState.SUCCEEDED, result=of.text, ended_at=NOW),
        say=lambda kept: message,
        by=somebody(),
        now=NOW,
        extra_statements=lambda kept: None,
    )


async def tell_one(past: History, of: Draw) -> None:
    await past.store.run(tell_progress, call_id=pick(past.calls, of.n).id, progress=of.text)


async def take_one(past: History, of: Draw) -> None:
    call = pick(past.calls, of.n)
    await past.store.run(take_call, call_id=call.id, before=call.held_by, process=of.key)


async def hand_over(past: History, of: Draw) -> None:
    call = pick(past.calls, of.n)
    ticket = a_ticket(past, of, TicketKind.ACTION, call_id=call.id, thread_id=call.thread_id)
    await past.store.run(hand_call_to_people, call_id=call.id, ticket=ticket)


async def approve(past: History, of: Draw) -> None:
    job = a_job(of.key)
    await past.store.run(
        approve_call,
        ticket_id=pick(past.tickets, of.n).id,
        said=words(of),
        now=NOW,
        by=somebody(),
        job=lambda call: job,
    )


async def expire(past: History, of: Draw) -> None:
    error = CallError("expired", of.text)
    await past.store.run(expire_waiting, error=error, now=NOW + 300 * of.n, limit=LIMIT)


async def quote(past: History, of: Draw) -> None:
    call, opens = a_call(past, of, CallState.WAITING_PAYMENT), None
    if of.n % 2:
        opens = a_thread(PEOPLE[of.who].id)
        past.threads.append(opens.id)
        call = msgspec.structs.replace(call, thread_id=opens.id)
    call = msgspec.structs.replace(call, price=PRICE, payment=CallPayment(600))
    past.calls[-1] = call
    quoted = NewQuote(call.id, f"quote of {of.key}", NOW + 30 * of.n)
    record = NewRecord("payments", f"quote:{call.id}", 1, {"for": of.text}, open_until=NOW + of.n)
    await past.store.run(
        begin_unpaid,
        call=call,
        said=(replied(of.text),),
        effects=NewEffects(records=(record,), quotes=(quoted,)),
        opens=opens,
        speaker="visitor",
        now=NOW,
        extra_statements=None,
    )


async def pay(past: History, of: Draw) -> None:
    call, payment = pick(past.calls, of.n), f"payment {of.key}"
    seen, version = f"quote:{call.id}", 1 + of.number % 2
    paid = NewPaid(
        call.id,
        payment,
        a_job(call.id, "call") if of.n % 3 else None,
        a_job(f"{payment} of {call.id}", "refund"),
        {"said": of.text},
    )
    effects = NewEffects(
        seen=(SeenRecord("payments", seen, version),),
        records=(NewRecord("payments", seen, version + 1, {"paid": of.number}),),
        additions=(
            Addition("payments", "payer", -(of.number % 500), minimum=0),
            Addition("payments", "site", of.number % 500),
        ),
        said=(replied(of.text),),
        payments=(paid,),
        events=(f"paid {of.key}",),
        by=somebody(),
        calls_by=somebody(),
    )
    await past.store.run(apply_effects, effects=effects, thread_id=call.thread_id, now=NOW)


async def pay_in(past: History, of: Draw) -> None:
    record = NewRecord("payments", f"credit:{new_name('entry')}", 1, of.text, outlives=True)
    added = Addition("payments", "payer", of.number % 1000)
    effects = NewEffects(records=(record,), additions=(added,), jobs=(a_job(of.key, "credit"),))
    await past.store.run(apply_from_beside, effects=effects, now=NOW)


async def write_record(past: History, of: Draw) -> None:
    until = NOW + of.n if of.n % 2 else None
    effects = NewEffects(
        records=(NewRecord("x", of.key, 1 + of.n, of.text, open_until=until),),
        additions=(Addition("x", of.key, of.number % 1000, None),),
    )
    thread_id = pick(past.threads, of.n)
    await past.store.run(apply_effects, effects=effects, thread_id=thread_id, now=NOW + of.n)


STEPS: tuple[Step, ...] = (
    begin_one,
    begin_in_session,
    tell_one,
    hand_over,
    approve,
    take_one,
    move_one,
    let_continue,
    end_one,
    pay_in,
    quote,
    pay,
    write_record,
    expire,
)
