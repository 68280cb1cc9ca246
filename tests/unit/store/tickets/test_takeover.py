"""Threads that operators take over without a ticket, and notes next to them; on every engine."""

from __future__ import annotations

import pytest

from aitp_desk.desk.maintenance.erasure import erase_words
from aitp_desk.desk.tickets.service import EscalationService
from aitp_desk.desk.tickets.takeover import Takeover
from aitp_desk.model.access.audit import AuditAction
from aitp_desk.model.access.principal import Principal, PrincipalKind
from aitp_desk.model.conversation.run import RunState
from aitp_desk.model.conversation.thread import Actor
from aitp_desk.model.conversation.ticket import StoredTicket, TicketKind, TicketState
from aitp_desk.model.errors import InvalidRequest, PreconditionFailed, ThreadNotFound
from aitp_desk.store.base import Store
from aitp_desk.store.reads import threads as reads
from aitp_desk.store.reads.audit_log import audit_rows
from aitp_desk.store.reads.console import threads as console_reads
from aitp_desk.store.reads.console import tickets as ticket_reads
from aitp_desk.store.reads.privacy.erasure import Person
from aitp_desk.store.units.privacy.retention import drop_old_thread
from aitp_desk.store.units.threads.folded_threads import fold_turn
from aitp_desk.store.units.tickets.answers import release_ticket, take_ticket
from aitp_desk.store.units.tickets.tickets import TICKETS_EPOCH, add_ticket
from tests.support.access.audit_log import somebody
from tests.support.store.messages import (
    DESK,
    NOW,
    a_session,
    a_thread,
    claim,
    delete_thread,
    first_turn,
    new_name,
    open_thread,
    post,
    texts_of,
)
from tests.support.store.runs import kinds_of

BY = somebody(principal="key:anna")
AYA = Principal("jwt:aya", PrincipalKind.AGENT, frozenset({"threads"}), "192.0.2.2")


@pytest.fixture
def stepping(store: Store) -> Takeover:
    return Takeover(store, lambda: NOW + 5)


async def a_ticket(store: Store, thread_id: str, call_id: str | None = None) -> str:
    ticket = StoredTicket(
        new_name("ticket"),
        "",
        TicketKind.REQUEST if call_id is None else TicketKind.ACTION,
        TicketState.OPEN,
        "A person, please.",
        NOW,
        thread_id=thread_id,
        call_id=call_id,
        asked_from="somewhere",
    )
    await store.run(add_ticket, ticket=ticket)
    return ticket.id


async def stand(store: Store, ticket_id: str) -> tuple[str, str | None, str]:
    """How a ticket stands, whose it is or was, and what was answered."""
    kept = await ticket_reads.ticket(store, ticket_id)
    assert kept is not None
    return kept.state.value, kept.taken_by or kept.ended_by, kept.answer


async def holder(store: Store, thread_id: str) -> str | None:
    return await ticket_reads.thread_operator(store, thread_id)


async def noted(store: Store) -> list[str]:
    return [row.action async for row in audit_rows(store)]


async def test_a_thread_without_a_ticket_is_taken_and_given_back(
    store: Store, stepping: Takeover
) -> None:
    opened = await open_thread(store, "Hello?", run=True)
    thread_id = opened.thread_id
    before = await reads.epoch(store, TICKETS_EPOCH)
    await stepping.take_thread(thread_id, "anna", BY)
    await stepping.take_thread(thread_id, "anna", BY)
    assert await holder(store, thread_id) == f"{DESK.id}/operators/anna"
    run = await reads.run(store, opened.run_id or "")
    assert run is not None
    assert run.state in (RunState.FAILED, RunState.CANCELLED)
    assert (await post(store, thread_id, "Anybody?")).run is None
    await stepping.say(thread_id, " I am here. ", "anna", BY)
    await stepping.release_thread(thread_id, BY)
    assert await holder(store, thread_id) is None
    assert (await post(store, thread_id, "And now?")).run is not None

    said = await reads.newest_messages(store, thread_id, 9)
    assert texts_of(said) == ["Hello?", "Anybody?", "I am here.", "And now?"]
    assert said[2].actor == f"{DESK.id}/operators/anna"
    kinds = [kind for kind in await kinds_of(store, thread_id) if not kind.startswith("run.")]
    assert kinds == [
        "message.created",
        "actor.joined",
        "thread.handed_over",
        "message.created",
        "message.created",
        "thread.handed_back",
        "message.created",
    ]
    assert await noted(store) == ["thread.taken", "thread.spoken", "thread.released"]
    assert await reads.epoch(store, TICKETS_EPOCH) >= before + 3


