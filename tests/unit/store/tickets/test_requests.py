"""Asking for a person: the ticket is there with the words that say so; on every engine."""

from __future__ import annotations

import asyncio

import msgspec

from aitp_desk.model.access.audit import AuditKeys, make_own_auditor
from aitp_desk.model.conversation.ticket import StoredTicket, TicketKind, TicketState
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.console import tickets as ticket_reads
from aitp_desk.store.records.pages import PageRequest
from aitp_desk.store.records.runs import ClaimedRun
from aitp_desk.store.records.threads import Session
from aitp_desk.store.units.calls.calls import SessionTurn, write_turn_asking
from aitp_desk.store.units.runs.callers import cancel_run
from aitp_desk.store.units.runs.workers import finish_run
from aitp_desk.store.units.tickets.answers import (
    NO_PERSON,
    NOBODY_CAME,
    OVERDUE,
    TicketMessage,
    end_ticket,
)
from aitp_desk.store.units.tickets.requests import ASKED_PERSON, PersonAsked
from tests.support.store.messages import (
    DESK,
    HOUR,
    NOW,
    VISITOR,
    a_session,
    a_thread,
    claim,
    new_name,
    open_thread,
    post,
    replied,
    said,
    salt_for,
    texts_of,
)

SAID = ("A person was asked.", "One was asked before.", "Too many wait.")
BY = make_own_auditor(AuditKeys(bytes(32), bytes(32)), NOW)


def a_person(thread_id: str, asked_from: str = "somewhere", most: int = 3) -> PersonAsked:
    ticket = StoredTicket(
        new_name("ticket"),
        "",
        TicketKind.REQUEST,
        TicketState.OPEN,
        "A person, please.",
        NOW,
        thread_id=thread_id,
        due_at=NOW + HOUR,
        asked_from=asked_from,
    )
    asked, waits, full = ((text,) for text in SAID)
    return PersonAsked(ticket, most, asked, waits, full)


async def end_asking(store: Store, held: ClaimedRun, person: PersonAsked) -> None:
    assert await store.run(finish_run, claim=held, replies=(replied("…"),), now=NOW, person=person)


async def ask_in_run(store: Store, **of: object) -> tuple[str, str]:
    """Have a person asked in a run on its own thread: the thread, and the ticket asked for."""
    opened = await open_thread(store, "A person, please.", run=True)
    (held,) = await claim(store)
    person = a_person(opened.thread_id, **of)  # type: ignore[arg-type]
    await end_asking(store, held, person)
    return opened.thread_id, person.ticket.id


async def said_last(store: Store, thread_id: str) -> tuple[str, dict[str, str], str]:
    page = await reads.messages(store, thread_id, PageRequest(1))
    (message,) = page.items
    return message.content[0], message.metadata, message.actor


async def end(store: Store, ticket_id: str, state: TicketState, words: str = "") -> None:
    operator = None if state is TicketState.EXPIRED else "anna"
    message = new_name("msg")
    spoken = TicketMessage(message, salt_for(message), words, operator)
    await store.run(
        end_ticket,
        ticket_id=ticket_id,
        state=state,
        said=spoken,
        now=NOW,
        by=BY,
        extra_statements=lambda _: None,
    )


async def test_a_ticket_is_written_with_the_reply_that_says_so(store: Store) -> None:
    thread_id, ticket_id = await ask_in_run(store)
    text, notes, _ = await said_last(store, thread_id)
    assert (text, notes) == (SAID[0], {ASKED_PERSON: ticket_id})
    kept = await ticket_reads.ticket(store, ticket_id)
    assert kept is not None
    assert (kept.state, kept.thread_id, kept.call_id) == (TicketState.OPEN, thread_id, None)


async def test_a_thread_waits_for_one_person(store: Store) -> None:
    thread_id, ticket_id = await ask_in_run(store)
    await post(store, thread_id, "A person!")
    (held,) = await claim(store)
    again = a_person(thread_id)
    await end_asking(store, held, again)
    assert (await said_last(store, thread_id))[:2] == (SAID[1], {ASKED_PERSON: ticket_id})
    assert await ticket_reads.ticket(store, again.ticket.id) is None
    await end(store, ticket_id, TicketState.ANSWERED, "Here I am.")
    await post(store, thread_id, "A person, once more.")
    (held,) = await claim(store)
    await end_asking(store, held, a_person(thread_id))
    assert (await said_last(store, thread_id))[0] == SAID[0]


async def test_one_caller_has_so_many_waiting_however_many_come_at_once(store: Store) -> None:
    threads = [(await open_thread(store, "Person!", run=True)).thread_id for _ in range(6)]
    held = {one.thread_id: one for one in await claim(store)}
    await asyncio.gather(*(end_asking(store, held[one], a_person(one)) for one in threads))
    told = [(await said_last(store, one))[0] for one in threads]
    assert (told.count(SAID[0]), told.count(SAID[2])) == (3, 3)
    assert len([one async for one in ticket_reads.tickets(store, open_only=True)]) == 3
    _, elsewhere = await ask_in_run(store, asked_from="elsewhere")
    assert await ticket_reads.ticket(store, elsewhere) is not None


async def test_what_is_over_counts_no_more_and_does_not_tell_where_it_came_from(
    store: Store,
) -> None:
    _, ticket_id = await ask_in_run(store, most=1)
    await end(store, ticket_id, TicketState.CLOSED)
    kept = await ticket_reads.ticket(store, ticket_id)
    assert kept is not None
    assert kept.asked_from is None
    _, another = await ask_in_run(store, most=1)
    assert await ticket_reads.ticket(store, another) is not None


async def test_a_run_that_is_being_cancelled_asks_nobody(store: Store) -> None:
    opened = await open_thread(store, "A person, please.", run=True)
    (held,) = await claim(store)
    await store.run(
        cancel_run,
        thread_id=opened.thread_id,
        run_id=held.id,
        principal=VISITOR,
        now=NOW,
        idle_before=0,
    )
    person = a_person(opened.thread_id)
    await end_asking(store, held, person)
    assert await ticket_reads.ticket(store, person.ticket.id) is None


async def test_the_thread_reports_how_it_ends(store: Store) -> None:
    for state, words, told in (
        (TicketState.ANSWERED, "We open at nine.", "We open at nine."),
        (TicketState.CLOSED, "", NO_PERSON),
        (TicketState.CLOSED, "Write to us.", "Write to us."),
        (TicketState.EXPIRED, "", NOBODY_CAME),
    ):
        thread_id, ticket_id = await ask_in_run(store)
        await end(store, ticket_id, state, words)
        text, notes, actor = await said_last(store, thread_id)
        assert (text, notes) == (told, {"ticket": ticket_id}), state
        is_desks = state is TicketState.EXPIRED
        assert actor == (DESK.id if is_desks else f"{DESK.id}/operators/anna")
        assert told != OVERDUE


async def test_a_turn_of_a_session_asks_too_and_one_whose_thread_has_gone_asks_nobody(
    store: Store,
) -> None:
    thread = a_thread()
    session = a_session(thread)
    turn = SessionTurn(session, (said("A person?"), replied("…")), thread, "visitor")
    person = a_person(thread.id)
    told = await store.run(write_turn_asking, turn=turn, person=person, now=NOW)
    assert told.content == (SAID[0],)
    page = await reads.messages(store, thread.id, PageRequest(9, "asc"))
    assert texts_of(page.items) == ["A person?", SAID[0]]
    assert await ticket_reads.ticket(store, person.ticket.id) is not None

    gone = a_thread()
    lost = a_person(gone.id)
    later: Session = msgspec.structs.replace(a_session(gone), turns=2)
    another = SessionTurn(later, (said("A person?"), replied("…")))
    outcome = await asyncio.gather(
        store.run(write_turn_asking, turn=another, person=lost, now=NOW), return_exceptions=True
    )
    assert type(outcome[0]).__name__ == "UnknownSession"
    assert await ticket_reads.ticket(store, lost.ticket.id) is None