async def test_a_folded_thread_is_taken_like_any_other(store: Store, stepping: Takeover) -> None:
    session = a_session(a_thread())
    await store.run(fold_turn, **first_turn(session, "Mine?", "Yours."))
    await stepping.take_thread(session.thread_id, "anna", BY)
    assert await holder(store, session.thread_id) == f"{DESK.id}/operators/anna"
    noted_on = a_session(a_thread())
    await store.run(fold_turn, **first_turn(noted_on))
    note = await stepping.note(noted_on.thread_id, "Look.", "anna", BY)
    assert await console_reads.notes(store, noted_on.thread_id) == (note,)


async def test_nobody_speaks_or_takes_where_another_has_the_thread(
    store: Store, stepping: Takeover
) -> None:
    thread_id = (await open_thread(store, "Hello?")).thread_id
    for refused in (stepping.say, stepping.resolve):
        with pytest.raises(PreconditionFailed, match="take it over first"):
            await refused(thread_id, "Hello.", "anna", BY)
    with pytest.raises(PreconditionFailed, match="No operator has taken"):
        await stepping.release_thread(thread_id, BY)
    await stepping.take_thread(thread_id, "anna", BY)
    for refused in (stepping.say, stepping.resolve):
        with pytest.raises(PreconditionFailed, match="anna has taken"):
            await refused(thread_id, "Hello.", "ben", BY)
    with pytest.raises(PreconditionFailed, match="anna has taken"):
        await stepping.take_thread(thread_id, "ben", BY)
    assert texts_of(await reads.newest_messages(store, thread_id, 9)) == ["Hello?"]
    assert await noted(store) == ["thread.taken"]


async def test_of_no_thread_or_without_words_or_name_nothing_is_done(
    store: Store, stepping: Takeover
) -> None:
    thread_id = (await open_thread(store, "Hello?")).thread_id
    gone = (await open_thread(store, "Hello?")).thread_id
    await delete_thread(store, gone)
    for id_ in ("thread_none", gone):
        for refused in (
            stepping.take_thread(id_, "anna", BY),
            stepping.release_thread(id_, BY),
            stepping.say(id_, "Hello.", "anna", BY),
            stepping.resolve(id_, "", "anna", BY),
            stepping.note(id_, "Look.", "anna", BY),
        ):
            with pytest.raises(ThreadNotFound):
                await refused
    for refused in (
        stepping.take_thread(thread_id, "Anna B", BY),
        stepping.say(thread_id, " ", "anna", BY),
        stepping.say(thread_id, "x" * 16_001, "anna", BY),
        stepping.resolve(thread_id, "x" * 16_001, "anna", BY),
        stepping.note(thread_id, " ", "anna", BY),
        stepping.note(thread_id, "Look.", "a/b", BY),
    ):
        with pytest.raises(InvalidRequest):
            await refused
    assert await holder(store, thread_id) is None
    assert await noted(store) == []


async def test_requests_for_a_person_go_with_their_thread_and_tickets_of_calls_do_not(
    store: Store, stepping: Takeover
) -> None:
    thread_id = (await open_thread(store, "Hello?")).thread_id
    request, of_call = await a_ticket(store, thread_id), await a_ticket(store, thread_id, "call_1")
    await stepping.take_thread(thread_id, "anna", BY)
    assert await stand(store, request) == ("taken", "anna", "")
    assert await stand(store, of_call) == ("open", None, "")
    await store.run(take_ticket, ticket_id=of_call, operator="anna", now=NOW, by=BY)
    await store.run(release_ticket, ticket_id=of_call, now=NOW, by=BY)
    assert await holder(store, thread_id) is not None, "it was taken for itself"
    await store.run(take_ticket, ticket_id=of_call, operator="anna", now=NOW, by=BY)
    await stepping.release_thread(thread_id, BY)
    assert await stand(store, request) == ("open", None, "")
    assert await stand(store, of_call) == ("open", None, "")
    assert await store.read("count_asked_from", {"asked_from": "somewhere"}) == [(2,)]

    await store.run(take_ticket, ticket_id=of_call, operator="anna", now=NOW, by=BY)
    assert await stand(store, request) == ("taken", "anna", "")
    await store.run(release_ticket, ticket_id=of_call, now=NOW, by=BY)
    assert await holder(store, thread_id) is not None, "the request is still taken"
    await store.run(release_ticket, ticket_id=request, now=NOW, by=BY)
    assert await holder(store, thread_id) is None

    await stepping.take_thread(thread_id, "anna", BY)
    await store.run(release_ticket, ticket_id=request, now=NOW, by=BY)
    assert await holder(store, thread_id) is None, "a request goes back with its thread"


@pytest.mark.parametrize(("words", "end"), [("Done.", "answered"), ("", "closed")])
async def test_who_resolves_a_thread_ends_its_requests_and_gives_it_back(
    store: Store, stepping: Takeover, words: str, end: str
) -> None:
    thread_id = (await open_thread(store, "Hello?")).thread_id
    request, of_call = await a_ticket(store, thread_id), await a_ticket(store, thread_id, "call_1")
    await stepping.take_thread(thread_id, "anna", BY)
    await store.run(take_ticket, ticket_id=of_call, operator="anna", now=NOW, by=BY)
    await stepping.resolve(thread_id, words, "anna", BY)
    assert await stand(store, request) == (end, "anna", words)
    assert await stand(store, of_call) == ("open", None, "")
    assert await holder(store, thread_id) is None
    assert await store.read("count_asked_from", {"asked_from": "somewhere"}) == [(1,)]
    said = texts_of(await reads.newest_messages(store, thread_id, 9))
    assert said == ["Hello?", *([words] if words else [])]
    assert (await noted(store))[-1] == AuditAction.THREAD_RESOLVED.value
    assert f"ticket.{end}" in await noted(store)


async def test_notes_are_read_in_order_and_stand_on_no_thread(
    store: Store, stepping: Takeover
) -> None:
    opened = await open_thread(store, "Hello?")
    first = await stepping.note(opened.thread_id, " One. ", "anna", BY)
    second = await Takeover(store, lambda: NOW + 9).note(opened.thread_id, "Two.", "ben", BY)
    assert (first.words, first.operator, first.created_at) == ("One.", "anna", NOW + 5)
    assert await console_reads.notes(store, opened.thread_id) == (first, second)
    assert await console_reads.notes(store, opened.thread_id, after=first.id) == (second,)
    assert await kinds_of(store, opened.thread_id) == ["message.created"]
    kept = await reads.thread(store, opened.thread_id)
    assert kept is not None
    assert kept.updated_at == NOW
    assert await noted(store) == ["thread.noted", "thread.noted"]


async def test_notes_go_with_their_thread_and_with_its_person(
    store: Store, stepping: Takeover
) -> None:
    deleted, old = [(await open_thread(store, "Hello?")).thread_id for _ in range(2)]
    hers = a_thread(AYA.id)
    await open_thread(store, thread=hers)
    shared = a_thread("ben", Actor("aya", principal=AYA.id))
    await open_thread(store, "Of Ben.", thread=shared)
    early = await stepping.note(shared.id, "Before her.", "anna", BY)
    await post(store, shared.id, "Of Aya.", principal=AYA, run=False, now=NOW + 6)
    late = Takeover(store, lambda: NOW + 7)
    await late.note(shared.id, "After her.", "anna", BY)
    for thread_id in (deleted, old, hers.id):
        await stepping.note(thread_id, "Look.", "anna", BY)
    await delete_thread(store, deleted)
    await store.run(drop_old_thread, thread_id=old, before=NOW + 1, now=NOW + 2)
    await erase_words(store, Person(AYA.id), by=BY, clock=lambda: NOW + 9)
    for thread_id in (deleted, old, hers.id):
        assert await console_reads.notes(store, thread_id) == ()
    assert await console_reads.notes(store, shared.id) == (early,)


async def test_the_answerer_does_not_speak_on_a_thread_that_a_person_has(
    store: Store, stepping: Takeover
) -> None:
    thread_id = (await open_thread(store, "Hello?")).thread_id
    ticket = await a_ticket(store, thread_id)
    await stepping.take_thread(thread_id, "anna", BY)
    late = await a_ticket(store, thread_id, "call_1")
    escalation = EscalationService(store, lambda: NOW + 5)
    for refused in (
        escalation.answer(ticket, "Yes.", "ben", BY),
        escalation.close(ticket, "", "ben", BY),
        escalation.take_ticket(late, "ben", BY),
    ):
        with pytest.raises(PreconditionFailed, match="anna has taken"):
            await refused
    await escalation.answer(ticket, "Yes.", "anna", BY)
    assert await holder(store, thread_id) is not None, "it was taken for itself"
    assert texts_of(await reads.newest_messages(store, thread_id, 9)) == ["Hello?", "Yes."]
    another = await a_ticket(store, thread_id)
    with pytest.raises(PreconditionFailed, match="anna has taken the conversation"):
        await escalation.answer(another, "Yes.", "ben", BY)


async def test_a_deleted_thread_is_nobodys_and_those_who_look_are_told(
    store: Store, stepping: Takeover
) -> None:
    taken, asked = [(await open_thread(store, "Hello?")).thread_id for _ in range(2)]
    await stepping.take_thread(taken, "anna", BY)
    await a_ticket(store, asked)
    for thread_id in (taken, asked):
        before = await reads.epoch(store, TICKETS_EPOCH)
        await delete_thread(store, thread_id)
        assert await reads.epoch(store, TICKETS_EPOCH) > before
    assert await holder(store, taken) is None


async def test_a_run_that_is_at_work_is_lost_by_its_worker(
    store: Store, stepping: Takeover
) -> None:
    opened = await open_thread(store, "Hello?", run=True)
    (held,) = await claim(store)
    await stepping.take_thread(opened.thread_id, "anna", BY)
    assert held.id == opened.run_id
    run = await reads.run(store, held.id)
    assert run is not None
    assert run.state is RunState.FAILED
